"""Calls in flight finish, new connections are refused, and the exit code says whether everything ended well."""

import signal
import time

import pytest

from support.http1.peer import connect
from support.wait import eventually

pytestmark = pytest.mark.waits

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


@pytest.fixture
def waiting(recorder):
    """An upstream that sends nothing by itself."""
    return recorder(script=lambda peer: peer.rest())


def is_refused(proxy):
    try:
        connect(proxy.address).close()
    except OSError:
        return True
    return False


def configuration(upstream, drain):
    return f"listen: 127.0.0.1:0\nupstream: '{upstream.url}'\ndrain: {drain}\n"


def test_a_call_in_flight_finishes(martlet, waiting):
    proxy = martlet(configuration(waiting, "{ min: 0s, max: 30s }"))
    resting, caller = proxy.connect(), proxy.connect()
    caller.send(REQUEST)
    upstream = waiting.wait_for_connections(1)
    eventually(lambda: upstream.received, what="the request upstream")
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    assert resting.has_ended()  # it had no call
    eventually(lambda: is_refused(proxy), what="the end of the listener")
    upstream.send(OK)
    response = caller.response()
    assert (response.status, response.header("connection"), response.body) == (200, "close", b"ok")
    assert caller.has_ended()
    assert proxy.exit_code() == 0
    assert proxy.stderr.matches(r" stopped\b")


def test_calls_are_accepted_during_the_minimum(martlet, recorder):
    proxy = martlet(configuration(recorder(), "{ min: 1s, max: 30s }"))
    caller = proxy.connect()
    began = time.monotonic()
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining min=1s max=30s$")
    assert proxy.admin("/readyz").status_code == 503
    for peer in [caller, proxy.connect()]:
        peer.send(REQUEST)
        assert peer.response().status == 200
    assert proxy.exit_code() == 0
    assert 1.0 <= time.monotonic() - began < 5.0


def test_no_failure_under_load_while_the_minimum_lasts(martlet, recorder, load):
    proxy = martlet(configuration(recorder(), "{ min: 10s, max: 30s }"))
    calls = load(proxy.address)
    calls.wait_for_calls(20)
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    calls.wait_for_calls(100)
    calls.stop()
    assert calls.failures == []


def test_a_second_signal_ends_at_once(martlet, waiting):
    proxy = martlet(configuration(waiting, "{ min: 30s, max: 60s }"))
    caller = proxy.connect()
    caller.send(REQUEST)
    waiting.wait_for_connections(1)
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code(within=3) == 1
    assert caller.response().status == 503
    assert caller.has_ended()


def test_the_exit_code_says_that_the_longest_drain_ended_calls(martlet, waiting):
    proxy = martlet(configuration(waiting, "{ min: 0s, max: 300ms }"))
    caller = proxy.connect()
    caller.send(REQUEST)
    waiting.wait_for_connections(1)
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code(within=5) == 3


def test_sigint_drains_too(martlet, recorder):
    proxy = martlet(configuration(recorder(), "{ min: 0s, max: 30s }"))
    proxy.signal(signal.SIGINT)
    assert proxy.exit_code() == 0


def test_draining_by_the_admin_page_is_not_a_first_signal(martlet, waiting):
    proxy = martlet(configuration(waiting, "{ min: 0s, max: 30s }"))
    caller = proxy.connect()
    caller.send(REQUEST)
    upstream = waiting.wait_for_connections(1)
    eventually(lambda: upstream.received, what="the request upstream")
    assert proxy.admin("/drain", method="POST").status_code == 202
    proxy.stderr.wait(r" draining\b")
    proxy.signal(signal.SIGTERM)
    assert proxy.admin("/healthz").status_code == 200
    upstream.send(OK)
    assert caller.response().status == 200
    assert proxy.exit_code() == 0


@pytest.mark.parametrize("ending", ["drain.max", "second signal"])
def test_a_call_that_is_cut_off_gets_an_error_and_a_log_line(martlet, waiting, ending):
    maximum = "200ms" if ending == "drain.max" else "30s"
    proxy = martlet(configuration(waiting, f"{{ max: {maximum} }}") + "interceptors: [ log ]\n")
    caller = proxy.connect()
    caller.send(REQUEST)
    upstream = waiting.wait_for_connections(1)
    eventually(lambda: upstream.received, what="the request upstream")
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    if ending == "second signal":
        proxy.signal(signal.SIGTERM)
    response = caller.response()
    assert (response.status, response.header("connection")) == (503, "close")
    assert b'"unavailable"' in response.body
    assert proxy.exit_code() == (1 if ending == "second signal" else 3)
    proxy.stdout.wait_for_end()
    assert '"code":"unavailable"' in proxy.stdout.text and '"decided_by":"martlet"' in proxy.stdout.text
