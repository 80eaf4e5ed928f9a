"""Honest callers in one process: they make a fixed number of calls a second, and report the latency of each."""

import itertools
import ssl
import threading
import time

from reports import Reports
from support.http1.peer import Peer, connect
from support.http2 import h2_peer
from support.protocol import envelope
from support.servers.grpc_service import path

TIMEOUT = 10
# The number of calls on one connection. Its peer stores what it has received.
CALLS = 200
TOKEN = "authorization: Bearer token-0"
GET = f"GET {{}} HTTP/1.1\r\nhost: a.example\r\n{TOKEN}\r\n\r\n"
SIZE = 1 << 16
UPLOAD = f"POST /upload HTTP/1.1\r\nhost: a.example\r\n{TOKEN}\r\ncontent-length: {SIZE}\r\n\r\n".encode() + bytes(SIZE)
TICK = 0.005


def respond(peer, request, size=0):
    """Sends a request of HTTP/1.1 and reads the response, whose body has `size` bytes."""
    peer.send(request)
    head = peer.head()
    assert head.startswith(b"HTTP/1.1 200 "), head.split(b"\r\n")[0].decode("latin-1")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert length == size, f"{length} bytes instead of {size}"
    peer.read_exactly(length)


class Kept:
    """A caller over HTTP/1.1 with one connection for many calls."""

    def __init__(self, target, request, size=0):
        self._address, self._request, self._size = target.plain, request, size
        self._peer, self._calls = None, 0

    def call(self):
        self._peer = self._peer or connect(self._address, TIMEOUT)
        respond(self._peer, self._request, self._size)

    def renew(self):
        """Closes the connection; the next call opens another."""
        if self._peer:
            self._peer.close()
            self._peer = None


class New(Kept):
    """A caller with a new connection for each call."""

    def call(self):
        super().call()
        self.renew()


class NewTLS(New):
    """A caller with a new TLS connection for each call."""

    def __init__(self, target, request):
        super().__init__(target, request)
        self._tls, self._address = ssl.create_default_context(cafile=target.authority), target.tls

    def call(self):
        self._peer = Peer(self._tls.wrap_socket(connect(self._address, TIMEOUT).socket, server_hostname="127.0.0.1"))
        super().call()


class Unary(Kept):
    """A caller of gRPC over HTTP/2 with one connection for many unary calls."""

    def call(self):
        self._peer = self._peer or h2_peer.connect(self._address, timeout=TIMEOUT)
        call = self._peer.open(h2_peer.grpc_request(path("Unary")))
        self._peer.data(call.id, self._request, end=True)
        self._peer.finish(call)
        assert (call.status, call.grpc()) == (200, "0"), f"{call.status} {call.grpc()} {call.grpc('grpc-message')}"
        assert bytes(call.body) == self._request, "another message"
        del self._peer.streams[call.id]


def callers(target):
    """Yields name, calls a second and caller of each thread: 100 calls a second in all."""
    for _ in range(4):
        yield "get", 12.5, Kept(target, GET.format("/get").encode())
    for _ in range(2):
        yield "grpc", 15, Unary(target, envelope(0, b"ping"))
    yield "cached", 5, Kept(target, GET.format("/cached").encode())
    yield "upload", 5, Kept(target, UPLOAD, SIZE)
    yield "new", 8, New(target, GET.format("/new").encode())
    yield "new-tls", 2, NewTLS(target, GET.format("/tls").encode())


def repeat(name, rate, caller, reports):
    """Calls at a fixed rate.

    The latency of a call that was due during the call before it counts from the time at which it was due.
    """
    begin = time.monotonic()
    for number in itertools.count():
        due, now = begin + number / rate, time.monotonic()
        if now < due:
            time.sleep(due - now)
            due = time.monotonic()
        try:
            caller.call()
            outcome = "ok"
        except Exception as error:  # each is a failed call
            outcome = f"{type(error).__name__}: {error}"[:150]
        reports.add(name, due, time.monotonic() - due, outcome)
        if outcome != "ok" or number % CALLS == CALLS - 1:
            caller.renew()


def watch_clock(reports):
    """Reports how late this process is woken: the part of a latency that the machine adds."""
    while True:
        due = time.monotonic() + TICK
        time.sleep(TICK)
        reports.add("clock", due, time.monotonic() - due, "ok")
        time.sleep(0.1)


def run(target, go, queue):
    """Calls until the process is ended."""
    all_callers = list(callers(target))
    go.wait()
    reports = Reports(queue)
    for name, rate, caller in all_callers:
        threading.Thread(target=repeat, args=(name, rate, caller, reports), daemon=True).start()
        time.sleep(0.007)  # not all at the same moment
    watch_clock(reports)
