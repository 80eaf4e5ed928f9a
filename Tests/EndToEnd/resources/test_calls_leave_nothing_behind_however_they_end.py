"""After calls that ended in every way, descriptors, connections and memory are what they were before."""

import pytest

from support import protocol
from support.http1.recorder import OK
from support.wait import eventually

pytestmark = pytest.mark.alone

ROUNDS = 20
HOSTILE = [
    b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
    b"POST /ok HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\nnonsense\r\n",
    b"\x16\x03\x01 nonsense",
]
VANISHING = [
    b"GET /half HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET /never HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET /ok HTTP/1.1\r\nhost: a\r\n\r\nGET /never HTTP/1.1\r\nhost: a\r\n\r\n",
    b"POST /ok HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nhalf",
    b"GET /ok HTTP/1.1\r\nhost:",
]
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams:
  default: {{ url: "{url}", timeouts: {{ first_byte: 50ms, idle: {idle}ms }} }}
  nobody: http://127.0.0.1:1
interceptors:
  - metrics: {{}}
  - headers: {{ request: {{ set: {{ x-call: "{{call.id}}" }} }} }}
  - when: {{ path: /rejected }}
    reject: {{ code: permission_denied }}
routes:
  - match: {{ path: /nobody }}
    upstream: nobody
  - match: {{ path: [/ok, /bad, /gone, /half, /never, /rejected] }}
    upstream: default
"""


def response(peer):
    while request := peer.request():
        match request.target:
            case "/bad":
                return peer.send(b"nonsense\r\n\r\n")
            case "/gone":
                return peer.reset()
            case "/half":
                return peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
            case "/never":
                return peer.rest()
        peer.send(OK)


def one_round(proxy):
    with proxy.http() as http:
        for path in ("/ok", "/bad", "/gone", "/never", "/nobody", "/rejected", "/nowhere"):
            for caller in (protocol.CONNECT_UNARY_JSON, protocol.GRPC_WEB, protocol.PLAIN):
                caller.call(http, path)
    for head in HOSTILE:
        caller = proxy.connect()
        caller.send(head)
        caller.rest()
        caller.close()
    for request in VANISHING:
        caller = proxy.connect()
        caller.send(request)
        caller.reset()


def test_rounds(martlet, recorder):
    upstream = recorder(script=response)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, idle=100))
    descriptors = proxy.open_descriptors()
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
