"""However many callers take nothing, their calls hold what `limits.memory` allows: the largest end, and others are served."""

import pytest
from hyperframe.frame import SettingsFrame

from support import h2_peer
from support.flooding import flooding
from support.patience import eventually

MIB = 1 << 20
CALLERS, STREAMS = 10, 50


@pytest.fixture
def upstream(h2_recorder):
    return flooding(h2_recorder)


@pytest.mark.parametrize("workers", [1, 2])
def test_streams_that_nobody_takes(martlet, upstream, command, workers):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        limits: {{ memory: 8MiB }}
        workers: {workers}
        interceptors: [ metrics ]
        """
    )
    before = proxy.own_memory()
    callers = []
    for _ in range(CALLERS):
        caller = proxy.connect_h2(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 0})
        callers.append((caller, [caller.open(h2_peer.request("/flood"), end=True) for _ in range(STREAMS)]))
    metric = lambda name, **labels: proxy.metrics().total(name, **labels)  # noqa: E731
    eventually(lambda: metric("martlet_limit_hits_total", limit="memory") > 0, what="calls that end or are rejected")
    eventually(lambda: metric("martlet_held_memory_bytes") <= 8 * MIB, what="memory within the limit")
    assert proxy.own_memory() < before + 40 * MIB
    proxy.stderr.wait(r" warn short of memory \(limits.memory\); ending the stalled calls that hold most calls=\d+ bytes=\d+ ")

    def is_served():
        call = bystander.finish(bystander.open(h2_peer.request("/ok"), end=True))
        assert (call.status, call.body) in ((200, b"ok"), (503, call.body))
        return call.status == 200

    bystander = proxy.connect_h2()
    eventually(is_served, what="a call that is served")
    for caller, streams in callers:
        caller.wait(lambda: any(stream.is_over or stream.fields for stream in streams), "the end of a stalled call")
    codes = {stream.reset for _, streams in callers for stream in streams if stream.is_over}
    assert h2_peer.ENHANCE_YOUR_CALM in codes
    assert "memory held for calls: " in command("status", "-c", proxy.file).stdout.text
    for caller, _ in callers:
        caller.socket.close()
    eventually(lambda: metric("martlet_held_memory_bytes") == 0, what="the memory given back")


def test_a_request_of_which_the_upstream_takes_nothing(martlet, recorder, h2_recorder):
    """It gets an error in the protocol of its caller, since no response has begun."""
    silent = h2_recorder(lambda peer, stream: None, reading=False)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {silent.url}
        limits: {{ memory: 1MiB }}
        workers: 1
        interceptors: [ metrics ]
        """
    )
    caller = proxy.connect_h2()
    calls = [caller.open([*h2_peer.request("/a.B/C", "POST"), ("content-type", "application/grpc")]) for _ in range(16)]
    for call in calls:
        caller.data(call.id, bytes(65535))
    caller.wait(lambda: any(call.is_over for call in calls), "the end of a stalled call")
    (over, *_) = [call for call in calls if call.is_over]
    assert over.values("grpc-status") == [b"8"] and b"limits.memory" in over.values("grpc-message")[0]
