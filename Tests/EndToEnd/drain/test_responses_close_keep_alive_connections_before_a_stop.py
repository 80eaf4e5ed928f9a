"""During `drain.min` each response has `connection: close`, so a caller that never checks its connection loses no call."""

import signal
import socket
import ssl
import threading
import time

import pytest

from drain.service import Service
from support.http1.peer import Peer, connect
from support.http1.recorder import OK
from support.wait import eventually

pytestmark = pytest.mark.waits

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"
IDLE_GAP = 0.1


class BlindCaller:
    """Reuses its connection after a pause unless a response said not to; never checks whether it was closed, never retries."""

    def __init__(self, address):
        self.calls = 0
        self.failures = []
        self._address = address
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        peer = None
        while not self._stopping.wait(IDLE_GAP):
            peer = peer or connect(self._address)
            try:
                peer.send(REQUEST)
                response = peer.response()
                assert response.status == 200, response
            except (OSError, AssertionError) as error:
                self.failures.append(repr(error))
                response = None
            self.calls += 1
            if response is None or response.header("connection") == "close":
                peer.close()
                peer = None

    def stop(self):
        self._stopping.set()
        self._thread.join(15)


def test_a_caller_that_never_looks_ahead_loses_no_call(binary, running, recorder, tmp_path):
    passed = socket.create_server(("127.0.0.1", 0), backlog=128)
    configuration = f"listen: systemd:rpc\nupstream: {recorder(OK).url}\ndrain: {{ min: 2s, max: 30s }}\n"
    service = running(Service(tmp_path, configuration, {"rpc": passed}))
    service.start()
    callers = [running(BlindCaller(passed.getsockname())) for _ in range(8)]
    for _ in range(4):
        before = [caller.calls for caller in callers]
        eventually(lambda: all(caller.calls >= old + 3 for caller, old in zip(callers, before)), what="calls of all")
        assert service.restart() == 0
    for caller in callers:
        caller.stop()
    lost = [failure for caller in callers for failure in caller.failures]
    print(f"{len(lost)} of {sum(caller.calls for caller in callers)} calls were lost")
    assert lost == []


@pytest.fixture
def start(martlet, recorder, authority, tmp_path):
    """Starts a daemon on a kind of address; returns it with a function that connects."""

    def start(kind, drain="{ min: 1s, max: 30s }", response=OK):
        address = f"unix:{tmp_path}/rpc.sock" if kind == "unix" else "127.0.0.1:0"
        tls = ""
        if kind == "tls":
            certificate = authority().issue("127.0.0.1")
            tls = f", tls: {{ certificate: {certificate.certificate}, key: {certificate.key} }}"
        upstream = recorder(response)
        proxy = martlet(
            f'listeners: [ {{ address: "{address}"{tls} }} ]\nupstream: {upstream.url}\ndrain: {drain}\n'
        )

        def call():
            peer = proxy.connect()
            if kind == "tls":
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                peer = Peer(context.wrap_socket(peer.socket))
            return peer

        return proxy, call, upstream

    return start


def begin_stop(proxy):
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    proxy.metrics()  # which asks every worker, so each of them knows


@pytest.mark.parametrize("kind", ["tcp", "unix", "tls"])
def test_each_connection_is_served_once_more(start, kind):
    proxy, caller, _ = start(kind)
    used, unused = caller(), caller()
    used.send(REQUEST)
    assert used.response().header("connection") is None
    begin_stop(proxy)
    for peer in (used, unused, caller()):
        peer.send(REQUEST)
        response = peer.response()
        assert (response.status, response.header("connection"), response.body) == (200, "close", b"ok")
        assert peer.has_ended()
    assert proxy.exit_code() == 0


def test_a_call_under_way_gets_it_too(start):
    resume = threading.Event()

    def response(request):
        assert resume.wait(10)
        return OK

    proxy, caller, upstream = start("tcp", "{ min: 10s, max: 30s }", response)
    peer = caller()
    peer.send(REQUEST)
    eventually(lambda: upstream.requests, what="the request upstream")
    begin_stop(proxy)
    resume.set()
    assert peer.response().header("connection") == "close"
    assert peer.has_ended()


def test_a_response_that_has_begun_keeps_its_connection(start, recorder, martlet):
    """Its head had no `connection: close`, so the connection serves one more call."""
    resume = threading.Event()

    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no")
        assert resume.wait(10)
        peer.send(b"k")
        peer.request()
        peer.send(OK)

    upstream = recorder(script=script)
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ndrain: {{ min: 10s, max: 30s }}\n")
    peer = proxy.connect()
    peer.send(REQUEST)
    assert peer.head().startswith(b"HTTP/1.1 200 OK")
    begin_stop(proxy)
    resume.set()
    assert peer.read_exactly(2) == b"ok"
    peer.send(REQUEST)
    assert peer.response().header("connection") == "close"
    assert peer.has_ended()


@pytest.mark.parametrize("request_, status", [(b"GET /\xff HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", 200)])
def test_errors_and_http_1_0_callers_get_it_too(start, request_, status):
    proxy, caller, _ = start("tcp", "{ min: 10s, max: 30s }")
    peer = caller()
    begin_stop(proxy)
    peer.send(request_)
    response = peer.response()
    assert (response.status, response.header("connection")) == (status, "close")
    assert peer.has_ended()


def test_an_idle_connection_is_closed_at_the_end_of_the_minimum(start):
    proxy, caller, _ = start("tcp")
    peer = caller()
    peer.send(REQUEST)
    peer.response()
    began = time.monotonic()
    proxy.signal(signal.SIGTERM)
    assert peer.has_ended()
    assert time.monotonic() - began >= 0.9
    assert proxy.exit_code() == 0


def test_a_second_signal_ends_the_minimum(start):
    proxy, caller, _ = start("tcp", "{ min: 30s, max: 30s }")
    peer = caller()
    begin_stop(proxy)
    proxy.signal(signal.SIGTERM)
    assert peer.has_ended()
    assert proxy.exit_code(within=3) == 1


def test_a_connection_that_came_at_the_last_moment_has_time_for_its_request(start):
    proxy, caller, _ = start("tcp", "{ min: 0s, max: 30s }")
    proxy.signal(signal.SIGSTOP)
    peer = caller()
    proxy.signal(signal.SIGTERM)
    proxy.signal(signal.SIGCONT)
    proxy.stderr.wait(r" draining\b")
    eventually(lambda: not proxy.listening_inodes(proxy.address[1]), what="the end of the listener")
    peer.send(REQUEST)
    assert peer.response().header("connection") == "close"
    assert proxy.exit_code() == 0
