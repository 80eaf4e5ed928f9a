"""A head must be complete within `timeouts.head`. An idle connection may stay open for `timeouts.idle`."""

import pytest

pytestmark = pytest.mark.waits

CONFIGURATION = """
listeners:
  - address: 127.0.0.1:0
    timeouts: {{ head: 200ms, idle: 1s }}
upstream: {url}
"""


def test_408(martlet, recorder):
    upstream = recorder()
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nHost: a.ex")
    assert caller.response().status == 408
    assert caller.has_ended()
    assert upstream.bytes == b""
    assert proxy.metrics().total("martlet_limit_hits_total", limit="head_timeout") == 1


def test_an_idle_connection_is_closed_without_a_response(martlet, recorder):
    upstream = recorder()
    caller = martlet(CONFIGURATION.format(url=upstream.url)).connect()
    caller.send(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
    assert caller.response().status == 200
    assert caller.has_ended()
