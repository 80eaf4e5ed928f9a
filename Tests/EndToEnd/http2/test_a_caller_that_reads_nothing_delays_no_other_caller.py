"""However much one caller leaves unread, calls of another caller continue, on the same upstream connection or on another."""

import time

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer
from support.http2.flooding import flooding
from support.wait import settled

pytestmark = pytest.mark.alone

STALLED = 90


@pytest.fixture
def upstream(h2_recorder):
    return flooding(h2_recorder)


@pytest.mark.parametrize("connections", ["1", "10"])
def test_calls_of_others_continue(martlet, upstream, connections):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{upstream.url}", limits: {{ connections: {connections} }} }} }}
        workers: 1
        """
    )
    canary = proxy.connect_h2()
    assert canary.finish(canary.open(h2_peer.request("/ok"), end=True)).body == b"ok"
    stalled = proxy.connect_h2(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
    for _ in range(STALLED):
        stalled.open(h2_peer.request("/flood"), end=True)
    settled(lambda: proxy.own_memory())
    for _ in range(20):
        began = time.monotonic()
        assert canary.finish(canary.open(h2_peer.request("/ok"), end=True)).body == b"ok"
        assert time.monotonic() - began < 1
    # What they hold is a window of each, and as much again on its way.
    assert proxy.own_memory() < STALLED * 200 * 1024
    assert len(upstream.connections) == (1 if connections == "1" else 2)
