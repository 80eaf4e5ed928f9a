"""Callers of a service that is restarted under them."""

import http.client
import socket
import threading
import time


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def connection(address, timeout=30):
    """A connection to a host and a port, or to the path of a Unix socket."""
    if isinstance(address, tuple):
        return http.client.HTTPConnection(*address, timeout=timeout)
    return UnixConnection(address, timeout)


def call(path="/", address=("127.0.0.1", 8080), method="GET"):
    """One call over a connection of its own: status and text of the response."""
    one = connection(address)
    try:
        one.request(method, path)
        response = one.getresponse()
        return response.status, response.read().decode()
    finally:
        one.close()


class SlowCall:
    """A call under way; `result` waits for its status and text, or raises what went wrong."""

    def __init__(self, path="/slow"):
        self._path = path
        self._outcome = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            self._outcome = call(self._path)
        except (OSError, http.client.HTTPException) as error:
            self._outcome = error

    @property
    def is_under_way(self):
        return self._thread.is_alive()

    def result(self):
        self._thread.join(40)
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome


class Callers:
    """Some callers that call again and again until stopped. They never retry.

    Each call has a connection of its own, or with `keep` each caller keeps one, as long as no response says that it
    closes, and is idle for `gap` seconds between its calls.
    """

    def __init__(self, count=4, keep=False, gap=0.0, address=("127.0.0.1", 8080)):
        self.calls = self.refused = self.lost = 0
        self.longest = 0.0
        self.errors = []
        self._keep, self._gap, self._address = keep, gap, address
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        one = connection(self._address)
        while not self._stopping.is_set():
            began = time.monotonic()
            error = self._call(one)
            with self._lock:
                self.calls += 1
                self.longest = max(self.longest, time.monotonic() - began)
                if isinstance(error, ConnectionRefusedError):
                    self.refused += 1
                elif error:
                    self.lost += 1
                    self.errors.append(repr(error))
            if not self._keep or error:
                one.close()
            # Callers in a tight loop would only use the processor that the service needs to start.
            self._stopping.wait(self._gap or (0.002 if error else 0))
        one.close()

    def _call(self, one):
        try:
            one.request("GET", "/")
            response = one.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            return error
        return None if response.status == 200 else RuntimeError(f"{response.status} {body!r}")

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(40)

    def __str__(self):
        return f"{self.calls} calls, {self.refused} refused, {self.lost} lost, longest {self.longest:.2f} s"
