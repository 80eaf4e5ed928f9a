"""When a response breaks off, the caller gets all that had come of it, and then the reset."""

import pytest
from support.http2 import h2_peer

MESSAGE = b"\0\0\0\0\x05hello"
CUT = b"\0\0\0\0\x64world"
LARGE = bytes(range(256)) * 2000

CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"
TYPES = ("text/plain", "application/grpc-web+proto", "application/connect+proto")


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


# What follows the chunks of the message in the same write, and ends the connection to the upstream.
FAULTS = {"a cut message": chunk(CUT), "a malformed chunk": b"zz\r\n", "half a chunk": b"64\r\nworld", "nothing": b""}


def by_http1(caller, kind):
    caller.send(b"POST /a.B/C HTTP/1.1\r\nhost: a\r\ncontent-type: %s\r\ncontent-length: 0\r\n\r\n" % kind)
    data = caller.rest()
    assert data.startswith(b"HTTP/1.1 200 ")
    assert not data.endswith(b"0\r\n\r\n")
    return data


def by_http2(caller, kind):
    call = caller.open(h2_peer.request("/a.B/C", "POST", ("content-type", kind.decode())), end=True)
    caller.finish(call)
    assert (call.status, call.reset is not None) == (200, True)
    return bytes(call.body)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", TYPES)
def test_http_1_upstream(martlet, recorder, kind, fault):
    kind = kind.encode()
    if fault in ("nothing", "a malformed chunk") and kind != b"text/plain":
        pytest.skip("between two messages, a response ends in its own protocol")
    response = CHUNKED % kind + chunk(MESSAGE) + FAULTS[fault]
    proxy = martlet(upstream=recorder(script=lambda peer: (peer.head(), peer.send(response))).url)
    # Many times, since what is lost may be lost only sometimes.
    for _ in range(10):
        assert b"hello" in by_http1(proxy.connect(), kind)
        assert b"hello" in by_http2(proxy.connect_h2(), kind)


@pytest.mark.parametrize("kind", [*TYPES, "application/grpc"])
@pytest.mark.parametrize("body", [MESSAGE + CUT, LARGE])
def test_http_2_upstream(martlet, h2_recorder, kind, body):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-type", kind)))
        peer.data(stream.id, body)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)

    proxy = martlet(upstream=h2_recorder(response).url)
    for _ in range(5):
        assert by_http2(proxy.connect_h2(), kind.encode()) == body
        if kind != "application/grpc":
            assert b"hello" in by_http1(proxy.connect(), kind.encode()) or body is LARGE


def test_a_script_that_resets_at_once(martlet):
    script = "[ { headers: { x-a: b } }, { send: { text: part } }, { reset: true } ]"
    proxy = martlet(
        f"""
listen: 127.0.0.1:0
upstream: http://127.0.0.1:1
mocks: {{ m: {{ rules: [ {{ when: {{ path: / }}, script: {script} }} ] }} }}
interceptors: [ {{ mock: m }} ]
"""
    )
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    data = caller.rest()
    assert data.startswith(b"HTTP/1.1 200 ") and b"part" in data
    new = proxy.connect_h2()
    call = new.finish(new.open(h2_peer.request(), end=True))
    assert (call.status, bytes(call.body), call.reset) == (200, b"part", h2_peer.INTERNAL_ERROR)


def test_a_caller_that_reads_nothing_does_not_hold_the_stream(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"x" * 50000)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)

    upstream = h2_recorder(response)
    limits = "listeners: [ { address: 127.0.0.1:0, timeouts: { stalled: 300ms } } ]"
    proxy = martlet(f"{limits}\nupstream: {upstream.url}\n")
    caller = proxy.connect_h2(settings={h2_peer.SettingsFrame.INITIAL_WINDOW_SIZE: 100}, reading=False)
    call = caller.open(h2_peer.request(), end=True)
    caller.finish(call)
    assert (len(call.body), call.reset) == (100, h2_peer.CANCEL)
    proxy.stderr.wait("limit=slow_reader")
