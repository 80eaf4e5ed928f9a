"""Streams that the upstream refuses are retried. Other resets end the call with the code that stands for them."""

import json
import threading

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.protocol import CONNECT_UNARY_JSON, SAY
from support.wait import eventually

# PROTOCOL-HTTP2 of gRPC, "Errors".
CODES = {
    h2_peer.NO_ERROR: 13,
    h2_peer.PROTOCOL_ERROR: 13,
    h2_peer.INTERNAL_ERROR: 13,
    h2_peer.FLOW_CONTROL_ERROR: 13,
    h2_peer.SETTINGS_TIMEOUT: 13,
    h2_peer.FRAME_SIZE_ERROR: 13,
    h2_peer.REFUSED_STREAM: 14,
    h2_peer.CANCEL: 1,
    h2_peer.COMPRESSION_ERROR: 13,
    h2_peer.CONNECT_ERROR: 13,
    h2_peer.ENHANCE_YOUR_CALM: 8,
    h2_peer.INADEQUATE_SECURITY: 7,
}


def start(martlet, h2_recorder, code, times):
    """An upstream that resets the first streams with a code and responds to the others."""

    def response(peer, stream):
        if len(upstream.streams) <= times:
            peer.wait(lambda: stream.ended, "the request")
            peer.reset(stream.id, code)
        else:
            response_ok(peer, stream)

    upstream = h2_recorder(response)
    return upstream, martlet(upstream=upstream.url, more="workers: 1")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_refused_stream_is_retried(martlet, h2_recorder, method):
    upstream, proxy = start(martlet, h2_recorder, h2_peer.REFUSED_STREAM, 1)
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.request("/once", method, ("x-kept", "1")))
    caller.data(call.id, b"body", end=True)
    caller.finish(call)
    assert (call.status, call.body) == (200, b"ok")
    assert [(stream.path, stream.body) for stream in upstream.streams] == [("/once", b"body")] * 2
    assert [stream.header("x-kept") for stream in upstream.streams] == ["1", "1"]
    assert proxy.metrics().total("martlet_upstream_retries_total", upstream="default") == 1


def test_it_is_not_retried_for_ever(martlet, h2_recorder):
    upstream, proxy = start(martlet, h2_recorder, h2_peer.REFUSED_STREAM, 1000)
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.grpc() == "14"
    assert 2 <= len(upstream.streams) <= 3


@pytest.mark.parametrize("code", sorted(CODES.keys() - {h2_peer.REFUSED_STREAM}))
def test_another_reset_is_not_retried(martlet, h2_recorder, code):
    upstream, proxy = start(martlet, h2_recorder, code, 1)
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (call.status, call.grpc()) == (200, str(CODES[code]))
    assert "reset" in call.grpc("grpc-message")
    assert len(upstream.streams) == 1
    assert caller.finish(caller.open(h2_peer.request(), end=True)).body == b"ok"
    assert len(upstream.connections) == 1  # which did nothing wrong


@pytest.mark.parametrize("code", sorted(CODES))
def test_within_the_response(martlet, h2_recorder, code):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
        peer.data(stream.id, b"\x00\x00\x00\x00\x01a")
        peer.reset(stream.id, code)

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.body == b"\x00\x00\x00\x00\x01a"
    assert call.grpc() == str(CODES[code])
    assert len(upstream.streams) == 1


def test_in_connect(martlet, h2_recorder):
    _, proxy = start(martlet, h2_recorder, h2_peer.ENHANCE_YOUR_CALM, 1)
    with proxy.http() as http:
        response = CONNECT_UNARY_JSON.call(http, SAY)
    assert json.loads(response.content)["code"] == "resource_exhausted"
    assert response.status_code in (429, 502)  # that of the code, or that of a bad upstream


def test_a_plain_response_that_was_begun_is_cut_off(martlet, h2_recorder):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"part")
        assert resume.wait(10)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)

    resume = threading.Event()
    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.open(h2_peer.request(), end=True)
    caller.wait(lambda: call.body, "the beginning of the response")
    resume.set()
    caller.finish(call)
    assert (call.status, call.body, call.ended) == (200, b"part", False)
    assert call.reset in (h2_peer.INTERNAL_ERROR, h2_peer.CANCEL)


def test_a_refused_stream_whose_body_still_comes_is_retried_whole(martlet, h2_recorder):
    def response(peer, stream):
        if len(upstream.streams) == 1:
            peer.wait(lambda: stream.body, "a part of the body")
            peer.reset(stream.id, h2_peer.REFUSED_STREAM)
        else:
            response_ok(peer, stream)

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/", "POST"))
    caller.data(call.id, b"one ")
    upstream.wait_for_streams(2)
    caller.data(call.id, b"two", end=True)
    caller.finish(call)
    assert call.status == 200
    eventually(lambda: upstream.streams[1].ended, what="the second stream")
    assert upstream.streams[1].body == b"one two"
