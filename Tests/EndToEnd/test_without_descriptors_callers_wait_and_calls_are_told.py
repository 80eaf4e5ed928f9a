"""No descriptor is left: new callers wait at no cost, calls that need an upstream connection are told, and the log says why."""

import resource
import time

from support import h2_peer
from support.health import Health
from support.patience import eventually
from support.recorder import OK

LIMIT = 64
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 100ms }} }} }}
interceptors: [ metrics ]
workers: 1
"""


def limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


def test_exhaustion(martlet, recorder):
    upstream = recorder(OK)
    proxy = martlet(CONFIGURATION.format(url=upstream.url), preexec_fn=limit)
    health = Health(proxy)
    first, second = proxy.connect(), proxy.connect_h2()
    first.send(REQUEST)
    assert first.answer().status == 200
    crowd = [proxy.connect() for _ in range(2 * LIMIT)]
    # The connection to the upstream was idle and is gone; what it leaves is taken by one of the crowd.
    eventually(lambda: upstream.connections[0].socket.fileno() < 0, what="the end of the upstream connection")
    eventually(lambda: proxy.open_descriptors() == LIMIT, what="exhaustion")
    first.send(REQUEST)
    refused = first.answer()
    assert (refused.status, b'"unavailable"' in refused.body) == (503, True)
    assert b"Too many open files" in refused.body
    assert second.finish(second.open(h2_peer.request(), end=True)).status == 503
    proxy.stderr.wait(r" warn no descriptor is left: new callers have to wait listener=127.0.0.1:\d+$")
    used, until = proxy.cpu_seconds(), time.monotonic() + 1.0
    eventually(lambda: time.monotonic() > until, what="the end of a second")
    assert proxy.cpu_seconds() - used < 0.1
    assert len(proxy.stderr.matches("no descriptor is left")) == 1  # which is not said ten times a second
    for caller in [*crowd, first, second]:
        caller.close()
    health.check()
    # As long as it takes a listener to look again.
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert proxy.metrics().total("martlet_limit_hits_total", limit="descriptors") > 0
