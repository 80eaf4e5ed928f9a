"""An upstream that sends nothing, or never accepts, costs each caller the configured timeout. A slow one is waited for."""

import select
import socket

import pytest

from support.health import Health
from support.http2 import h2_peer
from support.raw_call import GRPC, WAYS, RawCall, response_parts
from support.wait import POLL

pytestmark = pytest.mark.waits

CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 200ms, {limits} }} }} }}
interceptors: [ metrics ]
workers: 1
"""
VERSIONS = pytest.mark.parametrize("scheme", ["http", "h2c"])


def ways(scheme):
    return [way for way in WAYS if way[0] is not GRPC or scheme == "h2c"]


def ask_all(proxy, scheme):
    """The outcomes of calls in every way, at the same time."""
    calls = [RawCall(proxy, *way) for way in ways(scheme)]
    return {call.outcome() for call in calls}


@pytest.mark.parametrize(
    "scheme, limit, code, result",
    [
        ("http", "first_byte", "deadline_exceeded", "timeout"),
        ("http", "attempt", "deadline_exceeded", "timeout"),
        ("http", "call", "deadline_exceeded", "timeout"),
        # An HTTP/2 connection exists only after its SETTINGS.
        ("h2c", "connect", "unavailable", "connect_timeout"),
        ("h2c", "attempt", "deadline_exceeded", "timeout"),
        ("h2c", "call", "deadline_exceeded", "timeout"),
    ],
)
def test_silence(martlet, recorder, scheme, limit, code, result):
    silent = recorder(script=lambda peer: peer.rest())
    proxy = martlet(CONFIGURATION.format(url=silent.url.replace("http", scheme), limits=f"{limit}: 100ms"))
    health = Health(proxy)
    assert ask_all(proxy, scheme) == {code}
    metrics = proxy.metrics()
    assert metrics.total("martlet_upstream_attempts_total", result=result) == len(ways(scheme))
    assert metrics.total("martlet_rpc_handled_total", code=code) == len(ways(scheme))
    health.check()


@VERSIONS
def test_a_black_hole(martlet, black_hole, scheme):
    proxy = martlet(CONFIGURATION.format(url=f"{scheme}://127.0.0.1:{black_hole}", limits="connect: 100ms"))
    health = Health(proxy)
    assert ask_all(proxy, scheme) == {"unavailable"}
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="connect_timeout") == len(ways(scheme))
    health.check()


@VERSIONS
def test_no_server_listens(martlet, scheme):
    with socket.socket() as not_listening:
        not_listening.bind(("127.0.0.1", 0))
        url = f"{scheme}://127.0.0.1:{not_listening.getsockname()[1]}"
        proxy = martlet(CONFIGURATION.format(url=url, limits="connect: 5s"))
        health = Health(proxy)
        assert ask_all(proxy, scheme) == {"unavailable"}
        assert proxy.metrics().total("martlet_upstream_attempts_total", result="connect_failed") == len(ways(scheme))
        health.check()


def drip(peer, data):
    for byte in data:
        peer.socket.sendall(bytes([byte]))


def drip_http_1(peer):
    while request := peer.request():
        kind, message, end = response_parts(request.header("content-type"))
        body = message + end
        drip(peer, f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)


class Dripping(h2_peer.H2Peer):
    """Sends byte by byte."""

    def write(self, data):
        drip(self, data)


def drip_http_2(peer):
    peer.__class__ = Dripping
    while stream := peer.next_stream():
        peer.finish(stream)
        kind, message, end = response_parts(stream.header("content-type"))
        peer.headers(stream.id, h2_peer.response(200, ("content-type", kind)))
        peer.data(stream.id, message + end)
        peer.headers(stream.id, [("grpc-status", "0")] if kind == GRPC.content_type else [("x-end", "1")], end=True)


@VERSIONS
def test_a_response_byte_by_byte(martlet, recorder, h2_recorder, scheme):
    upstream = recorder(script=drip_http_1) if scheme == "http" else h2_recorder(script=drip_http_2)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, limits="connect: 2s"))
    health = Health(proxy)
    assert ask_all(proxy, scheme) == {"ok"}
    health.check()


def drip_for_ever(peer):
    """Until the other side has gone."""
    while True:
        peer.socket.sendall(b"x")
        readable, _, _ = select.select([peer.socket], [], [], POLL)
        if readable and not peer.socket.recv(1 << 16):
            return


def endless_head_1(peer):
    peer.head()
    peer.send(b"HTTP/1.1 200 OK\r\nx-long: ")
    drip_for_ever(peer)


def endless_head_2(peer):
    """A frame of 8 KiB: `:status: 200` and a field x that fills the rest."""
    stream = peer.next_stream()
    peer.write(b"\x00\x20\x00\x01\x04" + stream.id.to_bytes(4, "big") + b"\x88\x40\x01x\x7f\xf5\x3e")
    drip_for_ever(peer)


@VERSIONS
def test_a_head_that_drips_without_end(martlet, recorder, h2_recorder, scheme):
    """Each byte is in time; `attempt` is for all of them."""
    upstream = recorder(script=endless_head_1) if scheme == "http" else h2_recorder(script=endless_head_2)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, limits="attempt: 150ms"))
    health = Health(proxy)
    assert ask_all(proxy, scheme) == {"deadline_exceeded"}
    health.check()
