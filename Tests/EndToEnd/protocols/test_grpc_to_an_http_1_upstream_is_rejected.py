"""A gRPC call cannot go to an HTTP/1.1 upstream. The caller gets a gRPC error, and nothing is sent."""

import grpc
import pytest

from support.http2 import h2_peer


@pytest.mark.parametrize("content_type", ["application/grpc", "application/grpc+proto", "application/grpc+json"])
def test_the_response(martlet, recorder, content_type):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    fields = h2_peer.request("/a.B/C", "POST", ("content-type", content_type), ("te", "trailers"))
    call = caller.finish(caller.open(fields, end=True))
    assert (call.status, call.header("content-type"), call.header("grpc-status")) == (200, content_type, "12")
    assert "HTTP/1.1" in call.header("grpc-message")
    assert (len(call.heads), call.body) == (1, b"")  # trailers only
    assert upstream.bytes == b""
    again = caller.finish(caller.open(fields, end=True))
    assert again.grpc() == "12"


def test_the_published_client(martlet, recorder, grpc_channel):
    with pytest.raises(grpc.RpcError) as caught:
        grpc_channel(martlet(upstream=recorder().url)).unary(b"", timeout=5)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "HTTP/1.1" in caught.value.details()


def test_the_connection_stays_usable(martlet, recorder):
    caller = martlet(upstream=recorder().url).connect_h2()
    rejected = caller.open(h2_peer.grpc_request("/a.B/C"))
    plain = caller.open(h2_peer.request(), end=True)
    assert (caller.finish(rejected).grpc(), caller.finish(plain).body) == ("12", b"ok")
    assert plain.status == 200
