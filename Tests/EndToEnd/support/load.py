"""A constant load of small calls over a few kept-alive connections."""

import http.client
import threading
import time

from support.wait import eventually


class Load:
    """Calls `path` on each of `connections` one after the other until stopped, or for `max_seconds` seconds."""

    def __init__(self, address, path="/load", connections=4, max_seconds=30.0):
        self.address = address
        self.path = path
        self.calls = 0
        self.failures = []
        self._deadline = time.monotonic() + max_seconds
        self._stopping = threading.Event()
        self._count = threading.Lock()
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(connections)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        connection = http.client.HTTPConnection(*self.address, timeout=10)
        while not self._stopping.is_set() and time.monotonic() < self._deadline:
            try:
                connection.request("POST", self.path, body=b"ping")
                response = connection.getresponse()
                body = response.read()
                failure = None if response.status == 200 else f"{response.status} {body!r}"
            except (OSError, http.client.HTTPException) as error:
                failure = repr(error)
                connection.close()
            with self._count:
                self.calls += 1
                if failure:
                    self.failures.append(failure)
        connection.close()

    def wait_for_calls(self, more, within=10.0):
        """Waits until `more` calls have ended since now."""
        target = self.calls + more
        eventually(lambda: self.calls >= target, within, f"{more} more calls")

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(15)
