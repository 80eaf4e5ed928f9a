"""The metrics show how many connections an upstream has, with and without calls, and how many calls wait for one."""

import threading

from support.http1.recorder import OK
from support.wait import eventually

NONE = (0, 0, 0)


def configuration(*upstreams):
    limits = "limits: { connections: 2 }, timeouts: { idle: 1h }"
    items = "".join(f"  {name}: {{ url: {url}, {limits} }}\n" for name, url in upstreams)
    return f"listen: 127.0.0.1:0\nworkers: 1\nupstreams:\n{items}routes: [ {{ upstream: {upstreams[0][0]} }} ]\n"


def pool(proxy, upstream):
    """The idle and the active connections of an upstream, and the calls that wait; None if it is not shown."""
    metrics = proxy.metrics()
    states = {
        labels["state"]: value
        for labels, value in metrics.select("martlet_upstream_connections", upstream=upstream)
    }
    waiting = [value for _, value in metrics.select("martlet_upstream_waiting", upstream=upstream)]
    return (states["idle"], states["active"], waiting[0]) if states or waiting else None


def test_connections_and_calls_that_wait(martlet, recorder):
    may_respond = threading.Event()

    def response(_):
        may_respond.wait(30)
        return OK

    first = ("one", recorder(response=response).url)
    second = ("two", recorder().url)
    proxy = martlet(configuration(first, second))
    assert (pool(proxy, "one"), pool(proxy, "two")) == (NONE, NONE)
    callers = [proxy.connect() for _ in range(5)]
    try:
        for caller in callers:
            caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        eventually(lambda: pool(proxy, "one") == (0, 2, 3))
        assert pool(proxy, "two") == NONE
    finally:
        may_respond.set()
    eventually(lambda: pool(proxy, "one") == (2, 0, 0))
    for caller in callers:
        caller.close()
    proxy.reload(configuration(second))
    assert pool(proxy, "one") is None
    assert pool(proxy, "two") == NONE
    # What was counted of it stays.
    assert proxy.metrics().total("martlet_upstream_attempts_total", upstream="one", result="ok") == 5
