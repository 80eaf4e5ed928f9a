"""Responses that no published server sends, and the outcome that a caller of another protocol sees."""

import json

import pytest
from support.http1.recorder import Recorder
from support.http2 import h2_peer
from support.http2.h2_recorder import H2Recorder
from support.martlet import Martlet
from support.protocol import envelope

from conformance.callers import CALLERS
from conformance.conftest import Pair
from conformance.service import DESCRIPTOR_SET, Request, Response

MESSAGE = Response(data=b"here").SerializeToString()
DETAIL = {"type": "google.protobuf.FileDescriptorProto", "value": "Cgp0ZXN0LnByb3Rv"}
DETAILS = [(DETAIL["type"], b"\n\ntest.proto")]
JSON, PROTO, STREAM, WEB = "application/json", "application/proto", "application/connect+proto", "application/grpc-web+proto"
OOPS = {"message": "oops"}
RANGE = {"code": "out_of_range", **OOPS}


def response(status, kind, body, *fields):
    lines = [f"HTTP/1.1 {status} Status", *fields, f"content-length: {len(body)}"]
    return "\r\n".join([*lines, *([f"content-type: {kind}"] if kind else [])]).encode() + b"\r\n\r\n" + body


def error(status, body):
    """An error of a unary Connect call."""
    return "Unary", response(status, JSON, json.dumps(body).encode())


def stream(end, *messages, method="ServerStream", fields=(), kind=STREAM):
    """A Connect stream; `end` is its last envelope."""
    return method, response(200, kind, b"".join(messages) + (envelope(2, json.dumps(end).encode()) if end is not None else b""), *fields)


def web(end, *messages, method="Unary", fields=(), kind=WEB):
    """A response of gRPC-Web; `end` is the text of its trailers."""
    return method, response(200, kind, b"".join(messages) + (envelope(0x80, end.encode()) if end is not None else b""), *fields)


def grpc(trailers, *messages, method="Unary", fields=(), kind="application/grpc+proto", status=200):
    """A function that sends a response of gRPC; without trailers, the head or the last message ends it."""

    def send(peer, stream):
        peer.finish(stream)
        body = b"".join(messages)
        head = [("content-type", kind), *fields] if kind else fields
        peer.headers(stream.id, h2_peer.response(status, *head), end=not body and not trailers)
        if body:
            peer.data(stream.id, body, end=not trailers)
        if trailers:
            peer.headers(stream.id, trailers, end=True)

    return method, send


ONE = envelope(0, MESSAGE)
# The response of the upstream, then the codes that a caller may see, with the text and details of the upstream, if any.
CONNECT = {
    "error null": (error(401, None), ["unauthenticated"]),
    "error with code null": (error(401, {"code": None, **OOPS}), ["unauthenticated"], "oops"),
    "error without code": (error(401, OOPS), ["unauthenticated"], "oops"),
    "error of an unknown code": (error(429, {"code": "foobar", **OOPS}), ["unavailable"], "oops"),
    "error without message": (error(401, {"code": "unauthenticated"}), ["unauthenticated"], ""),
    "error with more fields": (error(422, {**RANGE, "foobar": "baz"}), ["out_of_range"], "oops"),
    "detail with odd debug": (error(422, {**RANGE, "details": [{**DETAIL, "debug": "odd"}]}), ["out_of_range"], "oops", DETAILS),
    "detail without debug": (error(422, {**RANGE, "details": [DETAIL]}), ["out_of_range"], "oops", DETAILS),
    "detail with more fields": (error(422, {**RANGE, "details": [{**DETAIL, "a": [1]}]}), ["out_of_range"], "oops", DETAILS),
    "end with error null": (stream({"error": None}), ["ok"]),
    "end with code null": (stream({"error": {"code": None, **OOPS}}), ["unknown"], "oops"),
    "end without code": (stream({"error": OOPS}), ["unknown"], "oops"),
    "end of an unknown code": (stream({"error": {"code": "foobar", **OOPS}}), ["unknown"], "oops"),
    "end without message": (stream({"error": {"code": "unauthenticated"}}), ["unauthenticated"], ""),
    "end with more fields": (stream({"error": {**RANGE, "b": 1, "details": [DETAIL]}}), ["out_of_range"], "oops", DETAILS),
    "error that is not JSON": (("Unary", response(403, PROTO, MESSAGE)), ["permission_denied"]),
    "one without end": (stream(None, ONE, method="ClientStream"), ["internal", "unknown"]),
    "stream without end": (stream(None, ONE), ["internal", "unknown"]),
    "picture": (("Unary", response(200, "image/jpeg", b"JFIF")), ["unknown"]),
    "codec": (("Unary", response(200, JSON, b'{"data": "aGVyZQ"}')), ["internal"]),
    "codec of a stream": (stream({}, envelope(0, b"{}"), kind="application/connect+json"), ["internal"]),
    "unknown compression": (("Unary", response(200, PROTO, b"x", "content-encoding: foo")), ["internal"]),
    "compressed without name": (stream({}, envelope(1, b"x"), fields=["connect-content-encoding: identity"]), ["internal"]),
    "empty": (("Unary", response(200, PROTO, b"")), ["ok"]),
    "empty stream": (("ServerStream", response(200, STREAM, b"")), ["internal", "unknown"]),
}
GRPC_WEB = {
    "mixed case": (web("Grpc-Status: 9\r\ngRPC-Message: error\r\nx-Tail: bing\r\n"), ["failed_precondition"], "error"),
    "no space": (web("grpc-status:9\r\ngrpc-message:error\r\nx-tail:bing\r\n"), ["failed_precondition"], "error"),
    "in the head": (web(None, fields=["grpc-status: 9", "grpc-message: error", "x-tail: bing"]), ["failed_precondition"], "error"),
    "no status": (web("grpc-message: error\r\n"), ["unknown", "internal"]),
    "no status in the head": (web(None, fields=["grpc-message: error"]), ["unknown", "internal"]),
    "no message": (web("grpc-status: 0\r\n"), ["unimplemented"]),
    "no message in the head": (web(None, fields=["grpc-status: 0"]), ["unimplemented"]),
    "two messages": (web("grpc-status: 0\r\n", ONE, ONE), ["unimplemented"]),
    "no message of a client stream": (web("grpc-status: 0\r\n", method="ClientStream"), ["unimplemented"]),
    "two messages of a client stream": (web("grpc-status: 0\r\n", ONE, ONE, method="ClientStream"), ["unimplemented"]),
    "two statuses": (web("grpc-status: 9\r\n", fields=["grpc-status: 8"]), ["failed_precondition"]),
    "picture": (("Unary", response(200, "image/jpeg", b"JFIF")), ["unknown"]),
    "codec": (web("grpc-status: 0\r\n", envelope(0, b"{}"), kind="application/grpc-web+json"), ["internal", "unknown", "unimplemented"]),
    "unknown compression": (web("grpc-status: 0\r\n", envelope(1, b"x"), fields=["grpc-encoding: foo"]), ["internal"]),
    "compressed without name": (web("grpc-status: 0\r\n", envelope(1, b"x"), fields=["grpc-encoding: identity"]), ["internal"]),
}
OK, NINE = [("grpc-status", "0")], [("grpc-status", "9"), ("grpc-message", "error"), ("x-tail", "bing")]
GRPC = {
    "trailers": (grpc(NINE), ["failed_precondition"], "error"),
    "in the head": (grpc([], fields=NINE), ["failed_precondition"], "error"),
    "no status": (grpc([("grpc-message", "error")]), ["unknown", "internal"]),
    "no trailers": (grpc([], ONE), ["unknown", "internal"]),
    "no message": (grpc(OK), ["unimplemented"]),
    "two messages": (grpc(OK, ONE, ONE), ["unimplemented"]),
    "no message of a client stream": (grpc(OK, method="ClientStream"), ["unimplemented"]),
    "two messages of a client stream": (grpc(OK, ONE, ONE, method="ClientStream"), ["unimplemented"]),
    "a status before a message": (grpc([], ONE, fields=[("grpc-status", "9")]), ["internal", "unknown"]),
    "two statuses": (grpc(NINE, fields=[("grpc-status", "8")]), ["failed_precondition"]),
    "picture": (grpc([], b"JFIF", kind="image/jpeg"), ["unknown"]),
    "codec": (grpc(OK, envelope(0, b"{}"), kind="application/grpc+json"), ["internal", "unknown", "unimplemented"]),
    "unknown compression": (grpc(OK, envelope(1, b"x"), fields=[("grpc-encoding", "foo")]), ["internal"]),
    "compressed without name": (grpc(OK, envelope(1, b"x"), fields=[("grpc-encoding", "identity")]), ["internal"]),
}
STATUSES = {400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented", 409: "unknown", 412: "unknown"}
STATUSES |= {413: "unknown", 415: "unknown", 418: "unknown", 429: "unavailable", 431: "unknown", 502: "unavailable"}
STATUSES |= {503: "unavailable", 504: "unavailable", 505: "unknown", 800: "unknown"}
for code, expected in STATUSES.items():
    for table in (CONNECT, GRPC_WEB):
        table[f"HTTP status {code}"] = (("Unary", response(code, "", b"")), [expected])
    GRPC[f"HTTP status {code}"] = (grpc([], kind="", status=code), [expected])

UPSTREAMS = {"connect": ("grpc", "grpc-web-1", CONNECT), "grpc_web": ("grpc", "connect-1-proto", GRPC_WEB)}
UPSTREAMS["grpc"] = ("connect-1-proto", GRPC)


def runs():
    for speaks, (*callers, table) in UPSTREAMS.items():
        for caller in callers:
            for name in table:
                # Martlet counts messages for Connect. In gRPC the caller counts them, and grpcio waits for ever behind two.
                if caller != "grpc" or not name.startswith(("no message", "two messages")):
                    yield pytest.param(caller, speaks, name)


@pytest.fixture(scope="module")
def odd_pairs(binary, tmp_path_factory):
    """Pairs whose upstream sends what the test says, by caller and protocol of the upstream."""
    made, started = {}, []
    for speaks, (*callers, _) in UPSTREAMS.items():
        directory = tmp_path_factory.mktemp(speaks)
        (directory / "types").write_bytes(DESCRIPTOR_SET)
        upstream = H2Recorder() if speaks == "grpc" else Recorder()
        proxy = Martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{upstream.url}", speaks: {speaks}, codecs: [proto] }} }}
            types: {{ files: {directory / "types"} }}
            """,
            directory,
        )
        started += [proxy, upstream]
        for caller in callers:
            make, *arguments = CALLERS[caller]
            made[caller, speaks] = Pair((caller, speaks), make(proxy.url, *arguments), upstream, proxy)
            started.insert(0, made[caller, speaks].caller)
    yield made
    for thing in started:
        thing.stop()


@pytest.mark.parametrize("caller, speaks, name", list(runs()))
def test_an_odd_response(odd_pairs, caller, speaks, name):
    pair = odd_pairs[caller, speaks]
    (method, sent), codes, *more = UPSTREAMS[speaks][-1][name]
    pair.upstream.response = sent
    _, outcome = pair.call(method, Request())
    print(outcome)
    assert outcome.code in codes
    if more:
        assert [outcome.text, outcome.details][: len(more)] == more
    if outcome.text == "error":
        assert outcome.trailers["x-tail"] == ["bing"]
