"""What came over one version of HTTP is served over the other, whole and in its form."""

import pytest
from cache.origin import FRESH, numbered, response
from support.http2 import h2_peer


def over_1(proxy, path="/", **fields):
    with proxy.http(headers={"host": "a.example"} | fields) as http:
        got = http.get(path)
    return got.status_code, got.content


def over_2(proxy, path="/", **fields):
    peer = proxy.connect_h2()
    stream = peer.finish(peer.open(h2_peer.request(path, "GET", *fields.items()), end=True))
    return stream.status, bytes(stream.body)


@pytest.mark.parametrize("first, second", [(over_1, over_2), (over_2, over_1), (over_2, over_2)])
@pytest.mark.parametrize("size", [0, 1, 300_000], ids=str)
def test_a_hit(cached, recorder, first, second, size):
    body = bytes(number % 251 for number in range(size))
    upstream = recorder(lambda request: response(body, FRESH))
    proxy = cached(upstream)
    assert first(proxy) == second(proxy) == (200, body)
    assert len(upstream.requests) == 1


def test_an_http_2_upstream(cached, h2_recorder):
    def send(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("cache-control", "max-age=60"), ("x-own", "1")))
        peer.data(stream.id, b"body", end=True)

    upstream = h2_recorder(send)
    proxy = cached(upstream)
    assert over_1(proxy) == over_2(proxy) == over_1(proxy) == (200, b"body")
    assert len(upstream.streams) == 1


def test_the_fields_of_a_hit(cached, recorder):
    """No field of a connection comes along, and names are in lower case."""
    upstream = recorder(numbered("Cache-Control: max-age=60", "Connection: x-hop", "X-Hop: 1", "Keep-Alive: timeout=5", "X-Own: 1"))
    proxy = cached(upstream)
    over_1(proxy)
    peer = proxy.connect_h2()
    stream = peer.finish(peer.open(h2_peer.request("/"), end=True))
    names = {name for name, _ in stream.fields}
    assert {b"x-own", b"age", b"cache-control", b"content-length"} <= names
    assert not names & {b"connection", b"keep-alive", b"x-hop", b"transfer-encoding"}


def test_many_streams_of_one_connection(cached, recorder):
    body = b"x" * 50_000
    upstream = recorder(lambda request: response(body, FRESH))
    proxy = cached(upstream)
    peer = proxy.connect_h2()
    streams = [peer.open(h2_peer.request("/"), end=True) for _ in range(100)]
    assert all(bytes(peer.finish(stream).body) == body for stream in streams)
    assert len(upstream.requests) == 1


def test_a_reader_that_stalls_delays_no_other(cached, recorder):
    """A hit larger than the windows waits for its reader, and the worker does not."""
    body = b"x" * 900_000
    upstream = recorder(lambda request: response(body, FRESH))
    proxy = cached(upstream, file={"workers": 1})
    assert over_1(proxy) == (200, body)
    stalled = proxy.connect_h2(reading=False)
    stream = stalled.open(h2_peer.request("/"), end=True)
    stalled.wait(lambda: stream.body, "the first bytes")
    assert over_2(proxy) == (200, body)
    assert len(stream.body) < len(body)


def test_pipelined_requests(cached, recorder):
    upstream = recorder(numbered(FRESH))
    caller = cached(upstream).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n" * 10)
    assert [caller.response().body for _ in range(10)] == [b"1"] * 10


def test_http_1_0(cached, recorder):
    proxy = cached(recorder(numbered(FRESH)))
    for _ in range(2):
        caller = proxy.connect()
        caller.send(b"GET / HTTP/1.0\r\nhost: a.example\r\n\r\n")
        assert caller.response().body == b"1"
