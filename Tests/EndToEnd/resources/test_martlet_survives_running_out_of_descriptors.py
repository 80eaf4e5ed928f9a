"""When every connection has a call and none can be closed, new callers get an error. When some end, others are served."""

import time

import pytest

from resources.descriptors import limited_to
from support.wait import eventually

pytestmark = pytest.mark.alone

LIMIT = 256
CALLERS = LIMIT - 64  # and half of the reserve in need
CONFIGURATION = """
listeners: [ {{ address: "127.0.0.1:0", timeouts: {{ head: 5m }} }} ]
upstream: {url}
workers: {workers}
"""
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"
PART = b"GET / HTTP/1.1\r\nhost:"
FULL = b'{"code":"resource_exhausted","message":"out of file descriptors"}'


def test_exhaustion(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(url=recorder().url, workers=1), **limited_to(LIMIT))
    callers = []

    def counts():
        """How many callers were let in, and how many were rejected."""
        metrics = proxy.metrics()
        return [metrics.total("martlet_connections_accepted_total"), metrics.total("martlet_limit_hits_total", limit="descriptors")]

    def rejected():
        callers.append(proxy.connect())
        callers[-1].send(PART)
        eventually(lambda: sum(counts()) >= len(callers), what="the connection")
        return counts()[1]

    eventually(rejected, within=60, what="the first rejection")
    assert proxy.metrics().total("martlet_connections_evicted_total") == 0
    assert len(callers) == CALLERS + 32 + 1
    response = callers[-1].response()
    assert (response.status, response.body) == (503, FULL)
    assert callers[-1].has_ended()
    proxy.stderr.wait(r"warn file descriptors run short, and no connection is idle; rejecting callers callers=224 limit=256")
    assert proxy.admin("/healthz").status_code == 200
    # The active calls continue.
    for caller in callers[:5]:
        caller.send(b" a.example\r\n\r\n")
        assert caller.response().status == 200
    for caller in callers[5:]:
        caller.close()
    for _ in range(3):
        caller = proxy.connect()
        caller.send(REQUEST)
        assert caller.response().status == 200


def test_two_workers(martlet, recorder):
    """A worker that has no idle connection gets those of the other closed."""
    proxy = martlet(CONFIGURATION.format(url=recorder().url, workers=2), **limited_to(LIMIT))
    idle = [proxy.connect() for _ in range(120)]
    busy = []
    while proxy.metrics().total("martlet_connections_evicted_total") < 120:
        busy.append(proxy.connect())
        busy[-1].send(PART)
        assert len(busy) < 230
        # Idle connections are closed now and then, and a burst in between may use half of the reserve.
        soon = time.monotonic() + 0.03
        eventually(lambda: time.monotonic() > soon, what="a moment")
    assert all(caller.has_ended() for caller in idle)
    assert proxy.metrics().total("martlet_limit_hits_total") == 0
