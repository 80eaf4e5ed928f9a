"""With one connection allowed, calls beyond its streams wait, as many as `waiting` allows. The next one fails."""

import threading

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer
from support.wait import eventually

ALLOWED = 2


def start(martlet, h2_recorder, waiting):
    def script(peer):
        while stream := upstream.next_stream(peer):
            assert resume.wait(10)
            peer.headers(stream.id, h2_peer.response())
            peer.data(stream.id, b"ok", end=True)

    resume = threading.Event()
    upstream = h2_recorder(script=script, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: ALLOWED})
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          default: {{ url: "{upstream.url}", limits: {{ connections: 1, waiting: {waiting} }} }}
        interceptors: [ metrics: {{}} ]
        workers: 1
        """
    )
    return upstream, proxy, resume


def test_in_their_order(martlet, h2_recorder):
    upstream, proxy, resume = start(martlet, h2_recorder, 100)
    caller = proxy.connect_h2()
    calls = [caller.open(h2_peer.request(f"/{number}", "POST"), end=True) for number in range(20)]
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 20, what="all calls")
    resume.set()
    assert [caller.finish(call).status for call in calls] == [200] * 20
    assert [stream.path for stream in upstream.streams] == [f"/{number}" for number in range(20)]
    assert len(upstream.connections) == 1


def test_no_more_calls_wait_than_allowed(martlet, h2_recorder):
    _, proxy, resume = start(martlet, h2_recorder, 3)
    caller = proxy.connect_h2()
    first = caller.open(h2_peer.grpc_request("/a.B/First"), end=True)
    caller.wait(lambda: caller.settings, "SETTINGS")
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 1, what="the first call")
    calls = [caller.open(h2_peer.grpc_request("/a.B/C"), end=True) for _ in range(10)]
    caller.wait(lambda: sum(call.is_over for call in calls) >= 6, "rejections")
    resume.set()
    for call in [first, *calls]:
        caller.finish(call)
    rejected = [call for call in calls if call.body != b"ok"]
    assert {call.grpc() for call in rejected} <= {"8", "14"}
    assert 6 <= len(rejected) <= 7
    assert (first.status, first.body) == (200, b"ok")


def test_a_call_that_is_cancelled_while_it_waits(martlet, h2_recorder):
    upstream, proxy, resume = start(martlet, h2_recorder, 100)
    caller = proxy.connect_h2()
    calls = [caller.open(h2_peer.request(f"/{number}"), end=True) for number in range(6)]
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 6, what="all calls")
    caller.reset(calls[4].id)
    expired = caller.open(h2_peer.grpc_request("/a.B/C", ("grpc-timeout", "100m")), end=True)
    assert caller.finish(expired).grpc() == "4"
    resume.set()
    for number in (0, 1, 2, 3, 5):
        assert caller.finish(calls[number]).body == b"ok"
    assert [stream.path for stream in upstream.streams] == ["/0", "/1", "/2", "/3", "/5"]


def start_without_room(martlet, h2_recorder, script):
    upstream = h2_recorder(script=script, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 0})
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    caller = proxy.connect_h2()
    return upstream, caller, caller.open(h2_peer.grpc_request("/a.B/C"), end=True)


def test_until_a_stream_is_free(martlet, h2_recorder):
    """The upstream allows none at first: Martlet does not open a thousand more connections."""

    def script(peer):
        assert resume.wait(10)
        peer.send(SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: 1}))
        while stream := upstream.next_stream(peer):
            peer.headers(stream.id, h2_peer.response(200, ("grpc-status", "0")), end=True)

    resume = threading.Event()
    upstream, caller, call = start_without_room(martlet, h2_recorder, script)
    eventually(lambda: upstream.connections, what="a connection")
    with pytest.raises(AssertionError):
        eventually(lambda: len(upstream.connections) > 1, 0.5, "another")
    resume.set()
    assert caller.finish(call).grpc() == "0"


def test_an_upstream_that_never_allows_a_stream(martlet, h2_recorder):
    """Its connections end as soon as they have begun."""
    upstream, caller, call = start_without_room(martlet, h2_recorder, lambda peer: peer.close())
    assert caller.finish(call).grpc() == "14"
    assert len(upstream.connections) <= 2
