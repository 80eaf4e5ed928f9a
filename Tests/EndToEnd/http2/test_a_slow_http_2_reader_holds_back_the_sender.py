"""A slow reader stops its sender, one stream stops no other, and Martlet holds little in between."""

import threading

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually, settled

pytestmark = pytest.mark.alone

MIB = 1 << 20
WHOLE = 64 * MIB
LIMIT = MIB


class Flood:
    """Sends `WHOLE` bytes on a stream as the windows allow, and counts what went."""

    sent = 0

    def __call__(self, peer, stream):
        block = bytes(16384)
        while self.sent < WHOLE:
            peer.data(stream, block)
            self.sent += len(block)
        peer.data(stream, end=True)


@pytest.fixture
def flood():
    return Flood()


def test_a_response(martlet, h2_recorder, flood):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        if stream.path == "/flood":
            flood(peer, stream.id)
        else:
            peer.data(stream.id, b"ok", end=True)

    upstream = h2_recorder(response)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    caller = proxy.connect_h2(reading=False)
    warm = caller.finish(caller.open(h2_peer.request("/ok"), end=True))
    assert warm.body == b"ok"
    before = proxy.own_memory()
    call = caller.open(h2_peer.request("/flood"), end=True)
    caller.wait(lambda: len(call.body) >= h2_peer.WINDOW - len(warm.body), "a window full")
    assert 0 < settled(lambda: flood.sent) < WHOLE // 4
    assert proxy.own_memory() - before <= LIMIT
    proxy.reset_peak_memory()
    caller.reading = True
    caller.grant(len(call.body), call.id)
    caller.grant(len(call.body) + len(warm.body))
    while not call.is_over:  # once it reads again, all of it comes
        caller.wait(lambda: call.is_over or len(call.body) > MIB, "the rest")
        flood.taken = getattr(flood, "taken", 0) + len(call.body)
        call.body.clear()
    assert (flood.taken, call.ended) == (WHOLE, True)
    assert proxy.own_peak_memory() - before <= 4 * LIMIT


def test_a_request(martlet, h2_recorder, flood):
    def response(peer, stream):
        response_ok(peer, stream) if stream.path == "/ok" else held.wait(30)

    held = threading.Event()
    upstream = h2_recorder(response, reading=False)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    caller = proxy.connect_h2(timeout=30)
    warm = caller.open(h2_peer.request("/ok", "POST"))
    caller.data(warm.id, b"warm", end=True)
    assert caller.finish(warm).body == b"ok"
    before = proxy.own_memory()
    call = caller.open(h2_peer.request("/", "POST"))

    def send():
        try:
            flood(caller, call.id)
        except (AssertionError, OSError):
            pass  # the end of the test

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    upstream.wait_for_streams(2)
    assert 0 < settled(lambda: flood.sent) < WHOLE // 4
    assert proxy.own_memory() - before <= LIMIT
    held.set()


def test_other_streams_of_the_connection_go_on(martlet, h2_recorder):
    def script(peer):
        floods = []
        while stream := upstream.next_stream(peer):
            peer.headers(stream.id, h2_peer.response())
            if stream.path == "/flood":
                floods.append(stream.id)
            else:
                peer.data(stream.id, b"ok", end=True)
            for flooded in floods:  # as much as the window has
                if (size := min(peer.may_send(flooded), WHOLE)) > 0:
                    peer.data(flooded, bytes(size))

    upstream = h2_recorder(script=script)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    # The connection's window is wide, those of the streams are not, and no caller opens its window.
    caller = proxy.connect_h2(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 10000})
    caller.grant(64 * MIB)
    stuck = [caller.open(h2_peer.request("/flood"), end=True) for _ in range(4)]
    for _ in range(20):
        assert caller.finish(caller.open(h2_peer.request("/ok"), end=True)).body == b"ok"
    eventually(lambda: len(upstream.connections) == 1)
    assert [len(one.body) for one in stuck] == [10000] * 4
    assert not any(one.is_over for one in stuck)
