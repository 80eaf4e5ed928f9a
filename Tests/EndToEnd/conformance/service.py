"""The messages of conformance.proto, and what a server of any protocol does with a call."""

import base64
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from support.schemas import compiled

SERVICE = "conformance.v1.Conformance"
PREFIX = "type.googleapis.com/"
CODES = """ok canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted
failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated""".split()
# Whether requests are a stream, and whether responses are.
METHODS = {
    "Unary": (False, False),
    "Idempotent": (False, False),
    "ServerStream": (False, True),
    "ClientStream": (True, False),
    "BidiStream": (True, True),
    "Missing": (False, False),
}
# The fields of a request that a server shows.
SHOWN = ("x-conformance", "x-conformance-bin", "connect-timeout-ms", "grpc-timeout")

DESCRIPTOR_SET = compiled(Path(__file__).parent, "conformance.proto")


def _message_classes():
    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTOR_SET).file
    # Published codecs find the types of Any in the default pool, which has the well-known ones.
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(next(file for file in files if file.name == "conformance.proto").SerializeToString())
    names = ("Field", "Definition", "Request", "Response", "Seen")
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"conformance.v1.{name}")) for name in names]


Field, Definition, Request, Response, Seen = _message_classes()


def text(value):
    """Unpadded base64."""
    return base64.b64encode(value).rstrip(b"=").decode()


def data(value):
    """The bytes of base64 with or without padding."""
    return base64.b64decode(value + "=" * (-len(value) % 4))


class Base64Pieces:
    """Decodes base64 that comes in pieces, of which each may be padded, as far as it is whole."""

    def __init__(self):
        self.rest = b""

    def __call__(self, received):
        received = self.rest + received
        whole = len(received) // 4 * 4
        self.rest = bytes(received[whole:])
        if b"=" not in received[: whole - 4]:
            return base64.b64decode(received[:whole], validate=True)
        return b"".join(base64.b64decode(received[at : at + 4], validate=True) for at in range(0, whole, 4))


def pairs(fields):
    """(name, value) of each value of `Field` messages."""
    return [(field.name, value) for field in fields for value in field.values]


@dataclass
class Head:
    """A server is to send the headers of its response now."""

    headers: list
    trailers: list


@dataclass
class Failed:
    """A server is to end its call with an error."""

    code: int
    text: str
    details: list


# What else a server is to do: wait for the next request, which is None at the end; wait until the call is over.
READ, HANG = "read", "hang"


def behave(method, fields, timeout_ms, http_method=""):
    """Yields what a server is to do for a call: READ, a Head, a Response, HANG or Failed."""
    streams_requests, streams_responses = METHODS[method]
    request = yield READ
    requests = [request] if request else []
    definition = request.definition if request else Definition()
    yield Head(pairs(definition.headers), pairs(definition.trailers))
    size = len(request.data) if request else 0
    while request and streams_requests and not definition.full_duplex and (request := (yield READ)):
        size += len(request.data)
        if not definition.brief:
            requests.append(request)

    def seen():
        result = Seen(timeout_ms=timeout_ms, bytes=size, http_method=http_method)
        for name in SHOWN:
            if values := [value for own, value in fields if own.lower() == name]:
                result.headers.add(name=name, values=values)
        for one in requests if not definition.brief else []:
            result.requests.add().Pack(one)
        return result

    if definition.hang and not streams_responses:
        yield HANG
    count = 0
    if not (definition.HasField("failure") and not streams_responses):
        for _ in range(definition.times or 1):
            for each in definition.data or ([b""] if not streams_responses else []):
                if definition.full_duplex and count:
                    request = yield READ
                    requests = [request] if request else []
                yield Response(data=each, seen=seen() if not count or definition.full_duplex else None)
                count += 1
    while definition.echo and (request := (yield READ)):
        yield Response(data=request.data)
    if definition.hang and streams_responses:
        yield HANG
    # hypercorn closes its HTTP/2 connection when DATA comes behind the end of a response, so the request ends first.
    while definition.full_duplex and request and definition.failure.code != CODES.index("canceled"):
        request = yield READ
    if definition.HasField("failure"):
        failure = definition.failure
        details = [(detail.type, detail.value) for detail in failure.details]
        if not count:
            details.append((Seen.DESCRIPTOR.full_name, seen().SerializeToString()))
        yield Failed(failure.code, failure.text, details)


def advance(script, given=None):
    """The next step of `behave`, or None at its end."""
    try:
        return script.send(given)
    except StopIteration:
        return None
