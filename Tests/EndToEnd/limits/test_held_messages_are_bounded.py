"""A message that is too large to be held ends its call with resource_exhausted and costs little memory."""

import gzip

import pytest

from support.concurrency import at_once
from support.health import Health
from support.http2 import h2_peer
from support.protocol import RPCProtocol, envelope
from support.raw_call import WAYS, RawCall

pytestmark = pytest.mark.alone

LIMIT = 32 << 10  # so that what is too large still fits a window
CALLS = 24
MEMORY = 12 << 20
CONFIGURATION = """
listeners: [ {{ address: "127.0.0.1:0", limits: {{ held_message: {limit}B }} }} ]
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 200ms }} }} }}
interceptors:
  - metrics: {{}}
  - message: {{ on: request, require: {{ min: 1B }} }}
  - message: {{ on: response, require: {{ min: 1B }} }}
workers: 1
"""
BOMB = gzip.compress(bytes(32 << 20))
STREAMS = ("application/connect+proto", "application/grpc-web+proto", "application/grpc+proto")


def large(kind, packed):
    """The body of a message that is too large: as it is, or a few KiB that become 32 MiB."""
    payload = BOMB if packed else bytes(LIMIT + 1)
    return envelope(1 if packed else 0, payload) if kind in STREAMS else payload


CODINGS = {"application/connect+proto": "connect-content-encoding", "application/proto": "content-encoding"}


class Large(RPCProtocol):
    """A protocol with a message that is too large."""

    def headers(self):
        packed = {CODINGS.get(self.content_type, "grpc-encoding"): "gzip"} if self.name.endswith("packed") else {}
        return super().headers() | packed


def callers(packed):
    for caller, version in WAYS:
        if caller.content_type in (*STREAMS, "application/proto"):
            name = f"{caller.name} {'packed' if packed else ''}".strip()
            body = large(caller.content_type, packed)
            yield Large(name, caller.content_type, body, response_type=caller.response_type), version


@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "packed"])
def test_requests(martlet, h2_recorder, packed):
    upstream = h2_recorder()
    proxy = martlet(CONFIGURATION.format(limit=LIMIT, url=upstream.url))
    health = Health(proxy)
    proxy.reset_peak_memory()
    before = proxy.own_memory()
    for caller, version in callers(packed):
        outcomes = at_once(CALLS // 4, lambda _: RawCall(proxy, caller, version).outcome())
        assert set(outcomes) == {"resource_exhausted"}, (caller, version)
    assert proxy.own_peak_memory() - before < MEMORY
    metrics = proxy.metrics()
    assert metrics.total("martlet_rpc_handled_total", code="resource_exhausted") == CALLS // 4 * len(list(callers(packed)))
    assert metrics.total("martlet_limit_hits_total", limit="held_message") > 0
    assert not any(stream.body for stream in upstream.streams)
    health.check(memory=MEMORY)


@pytest.mark.parametrize("packed", [False, True], ids=["as it is", "packed"])
def test_responses(martlet, h2_recorder, packed):
    def response(peer, stream):
        kind = stream.header("content-type")
        peer.finish(stream)
        coding = [(CODINGS.get(kind, "grpc-encoding"), "gzip")] if packed else []
        peer.headers(stream.id, h2_peer.response(200, ("content-type", kind), *coding))
        peer.data(stream.id, large(kind, packed), end=kind == "application/proto")
        if kind != "application/proto":
            peer.wait(lambda: stream.reset is not None, "a reset")

    upstream = h2_recorder(response)
    proxy = martlet(CONFIGURATION.format(limit=LIMIT, url=upstream.url))
    health = Health(proxy)
    proxy.reset_peak_memory()
    before = proxy.own_memory()
    calls = [way for way in WAYS if way[0].content_type in (*STREAMS, "application/proto")]
    for caller, version in calls:
        assert RawCall(proxy, caller, version).outcome() == "resource_exhausted", (caller, version)
    assert proxy.own_peak_memory() - before < MEMORY
    assert proxy.metrics().total("martlet_limit_hits_total", limit="held_message") > 0
    health.check(memory=MEMORY)
