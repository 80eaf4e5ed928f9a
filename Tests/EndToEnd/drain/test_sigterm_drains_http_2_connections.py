"""On SIGTERM a GOAWAY is sent at once, calls in flight finish, and the daemon ends with the last of them."""

import signal
import threading
import time

import pytest

from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.waits


@pytest.fixture
def resume():
    return threading.Event()


@pytest.fixture
def upstream(h2_recorder, resume):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"first ")
        assert resume.wait(10)
        peer.data(stream.id, b"last", end=True)

    return h2_recorder(response)


def start(martlet, upstream, drain="{ min: 0s, max: 30s }"):
    return martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ndrain: {drain}\n")


def test_a_call_in_flight_finishes(martlet, upstream, resume):
    proxy = start(martlet, upstream)
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.request(), end=True)
    caller.wait(lambda: call.body, "the beginning of the response")
    proxy.signal(signal.SIGTERM)
    caller.wait(lambda: caller.goaway, "GOAWAY")
    assert caller.goaway.error_code == h2_peer.NO_ERROR
    assert caller.goaway.last_stream_id >= call.id
    assert not call.is_over
    resume.set()
    caller.finish(call)
    assert (call.status, call.body) == (200, b"first last")
    caller.wait_for_end()
    assert caller.goaway.last_stream_id == call.id
    assert proxy.exit_code() == 0


def test_an_idle_connection_delays_nothing(martlet, upstream):
    took = []
    for _ in range(3):
        proxy = start(martlet, upstream)
        caller = proxy.connect_h2()
        caller.wait(lambda: caller.settings, "SETTINGS")
        began = time.monotonic()
        proxy.signal(signal.SIGTERM)
        assert proxy.exit_code() == 0  # although the caller does not close its side
        took.append(time.monotonic() - began)
        caller.wait_for_end()
        assert caller.goaway.error_code == h2_peer.NO_ERROR
    # A machine that is busy may be late, but not each time; a connection waits a second for its caller.
    assert min(took) < 1, took


def test_calls_are_accepted_during_the_minimum(martlet, h2_recorder):
    proxy = start(martlet, h2_recorder(), "{ min: 1s, max: 30s }")
    caller = proxy.connect_h2()
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    for one in (caller, proxy.connect_h2()):
        assert one.finish(one.open(h2_peer.request(), end=True)).status == 200
    assert proxy.exit_code() == 0


def test_the_published_client_finishes_its_calls(martlet, grpc_service, grpc_channel, resume):
    def converse(requests, context):
        for request in requests:
            yield request
            assert resume.wait(10)

    service = grpc_service({"Converse": converse})
    proxy = start(martlet, service)
    channel = grpc_channel(proxy)
    calls = [channel.converse(iter([b"1", b"2"]), timeout=10) for _ in range(5)]
    assert [next(call) for call in calls] == [b"1"] * 5
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    resume.set()
    assert [list(call) for call in calls] == [[b"2"]] * 5
    assert proxy.exit_code(within=3) == 0


def test_a_call_that_is_cut_off_gets_a_grpc_status(martlet, upstream):
    proxy = start(martlet, upstream, "{ min: 0s, max: 300ms }")
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C"))
    eventually(lambda: upstream.streams, what="the call upstream")
    proxy.signal(signal.SIGTERM)
    caller.finish(call)
    assert call.grpc() == "14" or call.reset is not None
    caller.wait_for_end()
    assert proxy.exit_code(within=3) == 3
