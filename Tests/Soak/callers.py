"""The callers: each kind in its own process, which reports every second how many calls ended in which way."""

import base64
import http.client
import itertools
import json
import multiprocessing
import random
import threading
import time
from collections import Counter

import grpc

from support import protocol
from support.http1.peer import connect
from support.http2 import h2_peer
from support.servers.grpc_service import GrpcChannel, path

SERVICE = "/soak.v1.Soak/"
BIG = 200_000
BURST = 10


class Tally:
    """Outcomes of calls. One that failed is excused if the upstream was away while it ran, or the machine."""

    def __init__(self, queue, undisturbed_since):
        self._queue = queue
        self._undisturbed_since = undisturbed_since
        self._counts = Counter()
        self._lock = threading.Lock()
        threading.Thread(target=self._report, daemon=True).start()

    def note(self, kind, outcome, began):
        if outcome not in ("ok", "cancelled"):
            outcome = ("disturbed: " if began < self._undisturbed_since.value else "FAILED: ") + outcome
        with self._lock:
            self._counts[kind, outcome] += 1

    def _report(self):
        while True:
            time.sleep(1)
            with self._lock:
                counts, self._counts = self._counts, Counter()
            self._queue.put(counts)


def outcome_of(response, caller, body):
    """How a call of HTTP ended: `ok`, or the code of the response in its protocol."""
    if response == 200 and caller.response_type == "application/json":
        return "ok"
    if caller.response_type == "application/json":
        return json.loads(body).get("code", str(response)) if body.startswith(b"{") else str(response)
    if caller.response_type.startswith("application/grpc-web-text"):
        body = b"".join(base64.b64decode(part) for part in (body[:20], body[20:]) if part) if response == 200 else body
    if b'"error"' in body:
        return body.split(b'"code":"')[1].split(b'"')[0].decode()
    if b"grpc-status: " in body:
        status = body.split(b"grpc-status: ")[1].split(b"\r\n")[0].decode()
        return "ok" if status == "0" else f"grpc-status {status}"
    return "ok" if body.endswith(b"{}") else f"a response without an end: {body[-40:]!r}"


def protocols(address, note):
    """Every protocol over HTTP/1.1, one call after the other on a connection that is kept; a stream now and then is left.

    Every other time it is a server of gRPC and Protobuf that responds.
    """
    client = None
    for number in itertools.count():
        caller = protocol.ALL[number % len(protocol.ALL)]
        is_translated = caller is not protocol.PLAIN and number // len(protocol.ALL) % 2
        leaves = caller is protocol.CONNECT_STREAM_JSON and number % 5 == 0 and not is_translated
        target = SERVICE + ("Many" if caller is protocol.CONNECT_STREAM_JSON else "One")
        target = path("Unary") if is_translated else target
        began = time.monotonic()
        try:
            client = client or http.client.HTTPConnection(*address, timeout=30)
            body = caller.body if caller.method == "POST" else None
            client.request(caller.method, target + caller.query, body, caller.headers())
            response = client.getresponse()
            if leaves and response.status == 200:
                response.read(5)
                client.close()
                client = None
                note(caller.name, "cancelled", began)
                continue
            note(caller.name, outcome_of(response.status, caller, response.read()), began)
        except (OSError, http.client.HTTPException) as error:
            client.close()
            client = None
            note(caller.name, type(error).__name__, began)


def grpc_calls(address, note):
    """The published client: calls, large ones, streams both ways; some are cancelled, some have too little time."""
    host, port = address
    channel = GrpcChannel(f"{host}:{port}")
    for number in itertools.count():
        began, expected = time.monotonic(), "ok"
        try:
            match number % 8:
                case 0:
                    stream = channel.converse(b"%d" % n for n in range(50))
                    next(stream)
                    if number % 64:
                        assert sum(1 for _ in stream) == 49
                    else:
                        stream.cancel()
                        expected = "cancelled"
                case 1:
                    assert sum(1 for _ in channel.download(b"100", timeout=30)) == 100
                case 2:
                    assert len(channel.upload(iter([b"x" * 1000] * 20), timeout=30)) == 20_000
                case 3 if number % 32 == 3:
                    assert len(channel.unary(b"x" * BIG, timeout=30)) == BIG
                case 4 if number % 64 == 4:  # more resets in a second would be an attack
                    call = channel.unary.future(b"cancelled")
                    expected = "cancelled" if call.cancel() else "ok"
                case _:
                    assert channel.unary(b"ping", timeout=30) == b"ping"
            note("grpc", expected, began)
        except grpc.RpcError as error:
            note("grpc", f"{error.code().name.lower()} in kind {number % 8}", began)
        except AssertionError:
            note("grpc", "a response that is not whole", began)


def frames(address, note):
    """HTTP/2 frame by frame: many calls at once on a connection, some of them reset in the middle."""
    for number in itertools.count():
        began = time.monotonic()
        try:
            peer = h2_peer.connect(address, timeout=30)
            for _ in range(40):
                began = time.monotonic()
                burst(peer, note, began)
            peer.close() if number % 2 else peer.abort()
        except (OSError, AssertionError) as error:
            note("frames", type(error).__name__, began)


def burst(peer, note, began):
    calls = []
    for number in range(BURST):
        if number % 2:
            call = peer.open(h2_peer.grpc_request(path("Unary")))
            peer.data(call.id, b"\x00\x00\x00\x00\x04ping", end=True)
        else:
            call = peer.open(h2_peer.request(SERVICE + "One", "POST", ("content-type", "application/proto")))
            peer.data(call.id, b"ping", end=number != 4)
        calls.append(call)
    peer.reset(calls[4].id)
    note("frames", "cancelled", began)
    for call in calls[:4] + calls[5:]:
        peer.finish(call)
        is_fine = call.status == 200 and (call.grpc() or "0") == "0" and call.body.endswith(b"ping")
        code = call.grpc() or bytes(call.body[:60]).decode(errors="replace")
        note("frames", "ok" if is_fine else f"{call.status} {code} {call.reset or ''}".strip()[:40], began)
        del peer.streams[call.id]
    del peer.streams[calls[4].id]


def vanishing(address, note):
    """Callers that begin a call and disconnect, in both ways."""
    head = f"POST {SERVICE}One HTTP/1.1\r\nhost: a\r\n".encode()
    beginnings = [b"", b"POST /", head, head + b"content-length: 100\r\n\r\n", head + b"content-length: 100\r\n\r\nhalf"]
    beginnings += [head + b"content-length: 4\r\n\r\nping", h2_peer.PREFACE[:10], h2_peer.PREFACE]
    for number in itertools.count():
        began = time.monotonic()
        try:
            peer = connect(address, timeout=30)
            peer.send(random.choice(beginnings))
            peer.reset() if number % 2 else peer.close()
            note("vanishing", "cancelled", began)
        except OSError as error:
            note("vanishing", type(error).__name__, began)
        time.sleep(0.005)


KINDS = {protocols: 3, grpc_calls: 2, frames: 1, vanishing: 1}


def run(kind, threads, address, queue, undisturbed_since):
    tally = Tally(queue, undisturbed_since)
    for _ in range(threads - 1):
        threading.Thread(target=kind, args=(address, tally.note), daemon=True).start()
    kind(address, tally.note)


class Callers:
    """All kinds at once."""

    def __init__(self, address):
        context = multiprocessing.get_context("spawn")
        self._queue = context.Queue()
        self.undisturbed_since = context.Value("d", 0.0)
        self.counts = Counter()
        arguments = (address, self._queue, self.undisturbed_since)
        self._processes = [
            context.Process(target=run, args=(kind, threads, *arguments), daemon=True) for kind, threads in KINDS.items()
        ]
        for process in self._processes:
            process.start()

    def collect(self):
        """Reads the reports since the last time; returns the number of calls so far."""
        while not self._queue.empty():
            self.counts.update(self._queue.get())
        return sum(self.counts.values())

    def are_alive(self):
        return all(process.is_alive() for process in self._processes)

    def stop(self):
        time.sleep(1.5)  # their counts are reported each second
        self.collect()
        for process in self._processes:
            process.terminate()
            process.join(5)
