"""Each of these heads can be read in two ways or is not HTTP/1.1. Martlet rejects it and forwards nothing."""

import pytest

from support.http2 import h2_peer

# What an attacker hopes that a server reads as a second request.
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"


def post(*fields, body=b""):
    return b"\r\n".join([b"POST /p HTTP/1.1", b"Host: a.example", *fields, b"", body])


def get(target=b"/p", version=b"HTTP/1.1", host=b"Host: a.example\r\n"):
    return b"GET " + target + b" " + version + b"\r\n" + host + b"\r\n"


LENGTHS = [b"+5", b"-1", b"5,5", b"5, 6", b"0x5", b"5 5", b"5;", b"", b"five", b"9" * 19, b"18446744073709551621"]
CODINGS = [
    b"gzip",
    b"chunked, identity",
    b"chunked, gzip",
    b"gzip, chunked",
    b"xchunked",
    b"chunkedx",
    b"chunked, chunked",
    b'"chunked"',
    b"chunked;a=1",
    b"\x0bchunked",
    b"",
]
VERSIONS = [b"HTTP/1.x", b"HTTP/11", b"HTTP/1", b"http/1.1", b"HTTP/1.1 x", b"HTTP/1.10", b"HTP/1.1", b"HTTP/01.1"]
TARGETS = [b"/a\x00b", b"/a\x01b", b"/a\x7fb", b"/a\tb", b"/a b", b"a", b"*", b"a.example:80", b"http://b.example/p"]
NAMES = [b"X-A : 1", b" X-A: 1", b"X A: 1", b": 1", b"X-A", b"X-\x00A: 1", b"X(A): 1", b"X-\xc3\xa9: 1"]
VALUES = [b"a\x00b", b"a\rb", b"a\x01b", b"a\x7fb", b"a\r\n folded", b"a\r\n\tfolded", b"a\nX-B: 1"]
HOSTS = {
    "missing host": b"",
    "two hosts": b"Host: a.example\r\nHost: a.example\r\n",
    "host with a space": b"Host: a example\r\n",
    "host with a path": b"Host: a.example/p\r\n",
    "host with a user": b"Host: me@a.example\r\n",
    "host list": b"Host: a.example, b.example\r\n",
    "host with a bad port": b"Host: a.example:8x\r\n",
}
CASES = {
    "length and coding": (post(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "coding and length": (post(b"Transfer-Encoding: chunked", b"Content-Length: 5", body=b"0\r\n\r\n"), 400),
    "differing lengths": (post(b"Content-Length: 5", b"Content-Length: 6", body=b"hello"), 400),
    "coding twice": (post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n"), 400),
    "coding in HTTP/1.0": (post(b"Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0"), 400),
    **{f"length {value!r}": (post(b"Content-Length: " + value, body=b"hello"), 400) for value in LENGTHS},
    **{f"coding {value!r}": (post(b"Transfer-Encoding: " + value, body=b"0\r\n\r\n"), 400) for value in CODINGS},
    **{f"version {value!r}": (get(version=value), 400) for value in VERSIONS},
    **{f"target {value!r}": (get(target=value), 400) for value in TARGETS},
    **{f"name {value!r}": (post(value, b"Content-Length: 0"), 400) for value in NAMES},
    **{f"value {value!r}": (post(b"X-A: " + value, b"Content-Length: 0"), 400) for value in VALUES},
    **{name: (get(host=value), 400) for name, value in HOSTS.items()},
    "bare LF after the request line": (b"GET /p HTTP/1.1\nHost: a.example\r\n\r\n", 400),
    "bare LF after a field": (b"GET /p HTTP/1.1\r\nHost: a.example\n\r\n", 400),
    "bare LF alone": (b"GET /p HTTP/1.1\nHost: a.example\n\n", 400),
    "bare CR after the request line": (b"GET /p HTTP/1.1\rHost: a.example\r\n\r\n", 400),
    "no version": (b"GET /p\r\nHost: a.example\r\n\r\n", 400),
    "no target": (b"GET  HTTP/1.1\r\nHost: a.example\r\n\r\n", 400),
    "a request line of one space": (b" \r\nHost: a.example\r\n\r\n", 400),
    "an empty request line": (b"\r\n\r\n\r\nHost: a.example\r\n\r\n", 400),
    "a method that is no token": (b"G(T /p HTTP/1.1\r\nHost: a.example\r\n\r\n", 400),
    "what an HTTP/0.9 caller sends": (b"GET /p\r\n", 400),
    "almost the HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 505),
    "HTTP/3.0": (get(version=b"HTTP/3.0"), 505),
    "head too large": (post(b"X-A: " + b"a" * 65536), 431),
    "target too large": (get(target=b"/" + b"a" * 65536), 431),
    "too many fields": (post(*[b"X-%d: 1" % number for number in range(300)]), 431),
}


@pytest.mark.parametrize("name", CASES)
def test_rejected(martlet, recorder, name):
    data, status = CASES[name]
    upstream = recorder()
    proxy = martlet(upstream=upstream.url)
    smuggler = proxy.connect()
    try:
        smuggler.send(data + SMUGGLED)
    except ConnectionError:
        pass  # rejected before all of it was sent
    response = smuggler.response()
    assert response.status == status
    assert response.header("content-type") == "application/json"
    assert smuggler.has_ended()
    with proxy.http() as http:
        assert http.get("/good").text == "ok"
    assert [request.target for request in upstream.requests] == ["/good"]
    assert len(upstream.connections) == 1 and upstream.bytes.startswith(b"GET /good ")
    assert b"smuggled" not in upstream.bytes


def test_http_2_after_a_call_of_http_1(martlet, recorder):
    """A connection keeps the version it has begun with, though it holds nothing of it between two calls."""
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(get(b"/first"))
    assert caller.response().status == 200
    caller.send(h2_peer.PREFACE)
    response = caller.response()
    assert response.status == 505 and b"must be at the start of the connection" in response.body
    assert caller.has_ended()
    assert [request.target for request in upstream.requests] == ["/first"]
