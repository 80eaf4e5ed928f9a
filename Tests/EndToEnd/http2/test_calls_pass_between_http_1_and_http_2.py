"""Callers of one HTTP version reach upstreams of the other, with bodies of every kind, trailers and interim responses."""

import threading

import pytest

from support.http2 import h2_peer

BODY = bytes(range(256)) * 1000


def echo(peer, stream):
    """Responds with what it was sent, trailers included; without a length on request."""
    peer.finish(stream)
    is_sized = stream.path != "/no-length" and not stream.trailers
    length = [("content-length", str(len(stream.body)))] if is_sized else []
    has_body = stream.header(":method") != "HEAD"
    peer.headers(stream.id, h2_peer.response(200, ("x-method", stream.header(":method")), *length), end=not has_body)
    if has_body:
        peer.data(stream.id, bytes(stream.body), end=not stream.trailers)
    if stream.trailers:
        peer.headers(stream.id, stream.trailers, end=True)


@pytest.fixture
def upstream(h2_recorder):
    return h2_recorder(echo)


def post(body, *fields, path=b"/"):
    return b"\r\n".join([b"POST %s HTTP/1.1" % path, b"host: a.example", *fields, b"", body])


def test_a_body_of_known_length(martlet, upstream):
    caller = martlet(upstream=upstream.url).connect()
    for _ in range(2):
        caller.send(post(BODY, b"content-length: %d" % len(BODY)))
        response = caller.response("POST")
        assert (response.status, response.header("content-length"), response.body) == (200, str(len(BODY)), BODY)
    seen = upstream.streams[0]
    assert (seen.header("content-length"), seen.header("transfer-encoding")) == (str(len(BODY)), None)


def test_chunks_and_trailers(martlet, upstream):
    caller = martlet(upstream=upstream.url).connect()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:1], BODY[1:5000], BODY[5000:]))
    caller.send(post(chunks + b"0\r\nx-sum: 5\r\n\r\n", b"transfer-encoding: chunked", b"te: trailers"))
    response = caller.response("POST")
    assert (response.status, response.body) == (200, BODY)
    assert ("x-sum", "5") in response.trailers
    seen = upstream.streams[0]
    assert (seen.body, seen.trailers) == (BODY, [(b"x-sum", b"5")])
    assert seen.header("transfer-encoding") is None and seen.header("connection") is None
    assert seen.header("content-length") is None


def test_a_response_of_unknown_length_is_chunked(martlet, upstream):
    proxy = martlet(upstream=upstream.url)
    caller = proxy.connect()
    caller.send(post(b"hello", b"content-length: 5", path=b"/no-length"))
    response = caller.response("POST")
    assert (response.header("transfer-encoding"), response.body) == ("chunked", b"hello")
    caller.send(b"POST /no-length HTTP/1.0\r\nhost: a.example\r\ncontent-length: 5\r\n\r\nhello")
    old = caller.rest()
    assert old.startswith(b"HTTP/1.1 200") and old.endswith(b"\r\n\r\nhello") and b"transfer-encoding" not in old


def test_head(martlet, upstream):
    caller = martlet(upstream=upstream.url).connect()
    for _ in range(2):
        caller.send(b"HEAD / HTTP/1.1\r\nhost: a.example\r\n\r\n")
        response = caller.response("HEAD")
        assert (response.status, response.header("x-method"), response.body) == (200, "HEAD", b"")


def test_pipelined_requests_get_their_responses_in_order(martlet, upstream):
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"".join(post(b"%d" % number, b"content-length: 1") for number in range(9)))
    assert [caller.response("POST").body for _ in range(9)] == [b"%d" % number for number in range(9)]


def test_expect_100_continue(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, [(":status", "100")])
        echo(peer, stream)

    caller = martlet(upstream=h2_recorder(response).url).connect()
    caller.send(post(b"", b"content-length: 5", b"expect: 100-continue"))
    assert caller.head().startswith(b"HTTP/1.1 100 ")
    caller.send(b"hello")
    assert caller.response("POST").body == b"hello"


def test_the_host_becomes_the_authority(martlet, upstream):
    url = upstream.url
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{url}', host: caller }} }}\n")
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: named.example:81\r\n\r\n")
    assert caller.response().status == 200
    new = proxy.connect_h2()
    new.finish(new.open(h2_peer.request(), end=True))
    assert [stream.header(":authority") for stream in upstream.streams] == ["named.example:81", "a.example"]
    assert [stream.header("host") for stream in upstream.streams] == [None, None]


def test_a_body_of_unknown_length_is_chunked_toward_http_1(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/", "POST"))
    caller.data(call.id, BODY)
    caller.headers(call.id, [("x-sum", "5")], end=True)
    assert caller.finish(call).status == 200
    seen = upstream.requests[0]
    assert (seen.header("transfer-encoding"), seen.body, seen.trailers) == ("chunked", BODY, [("x-sum", "5")])
    assert seen.header("host")


def test_a_missing_body_stays_missing_toward_http_1(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    for method in ("GET", "DELETE", "HEAD"):
        caller.finish(caller.open(h2_peer.request("/", method), end=True))
    assert [request.header("transfer-encoding") for request in upstream.requests] == [None] * 3
    assert [request.header("content-length") for request in upstream.requests] == [None] * 3
    call = caller.finish(caller.open(h2_peer.request("/", "POST", ("content-length", "0")), end=True))
    assert (call.status, upstream.requests[3].header("content-length")) == (200, "0")


def test_a_truncated_response_looks_truncated(martlet, recorder):
    resume = threading.Semaphore(0)
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n"
    upstream = recorder(script=lambda peer: (peer.request(), peer.send(head), resume.acquire(timeout=10)))
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request(), end=True)
    caller.wait(lambda: call.body == b"part", "the part")
    resume.release()
    caller.finish(call)
    assert (call.ended, call.reset is not None) == (False, True)
    assert caller.goaway is None
