"""A caller that waits for 100 (Continue) gets one from Martlet wherever the request is held until its body comes."""

import gzip

import pytest
from support.http1.recorder import JSON
from support.http2 import h2_peer

# The chain of a route, and whether it holds a unary request of Connect before its body.
CHAINS = {
    "bytes": "",
    "head": "{ headers: { request: { set: { x-a: b } } } }",
    "limit": "{ limit: { message: 1MiB } }",
    "message": "{ message: { on: request, require: { max: 1MiB }, text: too large } }",
    "rpc-cache": "{ cache: { in: small, rpc: { methods: [a.B/*], ttl: 30s } } }",
    "record": "{ record: RECORD }",
    "throttle": "{ fault: { throttle: 10MiB } }",
    "delay": "{ fault: { delay: 1ms, throttle: 10MiB } }",
    "mock": "{ mock: small }",
    "redact-record": "{ redact: { json: [/password] } }, { record: RECORD2 }",
    "validate": "{ validate: { max_retries: 1, rules: [ { when: { json: { /busy: true } }, retry: { delayed: 1ms } } ] } }",
    "two": "{ fault: { throttle: 10MiB } }, { limit: { message: 1MiB } }",
}
BODY = b"{}"


@pytest.fixture
def proxy(martlet, recorder, tmp_path):
    def script(peer):
        while b"content-length" in (head := peer.head().lower()):
            heads.append(head)
            if b"expect: 100-continue" in head:
                peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            peer.read_exactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
            peer.send(JSON)

    heads = []
    url = recorder(script=script).url
    routes = [
        f"- {{ match: {{ header: {{ x-chain: {name} }} }}, upstream: default, chain: [ {chain} ] }}"
        for name, chain in CHAINS.items()
    ]
    routes = "\n".join(routes).replace("RECORD2", f"{tmp_path}/two.yaml").replace("RECORD", f"{tmp_path}/one.yaml")
    proxy = martlet(
        f"""
listen: 127.0.0.1:0
upstreams:
  default: {url}
  unpacked: {{ url: "{url}", compressions: [] }}
  web: {{ url: "{url}", speaks: grpc_web }}
caches: {{ small: {{ bytes: 1MiB, object: 64KiB }} }}
mocks:
  small: {{ methods: {{ a.B/*: [ {{ when: {{ json: {{ /a: absent }} }}, respond: {{ json: {{}} }} }} ] }} }}
routes:
- {{ match: {{ path: /a.B/Unpacked }}, upstream: unpacked, chain: [] }}
- {{ match: {{ path: /a.B/Translated }}, upstream: web, chain: [] }}
{routes}
"""
    )
    proxy.heads = heads
    return proxy


def fields(chain, body):
    return [("content-type", "application/json"), ("x-chain", chain), ("content-length", str(len(body)))]


@pytest.mark.parametrize("chain", CHAINS)
def test_http_1(proxy, chain):
    head = "".join(f"{name}: {value}\r\n" for name, value in fields(chain, BODY)).encode()
    head = b"POST /a.B/C HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n" + head + b"\r\n"
    caller = proxy.connect()
    caller.send(head)
    assert caller.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    asked = len(proxy.heads)
    caller.send(BODY)
    response = caller.response("POST")
    assert (response.status, response.informational) == (200, [])
    # What is not held asks the upstream, and what is held has the body when it goes there.
    assert asked == (1 if chain in ("bytes", "head", "validate") else 0)
    assert all((b"\r\nexpect:" in head) == bool(asked) for head in proxy.heads)
    # The connection goes on: Martlet knows that the body has come.
    caller.send(head.replace(b"expect: 100-continue\r\n", b"") + BODY)
    assert caller.response("POST").status == 200


@pytest.mark.parametrize("chain", CHAINS)
def test_http_2(proxy, chain):
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.request("/a.B/C", "POST", ("expect", "100-continue"), *fields(chain, BODY)))
    caller.wait(lambda: call.heads)
    assert call.heads == [[(b":status", b"100")]]
    caller.data(call.id, BODY, end=True)
    assert caller.finish(call).status == 200
    assert len(call.informational) == 1


@pytest.mark.parametrize(("path", "body", "more"), [
    ("/a.B/Unpacked", gzip.compress(BODY, mtime=0), b"content-encoding: gzip\r\n"),
    ("/a.B/Translated", BODY, b"connect-protocol-version: 1\r\n"),
], ids=["decompressed", "translated"])
def test_what_changes_the_body_for_the_upstream(proxy, path, body, more):
    caller = proxy.connect()
    lines = b"host: a\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % len(body)
    caller.send(b"POST " + path.encode() + b" HTTP/1.1\r\n" + lines + more + b"\r\n")
    assert caller.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
    caller.send(body)
    caller.response("POST")
    assert proxy.heads and b"expect:" not in proxy.heads[0]


@pytest.mark.parametrize("chain", ["limit", "mock", "rpc-cache"])
def test_a_rejection_comes_without_it(martlet, chain):
    proxy = martlet(
        f"""
listen: 127.0.0.1:0
upstream: http://127.0.0.1:1
caches: {{ small: {{ bytes: 1MiB, object: 64KiB }} }}
mocks: {{ small: {{ methods: {{ a.B/*: [ {{ when: {{ json: {{ /a: absent }} }}, respond: {{ json: {{}} }} }} ] }} }} }}
interceptors: [ {{ reject: {{ code: permission_denied }} }}, {CHAINS[chain]} ]
"""
    )
    caller = proxy.connect()
    caller.send(b"POST /a.B/C HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n")
    response = caller.response("POST")
    assert (response.status, response.informational) == (403, [])


def test_a_request_without_a_body_expects_nothing(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    assert caller.finish(caller.open(h2_peer.request("/", "GET", ("expect", "100-continue")), end=True)).status == 200
    assert upstream.streams[0].header("expect") is None
