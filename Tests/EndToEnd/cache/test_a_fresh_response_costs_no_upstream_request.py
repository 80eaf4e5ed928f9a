"""A response that is fresh comes from the cache: for every caller and worker, whole, and with its age."""

import pytest
from cache.origin import FRESH, NEARLY_STALE, numbered, response
from support.concurrency import at_once
from support.wait import eventually


def test_the_second_get_makes_no_upstream_request(cached, recorder):
    upstream = recorder(numbered(FRESH, "x-own: a", "x-own: b", "content-type: text/plain"))
    with cached(upstream).http() as http:
        first, second = http.get("/a?b=c"), http.get("/a?b=c")
    assert (first.text, second.text) == ("1", "1")
    assert second.headers.get_list("x-own") == ["a", "b"]
    assert (second.headers["content-type"], second.headers["content-length"]) == ("text/plain", "1")
    assert second.headers["date"] == first.headers["date"]
    assert len(upstream.requests) == 1


def test_the_age_grows(cached, recorder):
    upstream = recorder(numbered(FRESH))
    with cached(upstream).http() as http:
        assert "age" not in http.get("/").headers
        age = int(http.get("/").headers["age"])
        eventually(lambda: int(http.get("/").headers["age"]) > age, what="a greater age")
    assert len(upstream.requests) == 1


def test_the_time_before_it_arrived_counts(cached, recorder):
    with cached(recorder(numbered(FRESH, "age: 50"))).http() as http:
        http.get("/")
        assert 50 <= int(http.get("/").headers["age"]) < 60


def test_a_response_that_is_no_longer_fresh_is_fetched(cached, recorder):
    upstream = recorder(numbered(*NEARLY_STALE))
    with cached(upstream).http() as http:
        assert http.get("/").text == "1"
        eventually(lambda: http.get("/").text != "1", what="a second fetch")


@pytest.mark.parametrize(
    "fields",
    [
        ["cache-control: max-age=60"],
        ["Cache-Control: MAX-AGE=60"],
        ["cache-control: max-age=0, s-maxage=60"],
        ["cache-control: public", "cache-control: max-age=60"],
        ["expires: Fri, 01 Jan 2100 00:00:00 GMT"],
        ["cache-control: max-age=60", "expires: Thu, 01 Jan 1970 00:00:00 GMT"],
        ["cache-control: max-age=99999999999999999999"],
        ["cache-control: max-age=60", "pragma: no-cache"],
    ],
    ids=str,
)
def test_every_statement_of_freshness_counts(cached, recorder, fields):
    with cached(recorder(numbered(*fields))).http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "1"]


@pytest.mark.parametrize("status", [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
def test_every_status_that_may_be_stored_is(cached, recorder, status):
    upstream = recorder(numbered(FRESH, "location: /b", status=status))
    with cached(upstream).http() as http:
        assert [http.get("/").status_code for _ in range(2)] == [status, status]
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("size", [0, 1, 65536, 1000000], ids=str)
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_bodies_of_any_size_come_back_whole(cached, recorder, size, chunked):
    body = bytes(number % 251 for number in range(size))

    def send(request):
        if not chunked:
            return response(body, FRESH)
        chunks = [body[at : at + 10000] for at in range(0, size, 10000)]
        wire = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
        return f"HTTP/1.1 200 Any\r\n{FRESH}\r\ntransfer-encoding: chunked\r\n\r\n".encode() + wire + b"0\r\n\r\n"

    upstream = recorder(send)
    with cached(upstream).http() as http:
        assert [http.get("/").content for _ in range(3)] == [body] * 3
    assert len(upstream.requests) == 1


def test_all_workers_share_what_is_stored(cached, recorder):
    upstream = recorder(numbered(FRESH))
    proxy = cached(upstream, file={"workers": 4})

    def call(_):
        with proxy.http() as http:
            return http.get("/").text

    assert call(0) == "1"
    assert set(at_once(32, call)) == {"1"}
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "other",
    [("GET", "/a?c", "a.example"), ("GET", "/a", "a.example"), ("GET", "/A?b", "a.example"), ("GET", "/a?b", "b.example")],
    ids=["query", "no query", "path", "authority"],
)
def test_what_differs_is_another_response(cached, recorder, other):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert http.get("/a?b", headers={"host": "a.example"}).text == "1"
        method, path, host = other
        assert http.request(method, path, headers={"host": host}).text == "2"
        assert http.get("/a?b", headers={"host": "a.example"}).text == "1"


def test_upstreams_have_keys_of_their_own(cached, recorder):
    one, other = recorder(numbered(FRESH)), recorder(numbered(FRESH, "x-other: 1"))
    upstreams = {"default": {"url": one.url}, "other": {"url": other.url}}
    routes = [{"match": {"header": {"x-to": "other"}}, "upstream": "other"}, {"upstream": "default"}]
    with cached(one, file={"upstreams": upstreams, "routes": routes}).http() as http:
        assert "x-other" not in http.get("/").headers
        assert "x-other" in http.get("/", headers={"x-to": "other"}).headers
        assert "x-other" not in http.get("/").headers
