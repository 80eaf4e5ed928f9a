"""Bodies of a few KiB that become millions of values in JSON take little memory, and others are served meanwhile."""

import gzip
import json

import pytest

from support.http1.peer import connect
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.protocol import envelope
from support.schemas import compiled
from support.wait import eventually

pytestmark = pytest.mark.alone

MIB = 1 << 20
SIZE = 4 * MIB - 64
# Beside the message as it arrives: four times its size while it is read, and what the allocator does not give back.
MEMORY = 44 * MIB
CONFIGURATION = """
listen: 127.0.0.1:0
workers: 1
upstream: {url}
mocks:
  orders: {{ service: t.Mock, methods: {{ Get: [ {{ when: {{ json: {{ /z: absent }} }}, respond: {{ json: {{ found: true }} }} }} ] }} }}
  plain: {{ rules: [ {{ when: {{ url: /mock, json: {{ /z: absent }} }}, respond: {{ status: 204 }} }} ] }}
calls: {{ api: {{ url: "{url}/json", limit: 4MiB }} }}
chains:
  logged: [ log: {{ to: {directory}/access.log }} ]
  rules: [ message: {{ on: request, require: {{ json: {{ /z: absent }} }} }} ]
  reject: [ include: logged, message: {{ on: request, require: {{ json: {{ /z: present }} }} }} ]
  bystander: [ include: logged, respond: {{ status: 204 }} ]
  set: [ message: {{ on: request, set: {{ /x: 1 }} }} ]
  mock: [ mock: orders ]
  plain: [ mock: plain ]
  call: [ call: {{ name: api, result: "json:/7" }} ]
  validate: [ validate: {{ rules: [ {{ when: {{ json: {{ /z: present }} }}, fail: {{ code: aborted }} }} ] }} ]
  record: [ redact: {{ json: [ /z ] }}, record: {{ to: {directory}/tape.yaml, messages: 4MiB, document: 8MiB }} ]
routes:
  - {{ match: {{ service: t.Rules }}, chain: rules }}
  - {{ match: {{ service: t.Reject }}, chain: reject }}
  - {{ match: {{ path: /bystander }}, chain: bystander }}
  - {{ match: {{ service: t.Set }}, chain: set }}
  - {{ match: {{ service: t.Mock }}, chain: mock }}
  - {{ match: {{ path: /mock }}, chain: plain }}
  - {{ match: {{ path: /call }}, chain: call }}
  - {{ match: {{ path: /json }}, chain: validate }}
  - {{ match: {{ service: t.Record }}, chain: record }}
  - {{}}
"""
SCHEMA = """
syntax = "proto3";
package t;
message M { repeated M parts = 1; repeated int32 numbers = 2; string x = 3; string z = 4; bool found = 5; }
service Rules { rpc Get(M) returns (M); }
service Set { rpc Get(M) returns (M); }
service Mock { rpc Get(M) returns (M); }
service Record { rpc Get(M) returns (M); }
"""
TYPED = [
    ("application/json", b'{"parts":[' + b",".join([b"{}"] * (SIZE // 3 - 8)) + b"]}"),
    ("application/grpc+json", b'{"numbers":[' + b",".join([b"1"] * (SIZE // 2 - 8)) + b"]}"),
    ("application/grpc", b"\x0a\x00" * (SIZE // 2)),
    ("application/grpc-web+proto", b"\x10\x01" * (SIZE // 2)),
]
STREAMS = 40
OTHERS = 5


def body(part):
    return b"[" + b",".join([part] * (SIZE // (len(part) + 1))) + b"]"


PLAIN = {name: body(part) for name, part in {"ones": b"1", "arrays": b"[]", "objects": b'{"":0}'}.items()}
SHAPES = {name: gzip.compress(plain, 9) for name, plain in PLAIN.items()}
CALLS = [
    ("/t.Rules/Get", "application/json"),
    ("/t.Rules/Get", "application/connect+json"),
    ("/t.Set/Get", "application/json"),
    ("/t.Mock/Get", "application/json"),
    ("/t.Mock/Get", "application/grpc-web+json"),
    ("/mock", "application/json"),
    ("/call", "application/json"),
    ("/json", "application/json"),
    ("/t.Record/Get", "application/json"),
]


def respond(request):
    """A response of a few KiB for those that read it, and an empty one for others."""
    if request.target != "/json":
        return OK
    packed = SHAPES["ones"]
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n"
    return head.format(len(packed)).encode() + packed


def fields(path, kind):
    coding = {"application/json": "content-encoding", "application/connect+json": "connect-content-encoding"}.get(kind)
    more = [("connect-protocol-version", "1")] if kind == "application/json" else []
    return [("content-type", kind), (coding or "grpc-encoding", "gzip"), *more]


def packed(kind, shape):
    return SHAPES[shape] if kind == "application/json" else envelope(1, SHAPES[shape])


@pytest.fixture
def proxy(martlet, recorder, tmp_path):
    return martlet(CONFIGURATION.format(url=recorder(respond).url, directory=tmp_path))


def send(caller, path, kind, shape):
    # Mocks and named calls read no compressed bodies of plain HTTP.
    is_rpc = path.startswith("/t.")
    content = packed(kind, shape) if is_rpc else b"{}" if path == "/call" else PLAIN[shape]
    head = "".join(f"{name}: {value}\r\n" for name, value in (fields(path, kind) if is_rpc else [("content-type", kind)]))
    caller.send(f"POST {path} HTTP/1.1\r\nhost: a\r\n{head}content-length: {len(content)}\r\n\r\n".encode() + content)


def call_http1(proxy, path, kind, shape):
    caller = connect(proxy.address)
    send(caller, path, kind, shape)
    status = caller.response().status
    caller.reset()
    return status


def call_http2(caller, path, kind, shape):
    is_rpc = path.startswith("/t.")
    content = packed(kind, shape) if is_rpc else b"{}" if path == "/call" else PLAIN[shape]
    stream = caller.open(h2_peer.request(path, "POST", *(fields(path, kind) if is_rpc else [("content-type", kind)])))
    caller.data(stream.id, content, end=True)
    caller.wait(lambda: stream.is_over)
    return stream


def wait_for_release(proxy):
    eventually(lambda: proxy.metrics().total("martlet_held_memory_bytes") == 0, what="the memory given back")


def test_each_reader(proxy):
    for shape in SHAPES:
        for path, kind in CALLS:
            proxy.reset_peak_memory()
            before = proxy.own_memory()
            assert call_http1(proxy, path, kind, shape) in (200, 204, 500), (path, kind, shape)
            assert proxy.own_peak_memory() - before < MEMORY, (path, kind, shape)
    wait_for_release(proxy)


@pytest.mark.parametrize("container", [32, 64, 128])
def test_each_reader_fits_a_small_container(martlet, recorder, tmp_path, container):
    """By default half of a container's memory is for what is held; the process never takes the rest."""
    text = CONFIGURATION.format(url=recorder(respond).url, directory=tmp_path)
    proxy = martlet(text + f"limits: {{ memory: {container // 2}MiB }}\n")
    caller = proxy.connect_h2()
    caller.wait(lambda: caller.settings_are_known)
    proxy.reset_peak_memory()
    for shape in SHAPES:
        for path, kind in CALLS:
            assert call_http1(proxy, path, kind, shape) in (200, 204, 429, 500, 503), (path, kind, shape)
            # The peer of these tests sends no more than a window.
            if path != "/mock":
                assert call_http2(caller, path, kind, shape).reset is None, (path, kind, shape)
            assert call_http1(proxy, "/", "application/json", "ones") in (200, 429, 503)
    assert proxy.own_peak_memory() < container * MIB
    wait_for_release(proxy)


@pytest.mark.parametrize("container", [32, 64, 128])
def test_typed_messages_fit_a_small_container(martlet, recorder, tmp_path, container):
    (tmp_path / "t.proto").write_text(SCHEMA)
    schema = tmp_path / "t.binpb"
    schema.write_bytes(compiled(tmp_path, "t.proto"))
    text = CONFIGURATION.format(url=recorder(respond).url, directory=tmp_path)
    proxy = martlet(text + f"types: {{ files: [{schema}] }}\nlimits: {{ memory: {container // 2}MiB }}\n")
    caller = proxy.connect_h2()
    caller.wait(lambda: caller.settings_are_known)
    proxy.reset_peak_memory()
    for kind, message in TYPED:
        for path in ("/t.Rules/Get", "/t.Set/Get", "/t.Mock/Get", "/t.Record/Get"):
            stream = caller.open(h2_peer.request(path, "POST", *fields(path, kind)))
            content = gzip.compress(message, 9)
            caller.data(stream.id, content if kind == "application/json" else envelope(1, content), end=True)
            caller.wait(lambda stream=stream: stream.is_over)
            assert stream.reset is None, (path, kind)
            assert call_http1(proxy, "/", "application/json", "ones") in (200, 429, 503)
    assert proxy.own_peak_memory() < container * MIB
    wait_for_release(proxy)


@pytest.mark.parametrize("kind", ["application/json", "application/connect+json"])
def test_others_have_their_turn(proxy, kind):
    """One write has the messages of 40 streams, and another caller does not wait for all of them."""
    caller, bystander = proxy.connect_h2(), connect(proxy.address)
    caller.wait(lambda: caller.settings_are_known)
    streams = [caller.open(h2_peer.request("/t.Reject/Get", "POST", *fields("/t.Reject/Get", kind))) for _ in range(STREAMS)]
    written = []
    caller.write = written.append
    for stream in streams:
        caller.data(stream.id, packed(kind, "ones"), end=True)
    del caller.write
    proxy.reset_peak_memory()
    before = proxy.own_memory()
    caller.write(b"".join(written))
    for _ in range(OTHERS):
        bystander.send(b"GET /bystander HTTP/1.1\r\nhost: a\r\n\r\n")
        assert bystander.response().status == 204
    caller.wait(lambda: all(stream.is_over for stream in streams))
    assert proxy.own_peak_memory() - before < MEMORY
    log = proxy.directory / "access.log"
    eventually(lambda: log.read_text().count("\n") == STREAMS + OTHERS, what="a line of each call")
    lines = [json.loads(line)["path"] for line in log.read_text().splitlines()]
    # All of them have ended before most of the messages were read.
    assert lines.index("/bystander") < STREAMS // 2 and "/bystander" not in lines[-STREAMS // 4 :]
    wait_for_release(proxy)


def test_beyond_the_limit_the_call_ends_with_its_name(martlet, recorder, tmp_path):
    text = CONFIGURATION.format(url=recorder(respond).url, directory=tmp_path)
    proxy = martlet(text + "limits: { memory: 12MiB }\n")
    caller = connect(proxy.address)
    send(caller, "/t.Rules/Get", "application/json", "ones")
    response = caller.response()
    assert json.loads(response.body) == {
        "code": "resource_exhausted",
        "message": "message 1 of the request cannot be read: the JSON takes more memory than limits.memory has left",
    }
    assert proxy.metrics().total("martlet_limit_hits_total", limit="memory") == 1
    # Others are served.
    assert call_http1(proxy, "/", "application/json", "objects") == 200
    wait_for_release(proxy)
