"""An upstream is killed and restarted again and again under load. Calls that can be retried are; the others end as unavailable."""

import threading
from collections import Counter

import httpx
import pytest
from hyperframe.frame import DataFrame, HeadersFrame

from support.http1.recorder import OK, Recorder
from support.http2 import h2_peer
from support.http2.h2_recorder import H2Recorder
from support.martlet import CLEAR_TEXT
from support.servers.grpc_service import path as grpc_path
from support.wait import eventually

pytestmark = pytest.mark.alone

RESTARTS = 8
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", connect_wait: 10s, retry_budget: {{ ratio: 10 }}, timeouts: {{ idle: 200ms }} }} }}
interceptors:
  - metrics: {{}}
  - validate: {{ max_retries: 10, rules: [ use: default ] }}
"""


def response_at_once(peer, stream):
    """In one piece, so that no response is there by half."""
    peer.finish(stream)
    head = HeadersFrame(stream.id, peer.encoder.encode(h2_peer.response()), flags=["END_HEADERS"])
    peer.send(head, DataFrame(stream.id, b"ok", flags=["END_STREAM"]))


class Calls:
    """Calls without a pause, each kind in its own thread; counts the outcomes of each kind."""

    def __init__(self, **kinds):
        self.outcomes = {name: Counter() for name in kinds}
        self.errors = []
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=kind, daemon=True) for kind in kinds.items()]
        for thread in self._threads:
            thread.start()

    def _run(self, name, call):
        try:
            while not self._stopping.is_set():
                self.outcomes[name][call()] += 1
        except Exception as error:
            self.errors.append(error)

    def wait_for(self, more, outcome="ok"):
        """Waits until each kind has had `more` calls that ended well."""
        goals = {name: counts[outcome] + more for name, counts in self.outcomes.items()}
        is_there = lambda: self.errors or all(self.outcomes[name][outcome] >= goal for name, goal in goals.items())
        eventually(is_there, 15, f"{more} more calls")

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(15)


def plain(proxy, method):
    client = httpx.Client(base_url=proxy.url, **CLEAR_TEXT, timeout=20)

    def call():
        response = client.request(method, "/", content=b"pay" if method == "POST" else None)
        return "ok" if response.text == "ok" else response.json()["code"]

    return call


def grpc(proxy):
    caller = proxy.connect_h2(timeout=20)

    def call():
        stream = caller.open(h2_peer.grpc_request(grpc_path("Unary")), end=True)
        caller.finish(stream)
        del caller.streams[stream.id]
        return {None: "ok", "0": "ok", "14": "unavailable"}.get(stream.grpc(), stream)

    return call


@pytest.mark.parametrize("server", [(Recorder, OK), (H2Recorder, response_at_once)], ids=["http 1", "http 2"])
def test_restarts(martlet, running, tmp_path, server):
    """The upstream is at a Unix socket, so that it has its address again at once."""
    path = tmp_path / "upstream.sock"

    def start():
        path.unlink(missing_ok=True)
        return server[0](server[1], path=path)

    upstream = start()
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    kinds = {"get": plain(proxy, "GET"), "post": plain(proxy, "POST")}
    if server[0] is H2Recorder:
        kinds["grpc"] = grpc(proxy)
    calls = running(Calls(**kinds))
    for _ in range(RESTARTS):
        calls.wait_for(5)
        upstream.stop()
        path.unlink()
        upstream = start()
    calls.wait_for(5)
    calls.stop()
    upstream.stop()
    assert not calls.errors
    assert set(calls.outcomes["get"]) == {"ok"}
    for counts in calls.outcomes.values():
        assert set(counts) <= {"ok", "unavailable"}
        # Each restart meets one call of a kind at most: those behind it wait.
        assert counts["unavailable"] <= RESTARTS
