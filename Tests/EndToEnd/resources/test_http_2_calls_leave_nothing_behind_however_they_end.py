"""After HTTP/2 calls that ended in every way, descriptors, connections and memory are what they were before."""

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually

pytestmark = pytest.mark.alone

ROUNDS = 20
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams:
  default: {{ url: "{url}", timeouts: {{ first_byte: 100ms, idle: {idle}ms }} }}
  nobody: h2c://127.0.0.1:1
workers: 1
interceptors:
  - metrics: {{}}
  - headers: {{ request: {{ set: {{ x-call: "{{call.id}}" }} }}, trailers: {{ set: {{ x-end: "1" }} }} }}
  - when: {{ path: /rejected }}
    reject: {{ code: permission_denied }}
routes:
  - match: {{ path: /nobody }}
    upstream: nobody
  - match: {{ path: [/ok, /trailers, /reset, /refused, /half, /never, /rejected, /gone, /away] }}
    upstream: default
"""
PATHS = ["/ok", "/trailers", "/reset", "/refused", "/half", "/never", "/rejected", "/nobody", "/nowhere", "/away"]


def response(peer, stream):
    match stream.path:
        case "/reset":
            peer.reset(stream.id, h2_peer.INTERNAL_ERROR)
        case "/refused":
            peer.reset(stream.id, h2_peer.REFUSED_STREAM)
        case "/half":
            peer.headers(stream.id, h2_peer.response())
            peer.data(stream.id, b"half")
            peer.reset(stream.id, h2_peer.CANCEL)
        case "/trailers":
            peer.headers(stream.id, h2_peer.response())
            peer.data(stream.id, b"body")
            peer.headers(stream.id, [("grpc-status", "0")], end=True)
        case "/gone":
            peer.abort()
        case "/away":
            peer.go_away(stream.id)
            response_ok(peer, stream)
        case "/ok":
            response_ok(peer, stream)


def one_round(proxy):
    caller = proxy.connect_h2()
    for path in [*PATHS, "/gone"]:
        for fields in (h2_peer.request(path, "POST"), h2_peer.grpc_request(path)):
            call = caller.open(fields)
            caller.data(call.id, b"\x00\x00\x00\x00\x00", end=True)
            caller.finish(call)
    caller.close()
    for end in ("reset", "close", "abort"):
        vanishing = proxy.connect_h2()
        calls = [vanishing.open(h2_peer.request(path, "POST"), end=path == "/never") for path in PATHS]
        if end == "reset":
            for call in calls:
                vanishing.reset(call.id)
            vanishing.finish(vanishing.open(h2_peer.request("/ok"), end=True))
            vanishing.close()
        else:
            getattr(vanishing, end)()
    broken = proxy.connect_h2()
    broken.write(b"\x00\x00\x08\x06\x00\x00\x00\x00\x01pingpong")  # PING on a stream
    broken.wait_for_end().close()


def test_rounds(martlet, h2_recorder):
    upstream = h2_recorder(response)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, idle=100))
    descriptors = proxy.open_descriptors()
    for _ in range(3):
        one_round(proxy)
    proxy.wait_for_rest()
    warm = proxy.own_memory()
    for number in range(ROUNDS):
        one_round(proxy)
        if number % 5 == 0:
            proxy.reload(CONFIGURATION.format(url=upstream.url, idle=100 + number))
    proxy.wait_for_rest()
    eventually(lambda: proxy.open_descriptors() <= descriptors, what="the end of all descriptors")
    assert proxy.own_memory() - warm <= 1 << 20
    assert proxy.metrics().total("martlet_config_generations_live") == 1
