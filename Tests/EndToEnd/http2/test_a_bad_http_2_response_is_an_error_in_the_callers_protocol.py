"""A response that violates HTTP/2 is an error of the upstream. Other calls on its connection continue if they can."""

import pytest
from hyperframe.frame import DataFrame, PushPromiseFrame

from support import protocol
from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok

HEADS = {
    "no status": [("x-a", "1")],
    "a status of letters": [(":status", "abc")],
    "a status too short": [(":status", "20")],
    "two statuses": [(":status", "200"), (":status", "200")],
    "a path": [(":status", "200"), (":path", "/")],
    "upper case": [(":status", "200"), ("X-Upper", "1")],
    "a line break in a value": [(":status", "200"), ("x-a", "1\r\nx-evil: 1")],
    "connection": [(":status", "200"), ("connection", "close")],
    "transfer-encoding": [(":status", "200"), ("transfer-encoding", "chunked")],
    "switching protocols": [(":status", "101")],
}


@pytest.mark.parametrize("name", HEADS)
def test_head(martlet, h2_recorder, name):
    def response(peer, stream):
        if stream.path == "/ok":
            return response_ok(peer, stream)
        peer.finish(stream)
        peer.headers(stream.id, HEADS[name])
        peer.data(stream.id, b"body", end=True)

    upstream = h2_recorder(response)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (call.status, call.header("content-type")) == (200, "application/grpc")
    assert call.grpc() in ("2", "13", "14") and call.grpc("grpc-message")
    assert b"evil" not in repr(call.heads).encode()
    plain = caller.finish(caller.open(h2_peer.request("/bad"), end=True))
    assert plain.status == 502
    with proxy.http() as http:
        assert http.get("/bad").status_code == 502
        assert protocol.CONNECT_UNARY_JSON.call(http).json()["code"] in ("unknown", "internal", "unavailable")
    assert caller.finish(caller.open(h2_peer.request("/ok"), end=True)).body == b"ok"


def speaks_http_1(peer, stream):
    peer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    peer.close()


def data_first(peer, stream):
    peer.send(DataFrame(stream.id, b"body"))
    peer.headers(stream.id, h2_peer.response(), end=True)


def frame_too_large(peer, stream):
    peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
    peer.send(DataFrame(stream.id, bytes(20000), flags=["END_STREAM"]))


def push(peer, stream):
    block = peer.encoder.encode(h2_peer.request("/pushed"))
    peer.send(PushPromiseFrame(stream.id, 2, block, flags=["END_HEADERS"]))
    response_ok(peer, stream)


def broken_block(peer, stream):
    peer.write(b"\x00\x00\x01\x01\x05" + stream.id.to_bytes(4, "big") + b"\xff")


def nothing(peer, stream):
    peer.close()


@pytest.mark.parametrize("bad", [speaks_http_1, data_first, frame_too_large, push, broken_block, nothing])
def test_frames(martlet, h2_recorder, bad):
    def response(peer, stream):
        (response_ok if stream.path == "/ok" else bad)(peer, stream)

    caller = martlet(upstream=h2_recorder(response).url, more="workers: 1").connect_h2()
    for _ in range(2):
        call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
        assert call.status == 200 and call.grpc() in ("2", "13", "14")
        assert caller.finish(caller.open(h2_peer.request("/ok"), end=True)).body == b"ok"


@pytest.mark.parametrize("length, body", [(10, b"12345"), (3, b"12345")])
def test_a_length_that_is_wrong(martlet, h2_recorder, length, body):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-length", str(length))))
        peer.data(stream.id, body, end=True)

    proxy = martlet(upstream=h2_recorder(response).url)
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.request(), end=True))
    assert call.status == 502 or (call.reset is not None and not call.ended)
    old = proxy.connect()
    old.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    received = old.rest()  # a part of a response, if any, is followed by the end of the connection
    assert b" 502 " in received or not received.endswith(body + b"\r\n0\r\n\r\n")
