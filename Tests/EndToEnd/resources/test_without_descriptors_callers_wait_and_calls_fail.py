"""No descriptor is left and no connection is idle: calls that need an upstream connection fail cheaply, and the log says why."""

import resource
import select
import threading
import time

import pytest

from resources.descriptors import limited_to
from support.health import Health
from support.http1.recorder import OK
from support.wait import eventually

pytestmark = pytest.mark.alone

LIMIT = 128
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 100ms }} }} }}
interceptors: [ metrics ]
workers: 1
"""


def test_calls(martlet, recorder):
    """Each call uses two descriptors, so that all are used before callers have their share; the last ones are reserved."""
    resume = threading.Event()

    def script(peer):
        while peer.request():
            resume.wait(30)
            peer.send(OK)

    proxy = martlet(CONFIGURATION.format(url=recorder(script=script).url), **limited_to(LIMIT))
    health = Health(proxy)
    late = [proxy.connect() for _ in range(4)]
    for caller in late:
        caller.send(REQUEST[:10])
    callers = []

    def rejected():
        callers.append(proxy.connect())
        callers[-1].send(REQUEST)
        return proxy.metrics().total("martlet_limit_hits_total", limit="descriptors")

    eventually(rejected, within=60, what="the first caller too many")
    assert callers.pop().response().status == 503
    for caller in late:
        caller.send(REQUEST[10:])
    # Callers that got an error are idle, and make room for others.
    readable = eventually(lambda: select.select([caller.socket for caller in late], [], [], 0)[0], what="a response")
    response = next(caller for caller in late if caller.socket is readable[0]).response()
    assert (response.status, b'"unavailable"' in response.body) == (503, True)
    assert b"Too many open files" in response.body
    assert proxy.admin("/healthz").status_code == 200
    resume.set()
    assert [caller.response().status for caller in callers].count(200) >= len(callers) - 1
    for caller in [*callers, *late]:
        caller.close()
    health.check()


def test_accepting(martlet, recorder):
    """The system withdraws descriptors: new callers wait in the queue, which Martlet checks ten times a second."""
    proxy = martlet(CONFIGURATION.format(url=recorder(OK).url), **limited_to(LIMIT))
    health = Health(proxy)
    first = proxy.connect()
    first.send(b"GET / HTTP/1.1\r\n")
    eventually(lambda: proxy.metrics().total("martlet_connections") == 1, what="the first caller")
    resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (0, LIMIT))
    second = proxy.connect()
    second.send(REQUEST)
    proxy.stderr.wait(r" warn out of file descriptors; not accepting connections listener=127.0.0.1:\d+$")
    used, until = proxy.cpu_seconds(), time.monotonic() + 1.0
    eventually(lambda: time.monotonic() > until, what="the end of a second")
    assert proxy.cpu_seconds() - used < 0.1
    assert len(proxy.stderr.matches("out of file descriptors")) == 1  # which is not logged ten times a second
    resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
    assert second.response().status == 200
    assert proxy.metrics().total("martlet_limit_hits_total", limit="descriptors") > 5
    first.close()
    second.close()
    health.check()
