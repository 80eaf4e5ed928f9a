"""A head or trailers beyond a limit, of the caller or of the upstream: REST and gRPC-Web callers are told which limit, and no other call is lost."""

import base64
import json
import struct

import pytest
from support.http2 import h2_peer
from support.protocol import envelope

from rest.things import SERVICE, options

METHOD = f"/{SERVICE}/Get"
WAITING = f"/{SERVICE}/Watch"
FRAME = envelope(0, b"")


def posted(content_type, *fields):
    return h2_peer.request(METHOD, "POST", ("content-type", content_type), *fields)


# The head of a request, and its body.
CALLERS = {
    "REST by GET": (h2_peer.request("/v1/things/lamp"), b""),
    "REST by POST": (h2_peer.request("/v1/things", "POST", ("content-type", "application/json")), b"{}"),
    "gRPC-Web": (posted("application/grpc-web+proto"), FRAME),
    "gRPC-Web in JSON": (posted("application/grpc-web+json"), envelope(0, b"{}")),
    "gRPC-Web as text": (posted("application/grpc-web-text"), base64.b64encode(FRAME)),
    "Connect": (posted("application/proto", ("connect-protocol-version", "1")), b""),
    "a Connect stream": (posted("application/connect+proto"), FRAME),
}
SECTIONS = [(210_000, 1), (250_000, 20), (30_000, 300)]


def spread(size, parts):
    return [(f"x-{number}", "v" * (size // parts)) for number in range(parts)]


def told(name, call):
    """The status, the code and the message that a caller gets."""
    if name.startswith("gRPC-Web"):
        body = base64.b64decode(call.body) if "text" in name else call.body
        flags, size = struct.unpack(">BI", body[:5])
        assert (flags, size) == (0x80, len(body) - 5)
        fields = dict(line.split(": ", 1) for line in body[5:].decode().split("\r\n") if line)
        return call.status, int(fields["grpc-status"]), fields["grpc-message"]
    error = json.loads(call.body[5:])["error"] if "stream" in name else json.loads(call.body)
    return call.status, {"resource_exhausted": 8, 8: 8}[error["code"]], error["message"]


def is_unary(name):
    return "REST" in name or name == "Connect"


def limit_of(size, parts):
    return "limits.fields" if parts > 256 else "limits.head"


@pytest.fixture
def start(martlet, schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)

    def run(upstream, speaks="grpc", more=""):
        return martlet(
            f'listen: 127.0.0.1:0\nworkers: 1\nupstreams: {{ default: {{ url: "{upstream.url}", speaks: {speaks}{more} }} }}\n'
            f"types: {options(tmp_path / 'things.binpb')}\n"
        )

    return run


def grpc_ok(peer, stream):
    """Responds with an empty message."""
    peer.finish(stream)
    if stream.reset is None:
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc+proto")))
        peer.data(stream.id, FRAME)
        peer.headers(stream.id, [("grpc-status", "0")], end=True)


def sent(caller, head, body, fields=(), trailers=()):
    call = caller.open([*head, *fields], end=not body and not trailers)
    if body or trailers:
        caller.data(call.id, body, end=not trailers)
    if trailers:
        caller.headers(call.id, trailers, end=True)
    return caller.finish(call)


@pytest.mark.parametrize("size, parts", SECTIONS)
@pytest.mark.parametrize("name", CALLERS)
def test_the_head_of_a_caller(start, h2_recorder, name, size, parts):
    upstream = h2_recorder(grpc_ok)
    caller = start(upstream).connect_h2()
    head, body = CALLERS[name]
    other = caller.open(h2_peer.grpc_request(METHOD))
    status, code, message = told(name, sent(caller, head, body, spread(size, parts)))
    assert (status, code) == (431 if is_unary(name) else 200, 8)
    assert limit_of(size, parts) in message
    caller.data(other.id, FRAME, end=True)
    assert caller.finish(other).grpc() == "0"
    assert len(upstream.streams) == 1


@pytest.mark.parametrize("size, parts", SECTIONS)
@pytest.mark.parametrize("name", CALLERS)
def test_the_trailers_of_a_caller(start, h2_recorder, name, size, parts):
    upstream = h2_recorder(grpc_ok)
    caller = start(upstream).connect_h2()
    head, body = CALLERS[name]
    other = caller.open(h2_peer.grpc_request(METHOD))
    status, code, message = told(name, sent(caller, head, body, trailers=spread(size, parts)))
    assert (status, code) == (431 if is_unary(name) else 200, 8)
    assert limit_of(size, parts) in message
    caller.data(other.id, FRAME, end=True)
    assert caller.finish(other).grpc() == "0"


def ends_large(size, parts, in_trailers):
    """An upstream that ends one call with a large section while another one waits on the same connection."""

    def respond(peer):
        streams = {}
        for _ in range(2):
            stream = peer.next_stream()
            peer.finish(stream)
            streams[stream.path == WAITING] = stream.id
        section = [("grpc-status", "0"), *spread(size, parts)]
        head = h2_peer.response(200, ("content-type", "application/grpc+proto"))
        if in_trailers:
            peer.headers(streams[False], head)
            peer.headers(streams[False], section, end=True)
        else:
            peer.headers(streams[False], [*head, *section], end=True)
        peer.headers(streams[True], [*head, ("grpc-status", "0")], end=True)
        peer.wait_for_end()

    return respond


@pytest.mark.parametrize("in_trailers", [False, True], ids=["head", "trailers"])
@pytest.mark.parametrize("size, parts", SECTIONS)
@pytest.mark.parametrize("name", CALLERS)
def test_the_response_of_an_upstream(start, h2_recorder, name, size, parts, in_trailers):
    daemon = start(h2_recorder(script=ends_large(size, parts, in_trailers)))
    one, two = daemon.connect_h2(), daemon.connect_h2()
    other = one.open(h2_peer.grpc_request(WAITING), end=True)
    head, body = CALLERS[name]
    status, code, message = told(name, sent(two, head, body))
    assert (status, code) == (502 if is_unary(name) else 200, 8)
    assert message == f"upstream default: a head exceeds {limit_of(size, parts)}"
    assert one.finish(other).grpc() == "0"


@pytest.mark.parametrize("name", CALLERS)
def test_a_head_within_the_limit_of_the_upstream_passes(start, h2_recorder, name):
    def respond(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc+proto"), ("x-large", "v" * 80_000)))
        peer.data(stream.id, FRAME)
        peer.headers(stream.id, [("grpc-status", "0"), ("x-more", "v" * 80_000)], end=True)

    caller = start(h2_recorder(respond), more=", limits: { head: 1MiB }").connect_h2()
    head, body = CALLERS[name]
    call = sent(caller, head, body)
    assert (call.status, call.header("x-large")) == (200, "v" * 80_000)


@pytest.mark.parametrize("size", [70_000, 250_000])
@pytest.mark.parametrize("name", CALLERS)
def test_over_http_1(start, h2_recorder, name, size):
    """The connection ends with the call that is all that it carries."""
    upstream = h2_recorder(grpc_ok)
    daemon = start(upstream)
    head, body = CALLERS[name]
    fields = dict(head)
    with daemon.http(http2=False) as http:
        headers = {key: value for key, value in fields.items() if not key.startswith(":")} | {"x-large": "v" * size}
        reported = http.request(fields[":method"], fields[":path"], headers=headers, content=body)
        assert reported.status_code == (431 if is_unary(name) else 200)
        assert b"limits.head" in (base64.b64decode(reported.content) if "text" in name else reported.content)
    assert upstream.streams == []


RESPONSES = {
    "a head": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-large: %s\r\ncontent-length: 2\r\n\r\n{}",
    "trailers": b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nx-large: %s\r\n\r\n",
}


@pytest.mark.parametrize("part", RESPONSES)
@pytest.mark.parametrize("name", CALLERS)
def test_a_rest_server(start, recorder, name, part):
    caller = start(recorder(RESPONSES[part] % (b"v" * 150_000)), speaks="rest").connect_h2()
    head, body = CALLERS[name]
    status, code, message = told(name, sent(caller, head, body))
    assert (status, code) == (502 if is_unary(name) else 200, 8)
    assert message == "upstream default: a head exceeds limits.head"
