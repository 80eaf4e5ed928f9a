"""While the service manager holds the sockets, a stopping daemon serves new calls until the old ones have ended."""

import socket
import threading
import time

import grpc
import pytest

from drain.service import Service
from support.http1.peer import connect
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.servers.grpc_service import GrpcChannel
from support.wait import eventually

pytestmark = pytest.mark.waits

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n"
SLOW = REQUEST.replace(b" / ", b" /slow ")
SLOW_TIME = 3.0
INTERVAL = 0.05


class NewCallers:
    """Connects and calls all the time; records how long each call lasts and each error."""

    def __init__(self, address):
        self.waits = []
        self.failures = []
        self._address = address
        self._stopping = threading.Event()
        self._threads = []
        self._starter = threading.Thread(target=self._run, daemon=True)
        self._starter.start()

    def _run(self):
        while not self._stopping.wait(INTERVAL):
            self._threads.append(threading.Thread(target=self._call, daemon=True))
            self._threads[-1].start()

    def _call(self):
        began = time.monotonic()
        try:
            peer = connect(self._address)
            peer.send(REQUEST)
            assert peer.response().status == 200
            peer.close()
        except (OSError, AssertionError) as error:
            self.failures.append(repr(error))
        self.waits.append(time.monotonic() - began)

    def wait_for_calls(self, more):
        target = len(self.waits) + more
        eventually(lambda: len(self.waits) >= target, 10.0, f"{more} more calls")

    def stop(self):
        self._stopping.set()
        self._starter.join(5)
        for thread in self._threads:
            thread.join(15)


@pytest.fixture
def upstream(recorder):
    """An upstream that responds late to /slow, and to /endless only when the test lets it."""

    def response(request):
        if request.target == "/slow":
            time.sleep(SLOW_TIME)
        if request.target == "/endless":
            resume.wait(20)
        return OK

    resume = threading.Event()
    upstream = recorder(response)
    yield upstream
    resume.set()


@pytest.fixture
def serve(binary, running, tmp_path, upstream):
    """Starts a service on a socket that the service manager holds; returns it with where callers connect."""

    def serve(holder, drain="{ min: 0s, max: 30s }", url=None):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        address = listener.getsockname()
        passed = {"rpc": listener}
        listen = "systemd:rpc"
        if holder == "store":
            listener.close()
            passed, listen = {}, f"127.0.0.1:{address[1]}"
        service = Service(tmp_path, f"listen: {listen}\nupstream: {url or upstream.url}\ndrain: {drain}\n", passed)
        running(service).start()
        return service, address

    return serve


def begin(address, upstream, request=SLOW):
    """A call under way."""
    before = len(upstream.requests)
    caller = connect(address, timeout=20)
    caller.send(request)
    eventually(lambda: len(upstream.requests) > before, what="the request upstream")
    return caller


@pytest.mark.parametrize("holder", ["socket unit", "store"])
def test_the_longest_wait_is_short(serve, running, upstream, holder):
    service, address = serve(holder)
    old = begin(address, upstream)
    callers = running(NewCallers(address))
    callers.wait_for_calls(5)
    began = time.monotonic()
    assert service.restart() == 0
    took = time.monotonic() - began
    callers.wait_for_calls(10)
    callers.stop()
    print(f"the restart took {took:.2f} s; of {len(callers.waits)} calls the longest took {max(callers.waits):.3f} s")
    assert callers.failures == []
    assert old.response().status == 200
    assert took > SLOW_TIME / 2
    assert max(callers.waits) < SLOW_TIME / 2


def test_a_call_that_outlasts_drain_max_is_cut_off_and_new_ones_are_not(serve, running, upstream):
    service, address = serve("socket unit", f"{{ min: 0s, max: {SLOW_TIME:.0f}s }}")
    old = begin(address, upstream, SLOW.replace(b"/slow", b"/endless"))
    callers = running(NewCallers(address))
    callers.wait_for_calls(5)
    assert service.restart() == 3
    callers.wait_for_calls(5)
    callers.stop()
    assert callers.failures == []
    assert max(callers.waits) < SLOW_TIME / 2
    assert old.response().status == 503


def test_calls_that_began_after_the_signal_have_the_time_of_the_handover(serve, upstream):
    service, address = serve("socket unit", "{ min: 0s, max: 30s, handover: 300ms }")
    old = begin(address, upstream)
    service.begin_stop()
    late = begin(address, upstream, SLOW.replace(b"/slow", b"/endless"))
    assert old.response().status == 200
    began = time.monotonic()
    assert late.response().status == 503
    assert service.daemon.exit_code() == 3
    assert time.monotonic() - began < 2.0


def test_an_http_2_caller_is_sent_to_a_new_connection_at_once(serve, upstream):
    service, address = serve("socket unit")
    old = h2_peer.connect(address)
    slow = old.open(h2_peer.request(path="/slow"), end=True)
    eventually(lambda: upstream.requests, what="the request upstream")
    service.begin_stop()
    old.wait(lambda: old.goaway, "GOAWAY")
    new = h2_peer.connect(address)
    assert new.finish(new.open(h2_peer.request(), end=True)).status == 200
    assert new.goaway is None
    assert old.finish(slow).body == b"ok"
    old.wait_for_end()
    new.wait(lambda: new.goaway, "GOAWAY")
    assert service.daemon.exit_code() == 0
    for peer in (old, new):
        peer.close()


def test_an_http_2_caller_that_has_just_connected_is_told_with_its_first_call(serve, upstream):
    service, address = serve("socket unit")
    connection = socket.create_connection(address)
    eventually(lambda: service.daemon.metrics().total("martlet_connections") == 1, what="the connection")
    service.begin_stop()
    service.daemon.stderr.wait(r" handing over\b")
    caller = h2_peer.H2Peer(connection, client=True)
    assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200
    assert caller.goaway is not None  # else a caller that always has a call under way would never learn of it
    assert service.daemon.exit_code(within=3) == 0
    caller.close()


@pytest.mark.parametrize("holder", ["socket unit", "store"])
def test_the_published_grpc_client_loses_no_call(serve, grpc_service, holder):
    service, address = serve(holder, url=grpc_service().url)
    channel = GrpcChannel(f"127.0.0.1:{address[1]}")
    stopping, calls, failures = threading.Event(), [], []

    def load():
        while not stopping.is_set():
            try:
                calls.append(channel.unary(b"ping", timeout=10))
            except grpc.RpcError as error:
                failures.append(error)

    threads = [threading.Thread(target=load, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        before = len(calls)
        eventually(lambda: len(calls) > before + 50, what="more calls")
        assert service.restart() == 0
    stopping.set()
    for thread in threads:
        thread.join(15)
    channel.stop()
    print(f"{len(failures)} of {len(calls) + len(failures)} calls failed")
    assert failures == []


def test_a_second_signal_ends_at_once(serve, upstream):
    service, address = serve("socket unit")
    old = begin(address, upstream, SLOW.replace(b"/slow", b"/endless"))
    service.begin_stop()
    service.daemon.process.terminate()
    assert service.daemon.exit_code(within=3) == 1
    assert old.response().status == 503
