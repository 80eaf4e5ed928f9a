"""Callers that neither send nor read keep nobody from an upstream, and their calls end at their limits, each counted."""

import asyncio
import threading

import pytest

from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.alone

MUCH = 8 << 20
HALF = 1024
UPLOAD = [
    (":method", "POST"),
    (":scheme", "http"),
    (":authority", "a.example"),
    (":path", "/up"),
    ("content-length", "1000"),
]


class Upstream:
    """Serves any number of connections on one thread: responds to GET with a little or with much, and to POST never."""

    def __init__(self, path):
        self.path, self.loop = path, asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result(10)

    def _run(self):
        self.loop.run_forever()

    async def _listen(self):
        self.server = await asyncio.start_unix_server(self._serve, self.path, backlog=4096)

    async def _serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                size = 2 if b"/ok " in head else MUCH
                if head.startswith(b"GET"):
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
                    for _ in range(0, size, 1 << 16):
                        writer.write(bytes(min(size, 1 << 16)))
                        await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _end(self):
        self.server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._end(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(10)
        self.loop.close()


@pytest.fixture(scope="module")
def upstream(tmp_path_factory):
    upstream = Upstream(str(tmp_path_factory.mktemp("upstream") / "s"))
    yield upstream
    upstream.stop()


@pytest.fixture
def proxy(martlet, upstream, tmp_path):
    return martlet(
        f"""
        listeners: [ {{ address: "unix:{tmp_path}/martlet", timeouts: {{ body: 4s, stalled: 4s }} }} ]
        upstreams:
          default: {{ url: "unix:{upstream.path}" }}
        workers: 1
        interceptors: [ metrics: {{}} ]
        """
    )


class Limits:
    """How often limits were reached that stalled calls reach."""

    def __init__(self, proxy):
        self.proxy = proxy

    def hits(self, limit):
        return self.proxy.metrics().total("martlet_limit_hits_total", limit=limit)

    @property
    def ended(self):
        return sum(map(self.hits, ["body_timeout", "upstream_connections", "stalled"]))

    @property
    def in_flight(self):
        return self.proxy.metrics().total("martlet_rpc_in_flight")


def is_served(proxy, path):
    caller = proxy.connect(timeout=30)
    caller.send(b"GET %s HTTP/1.1\r\nhost: a.example\r\n\r\n" % path)
    return caller.response().status == 200


def test_uploads(proxy):
    limits = Limits(proxy)
    callers = [proxy.connect() for _ in range(HALF)]
    for caller in callers:
        caller.send(b"POST /up HTTP/1.1\r\nhost: a.example\r\ncontent-length: 1000\r\n\r\nabc")
    for _ in range(2):
        http2 = proxy.connect_h2()
        for _ in range(HALF // 2):
            http2.data(http2.open(UPLOAD).id, b"abc")
    assert is_served(proxy, b"/ok")
    eventually(lambda: limits.in_flight == 0, within=30, what="the end of all stalled calls")
    assert limits.ended + limits.hits("waiting") == 2 * HALF


def test_readers(proxy):
    limits = Limits(proxy)
    callers = [proxy.connect() for _ in range(HALF)]
    for caller in callers:
        caller.send(b"GET /much HTTP/1.1\r\nhost: a.example\r\n\r\n")
    for _ in range(2):
        http2 = proxy.connect_h2()
        for _ in range(HALF // 2):
            http2.open(h2_peer.request("/much"), end=True)
    # Until the responses fill the buffers of the callers' sockets, nobody has stalled.
    eventually(lambda: is_served(proxy, b"/ok"), within=30, what="a call that is served")
    eventually(lambda: limits.in_flight == 0, within=30, what="the end of all stalled calls")
    # A connection that closes with an unread response counts again.
    assert limits.ended + limits.hits("waiting") >= 2 * HALF
