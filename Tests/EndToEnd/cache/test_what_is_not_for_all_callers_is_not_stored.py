"""Responses that are for one caller, incomplete, or without a time of their own are never stored."""

import pytest
from cache.origin import FRESH, numbered, response
from support.wait import eventually


def is_stored(http, path="/"):
    """Whether two calls get the same of an upstream that numbers its responses."""
    return http.get(path).text == http.get(path).text


@pytest.mark.parametrize(
    "fields",
    [
        ["cache-control: no-store, max-age=60"],
        ["cache-control: max-age=60", "cache-control: no-store"],
        ["cache-control: private, max-age=60"],
        ['cache-control: private="x-own", max-age=60'],
        ["Cache-Control: Max-Age=60, NO-STORE"],
        [FRESH, "set-cookie: session=1"],
        [FRESH, "vary: *"],
        [FRESH, "vary: " + ", ".join(f"x-{number}" for number in range(17))],
        [FRESH, "vary: accept, *"],
        [],
        ["cache-control: public"],
        ["cache-control: max-age=0"],
        ["cache-control: max-age=-1"],
        ["cache-control: max-age=abc"],
        ["cache-control: s-maxage=0, max-age=60"],
        ["expires: 0"],
        ["expires: Thu, 01 Jan 1970 00:00:00 GMT"],
        ["cache-control: max-age=60", "age: 60"],
        ["last-modified: Thu, 01 Jan 1970 00:00:00 GMT"],
    ],
    ids=str,
)
def test_fields(cached, recorder, fields):
    with cached(recorder(numbered(*fields))).http() as http:
        assert not is_stored(http)


@pytest.mark.parametrize("status", [201, 206, 302, 307, 400, 401, 403, 500, 502, 503])
def test_statuses(cached, recorder, status):
    upstream = recorder(numbered(FRESH, "location: /b", "content-range: bytes 0-0/9", status=status))
    with cached(upstream).http() as http:
        assert not is_stored(http)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_methods(cached, recorder, method):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert [http.request(method, "/").text for _ in range(2)] == ["1", "2"]


def test_a_get_with_a_body(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert [http.request("GET", "/", content=body).text for body in (b"a", b"b")] == ["1", "2"]


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_response_that_is_larger_than_an_object_may_be(cached, recorder, chunked):
    body = b"x" * 3000

    def send(request):
        if not chunked:
            return response(body, FRESH)
        return f"HTTP/1.1 200 Any\r\n{FRESH}\r\ntransfer-encoding: chunked\r\n\r\nbb8\r\n".encode() + body + b"\r\n0\r\n\r\n"

    upstream = recorder(send)
    with cached(upstream, store={"object": "2KiB"}).http() as http:
        assert [http.get("/").content for _ in range(2)] == [body, body]
    assert len(upstream.requests) == 2


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_response_that_is_cut_short(cached, recorder, framing):
    """The second one is whole; nobody gets the half of the first."""
    field, half = {"length": ("content-length: 8", b"half"), "chunked": ("transfer-encoding: chunked", b"4\r\nhalf\r\n")}[framing]

    def script(peer):
        upstream.requests.append(peer.request())
        if len(upstream.requests) > 1:
            peer.send(response("complete", FRESH))
        else:
            peer.send(f"HTTP/1.1 200 Any\r\n{FRESH}\r\n{field}\r\n\r\n".encode() + half)
        peer.close()

    upstream = recorder(script=script)
    proxy = cached(upstream)
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert b"half" in caller.rest()
    with proxy.http() as http:
        assert http.get("/", headers={"host": "a.example"}).text == "complete"


def test_a_response_whose_caller_has_left_early(cached, recorder):
    """Half of it was never received, so it is either fetched to its end or again."""
    body = b"x" * 500_000
    upstream = recorder(lambda request: response(body, FRESH))
    proxy = cached(upstream)
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.receive(1)
    caller.reset()
    with proxy.http() as http:
        assert http.get("/", headers={"host": "a.example"}).content == body
    eventually(lambda: not proxy.metrics().total("martlet_rpc_in_flight"), what="the end of all calls")
