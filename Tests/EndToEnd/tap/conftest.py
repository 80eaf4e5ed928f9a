"""Readers of a tap, and lines for the shell that are run."""

import json
import subprocess
import threading
from contextlib import ExitStack
from urllib.parse import urlencode

import httpx
import pytest
from support.martlet import CLEAR_TEXT
from support.wait import eventually


class Tap:
    """Reads `/tap` on a thread of its own; `events` is what has come."""

    def __init__(self, proxy, query):
        self.events = []
        self._open = ExitStack()
        transport = httpx.HTTPTransport(uds=str(proxy.admin_socket), **CLEAR_TEXT)
        client = self._open.enter_context(httpx.Client(base_url="http://localhost", transport=transport, timeout=30))
        self.response = self._open.enter_context(client.stream("GET", "/tap?" + urlencode(query, doseq=True)))
        assert self.response.status_code == 200, self.response.read()
        # Workers see to what comes first before what comes later.
        proxy.admin("/calls/recent")
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        try:
            for line in self.response.iter_lines():
                self.events.append(json.loads(line))
        except (httpx.TransportError, httpx.StreamError):
            pass

    def of(self, event, **wanted):
        return [one for one in list(self.events) if one.get("event") == event and wanted.items() <= one.items()]

    def until(self, event, count=1, **wanted):
        return eventually(lambda: len(found := self.of(event, **wanted)) >= count and found, what=f"{count} events {event}")

    def stop(self):
        # The socket ends, and the thread with it.
        self.response.extensions["network_stream"].get_extra_info("socket").shutdown(2)
        self._thread.join(10)
        self._open.close()


@pytest.fixture
def tap(running):
    return lambda proxy, **query: running(Tap(proxy, query))


@pytest.fixture
def shell():
    """Runs a line in `sh`, with variables for what is not shown."""

    def run(line, **variables):
        environment = {"PATH": "/usr/bin:/bin"} | variables
        return subprocess.run(["sh", "-eu", "-c", line], env=environment, capture_output=True, timeout=20)

    return run
