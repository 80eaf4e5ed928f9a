"""After the upstream has failed, Martlet discards what the caller still sends, however long the response is on its way."""

import threading

import pytest

from support.http2 import h2_peer
from support.protocol import envelope

pytestmark = pytest.mark.alone

MIB = 1 << 20
WHOLE = 32 * MIB
LIMIT = 4 * MIB
GRPC = ("content-type", "application/grpc")
# So slowly that the response is on its way for the rest of the test.
CONFIGURATION = """
listen: 127.0.0.1:0
upstream: "{url}"
workers: 1
interceptors:
  - fault: {{ throttle: 1KiB }}
"""


def test_a_stream_both_ways(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, GRPC))
        peer.data(stream.id, envelope(0, bytes(100)) * 400)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)
        failed.set()

    failed = threading.Event()
    upstream = h2_recorder(response)
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.grpc_request("/pkg.Service/Say"))
    caller.wait(lambda: call.body, "a message of the response")
    assert failed.wait(5)
    proxy.reset_peak_memory()
    before = proxy.own_memory()
    block = bytes(16384)
    for _ in range(WHOLE // len(block)):
        caller.data(call.id, block)
    assert proxy.own_peak_memory() - before <= LIMIT
    assert not call.is_over
    caller.reset(call.id)
