"""The code of a gRPC call is the one that its caller sees, wherever the upstream put it."""

import json

import pytest

from support.http2 import h2_peer

GRPC = ("content-type", "application/grpc")
MESSAGE = b"\x00\x00\x00\x00\x01a"
# The upstream's head, whether a message follows, its trailers, and the code.
ENDS = {
    "ok": ([GRPC], True, [("grpc-status", "0")], {"ok"}),
    "in the trailers": ([GRPC], True, [("grpc-status", "5")], {"not_found"}),
    "in the trailers of no message": ([GRPC], False, [("grpc-status", "16")], {"unauthenticated"}),
    "trailers only": ([GRPC, ("grpc-status", "7")], False, None, {"permission_denied"}),
    "none": ([GRPC], True, [("x-a", "1")], {"unknown", "internal"}),
    "none, and no trailers": ([GRPC], True, None, {"unknown", "internal"}),
    "in the head, with a body": ([GRPC, ("grpc-status", "0")], True, None, {"unknown", "internal"}),
    "in the head and the trailers": ([GRPC, ("grpc-status", "0")], True, [("grpc-status", "9")], {"failed_precondition"}),
    "no number": ([GRPC], True, [("grpc-status", "five")], {"unknown"}),
    "of no known code": ([GRPC], True, [("grpc-status", "17")], {"unknown"}),
}
STATUSES = {400: "internal", 401: "unauthenticated", 403: "permission_denied", 404: "unimplemented", 429: "unavailable"}
STATUSES |= {502: "unavailable", 503: "unavailable", 504: "unavailable", 418: "unknown", 500: "unknown"}
MORE = "interceptors: [ metrics: {}, log: {} ]"


def code_of_a_call(martlet, h2_recorder, response):
    proxy = martlet(upstream=h2_recorder(response).url, more=MORE)
    caller = proxy.connect_h2()
    caller.finish(caller.open(h2_peer.grpc_request("/pkg.Service/Method"), end=True))
    line = json.loads(proxy.stdout.wait(r"^{.*}$")[0])
    metrics = proxy.metrics()
    (code,) = metrics.counted("martlet_rpc_handled_total", "code")
    assert metrics.counted("martlet_rpc_handled_total", "protocol") == {"grpc"}
    assert line["code"] == code
    return code


@pytest.mark.parametrize("name", ENDS)
def test_code(martlet, h2_recorder, name):
    head, has_message, trailers, codes = ENDS[name]

    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, *head), end=not has_message and trailers is None)
        if has_message:
            peer.data(stream.id, MESSAGE, end=trailers is None)
        if trailers is not None:
            peer.headers(stream.id, trailers, end=True)

    assert code_of_a_call(martlet, h2_recorder, response) in codes


@pytest.mark.parametrize("status", STATUSES)
def test_status(martlet, h2_recorder, status):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(status, ("content-type", "text/html")))
        peer.data(stream.id, b"<h1>no</h1>", end=True)

    assert code_of_a_call(martlet, h2_recorder, response) == STATUSES[status]


@pytest.mark.parametrize("content_type", ["text/html", "application/json", None])
def test_another_content_type(martlet, h2_recorder, content_type):
    def response(peer, stream):
        peer.finish(stream)
        fields = [("content-type", content_type)] if content_type else []
        peer.headers(stream.id, h2_peer.response(200, *fields))
        peer.data(stream.id, b"hello", end=True)

    assert code_of_a_call(martlet, h2_recorder, response) == "unknown"
