"""The upstream receives the time that is left of the caller's deadline. When it passes, the call ends on both sides at once."""

import re
import time

import grpc
import pytest

from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.waits

UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}


def seconds(value):
    number, unit = re.fullmatch(r"(\d{1,8})([HMSmun])", value).groups()
    return int(number) * UNITS[unit]


@pytest.fixture
def silent(h2_recorder):
    """An upstream that sends nothing and waits for the end of the stream."""
    return h2_recorder(lambda peer, stream: peer.wait(lambda: stream.reset is not None))


@pytest.mark.parametrize("timeout", ["1500m", "2S", "1M", "3H", "2500000u", "99999999m"])
def test_the_upstream_sees_what_is_left(martlet, h2_recorder, timeout):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", timeout)), end=True)
    caller.finish(call)
    left = seconds(upstream.streams[0].header("grpc-timeout"))
    assert seconds(timeout) - 0.5 <= left <= seconds(timeout)


def test_the_published_server_sees_what_is_left(martlet, grpc_service, grpc_channel):
    left = []

    def unary(request, context):
        left.append(context.time_remaining())
        return request

    channel = grpc_channel(martlet(upstream=grpc_service({"Unary": unary}).url))
    channel.unary(b"", timeout=10)
    for timeout in (10, 3.7):
        channel.unary(b"", timeout=timeout)
        assert timeout - 0.5 <= left[-1] <= timeout * 1.02  # this client rounds up


def test_no_deadline_stays_no_deadline(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert upstream.streams[0].header("grpc-timeout") is None


def test_both_sides_see_the_expiry(martlet, silent):
    caller = martlet(upstream=silent.url).connect_h2()
    began = time.monotonic()
    call = caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", "300m")))
    caller.finish(call)
    assert 0.29 <= time.monotonic() - began < 2
    assert (call.status, call.grpc()) == (200, "4")
    assert call.grpc("grpc-message")
    eventually(lambda: silent.streams[0].reset is not None, within=2, what="the upstream's reset")
    assert silent.streams[0].reset == h2_peer.CANCEL


def test_expiry_within_a_stream(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
        peer.data(stream.id, b"\x00\x00\x00\x00\x01a")
        peer.wait(lambda: stream.reset is not None)

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", "300m")), end=True)
    caller.finish(call)
    assert (call.body, dict(call.trailers)[b"grpc-status"]) == (b"\x00\x00\x00\x00\x01a", b"4")
    eventually(lambda: upstream.streams[0].reset == h2_peer.CANCEL, within=2, what="the upstream's reset")


def test_the_published_client_and_server(martlet, grpc_service, grpc_channel):
    ended = []

    def download(request, context):
        context.add_callback(lambda: ended.append(time.monotonic()))
        yield b"first"
        eventually(lambda: ended, within=10)

    channel = grpc_channel(martlet(upstream=grpc_service({"Download": download}).url))
    began = time.monotonic()
    call = channel.download(b"", timeout=0.4)
    assert next(call) == b"first"
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    eventually(lambda: ended, within=2, what="the end of the call at the server")
    assert 0.35 <= ended[0] - began < 2


def test_a_deadline_that_has_passed_on_arrival(martlet, silent):
    caller = martlet(upstream=silent.url).connect_h2()
    began = time.monotonic()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", "0m")), end=True))
    assert (call.status, call.grpc()) == (200, "4")
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("value", ["", "5", "m", "-1S", "123456789m", "1s", "1.5S"])
def test_an_invalid_deadline_is_rejected(martlet, h2_recorder, value):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", value)), end=True))
    assert (call.status, call.header("content-type")) == (200, "application/grpc")
    assert call.grpc() in ("3", "13")
    assert "timeout" in call.grpc("grpc-message")
    assert upstream.streams == []
