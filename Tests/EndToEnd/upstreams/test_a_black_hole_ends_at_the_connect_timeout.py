"""An upstream that never completes a connection costs the caller `timeouts.connect` and no more."""

import time

import pytest

from support import protocol

pytestmark = pytest.mark.alone


def test_connect_timeout(martlet, black_hole):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          default: {{ url: "http://127.0.0.1:{black_hole}", timeouts: {{ connect: 200ms }} }}
        """
    )
    with proxy.http() as http:
        began = time.monotonic()
        response = protocol.CONNECT_UNARY_JSON.call(http)
        assert 0.15 < time.monotonic() - began < 2.0
        assert (response.status_code, response.json()["code"]) == (503, "unavailable")
        stream = protocol.CONNECT_STREAM_JSON.call(http)
        assert (stream.status_code, stream.content[0]) == (200, 2)
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="connect_timeout") == 2
