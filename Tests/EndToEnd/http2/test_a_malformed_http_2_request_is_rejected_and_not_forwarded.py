"""Requests that RFC 9113 section 8 forbids are rejected, as are those that an HTTP/1.1 upstream would read differently."""

import pytest

from support.http2 import h2_peer

METHOD, SCHEME, AUTHORITY, PATH = (":method", "POST"), (":scheme", "http"), (":authority", "a.example"), (":path", "/")
ALL = [METHOD, SCHEME, AUTHORITY, PATH]


def instead(name, value):
    return [(own, value if own == name else old) for own, old in ALL]


HEADS = {
    "no method": [SCHEME, AUTHORITY, PATH],
    "no scheme": [METHOD, AUTHORITY, PATH],
    "no path": [METHOD, SCHEME, AUTHORITY],
    "no authority": [METHOD, SCHEME, PATH],
    "two methods": [METHOD, *ALL],
    "two paths": [*ALL, (":path", "/other")],
    "two authorities": [*ALL, (":authority", "b.example")],
    "pseudo-field after a field": [METHOD, SCHEME, AUTHORITY, ("x-a", "1"), PATH],
    "unknown pseudo-field": [*ALL, (":protocol", "websocket")],
    "status in a request": [*ALL, (":status", "200")],
    "empty path": instead(":path", ""),
    "path without slash": instead(":path", "no-slash"),
    "space in the path": instead(":path", "/a HTTP/1.1"),
    "line break in the path": instead(":path", "/ HTTP/1.1\r\nhost: b\r\n\r\nGET /evil"),
    "fragment in the path": instead(":path", "/a#b"),
    "empty method": instead(":method", ""),
    "space in the method": instead(":method", "GET / HTTP/1.1"),
    "line break in the method": instead(":method", "GET\r\n"),
    "space in the authority": instead(":authority", "a example"),
    "line break in the authority": instead(":authority", "a\r\nx-evil: 1"),
    "user in the authority": instead(":authority", "user@a.example"),
    "another host": [*ALL, ("host", "b.example")],
    "two hosts": [METHOD, SCHEME, PATH, ("host", "a.example"), ("host", "b.example")],
    "upper case": [*ALL, ("X-Upper", "1")],
    "space in a name": [*ALL, ("x a", "1")],
    "colon in a name": [*ALL, ("x:a", "1")],
    "empty name": [*ALL, ("", "1")],
    "line break in a value": [*ALL, ("x-a", "1\r\nx-evil: 1")],
    "newline in a value": [*ALL, ("x-a", "1\nx-evil: 1")],
    "return in a value": [*ALL, ("x-a", "1\rx-evil: 1")],
    "zero in a value": [*ALL, ("x-a", "1\x00")],
    "connection": [*ALL, ("connection", "close")],
    "keep-alive": [*ALL, ("keep-alive", "timeout=5")],
    "proxy-connection": [*ALL, ("proxy-connection", "close")],
    "transfer-encoding": [*ALL, ("transfer-encoding", "chunked")],
    "upgrade": [*ALL, ("upgrade", "websocket")],
    "te with more than trailers": [*ALL, ("te", "gzip, trailers")],
    "two lengths": [*ALL, ("content-length", "4"), ("content-length", "5")],
    "length that is no number": [*ALL, ("content-length", "+4")],
    "list of lengths": [*ALL, ("content-length", "4, 4")],
    "CONNECT": [(":method", "CONNECT"), AUTHORITY],
}


@pytest.fixture(params=["upstream-1", "upstream-2"])
def upstream(request, recorder, h2_recorder):
    one = recorder() if request.param == "upstream-1" else h2_recorder()
    one.saw_nothing = (lambda: one.bytes == b"") if request.param == "upstream-1" else (lambda: one.streams == [])
    return one


@pytest.mark.parametrize("name", HEADS)
def test_head(martlet, upstream, name):
    caller = martlet(upstream=upstream.url).connect_h2()
    if name == "no authority":  # which is allowed (RFC 9113 section 8.3.1), but leaves no host to call
        call = caller.finish(caller.open(HEADS[name], end=True))
        assert call.status in (200, 400) or call.reset == h2_peer.PROTOCOL_ERROR
        return
    call = caller.open(HEADS[name])
    caller.wait(lambda: call.is_over or caller.goaway, "a rejection")
    assert 400 <= call.status <= 599 or call.reset is not None or caller.goaway
    assert upstream.saw_nothing()


BODIES = {
    "less than its length": (10, b"12345"),
    "more than its length": (3, b"12345"),
    "a body where there should be none": (0, b"12345"),
    "none where there should be one": (5, b""),
}


@pytest.mark.parametrize("name", BODIES)
def test_body(martlet, recorder, h2_recorder, name):
    length, body = BODIES[name]
    completed = []

    def response(peer, stream):
        peer.wait(lambda: stream.is_over, "the end")
        completed.append(stream.ended)

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open([*ALL, ("content-length", str(length))], end=not body)
    if body:
        caller.data(call.id, body, end=True)
    caller.wait(lambda: call.is_over or caller.goaway, "a rejection")
    assert call.status != 200
    assert True not in completed  # the upstream never sees it as a whole request


@pytest.mark.parametrize("length", [3, 10])
def test_body_toward_http_1(martlet, recorder, length):
    """What is too much must not become the next request."""
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open([*ALL, ("content-length", str(length))])
    caller.data(call.id, b"abcGET /evil HTTP/1.1\r\nhost: a\r\n\r\n"[: 40 if length == 3 else 5], end=True)
    caller.wait(lambda: call.is_over or caller.goaway, "a rejection")
    assert call.status != 200
    again = caller if caller.goaway is None else None
    if again:
        assert caller.finish(caller.open(h2_peer.request("/next"), end=True)).status == 200
    assert [request.target for request in upstream.requests if request.target != "/next"] == []
    assert b"/evil" not in upstream.bytes


@pytest.mark.parametrize("trailer", [(":path", "/evil"), ("X-Upper", "1"), ("x-a", "1\r\nx: y"), ("connection", "close")])
def test_trailers(martlet, upstream, trailer):
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(ALL)
    caller.data(call.id, b"body")
    caller.headers(call.id, [trailer], end=True)
    caller.wait(lambda: call.is_over or caller.goaway, "a rejection")
    assert call.status != 200


def test_the_connection_survives_a_malformed_request(martlet, h2_recorder):
    caller = martlet(upstream=h2_recorder().url).connect_h2()
    for name in ("no path", "upper case", "connection", "line break in a value", "te with more than trailers"):
        call = caller.open(HEADS[name], end=True)
        caller.finish(call)
        assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200
