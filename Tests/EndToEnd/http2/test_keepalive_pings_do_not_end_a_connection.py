"""A gRPC client that pings ten times a second, with and without calls, keeps its connection and its streams."""

import queue
import time

from hyperframe.frame import PingFrame
import pytest

from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.waits

KEEPALIVE = [
    ("grpc.keepalive_time_ms", 100),
    ("grpc.keepalive_timeout_ms", 2000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
]


def test_the_published_client(martlet, grpc_service, grpc_channel):
    proxy = martlet(upstream=grpc_service().url)
    channel = grpc_channel(proxy, options=KEEPALIVE)
    requests = queue.SimpleQueue()
    call = channel.converse(iter(requests.get, None), timeout=30)
    requests.put(b"first")
    assert next(call) == b"first"
    until = time.monotonic() + 2.5
    eventually(lambda: time.monotonic() > until, within=5)  # the pings need their time
    requests.put(b"second")
    assert next(call) == b"second"
    requests.put(None)
    assert list(call) == []
    assert channel.unary(b"third", timeout=5) == b"third"


def test_each_ping_is_acknowledged(martlet, h2_recorder):
    caller = martlet(upstream=h2_recorder().url).connect_h2()
    for number in range(50):
        caller.send(PingFrame(0, b"%08d" % number))
        caller.wait(lambda: len(caller.pings) == number + 1, "the response to a ping")
    assert caller.pings == [b"%08d" % number for number in range(50)]
    call = caller.finish(caller.open(h2_peer.request(), end=True))
    assert (call.status, call.body, caller.goaway) == (200, b"ok", None)
