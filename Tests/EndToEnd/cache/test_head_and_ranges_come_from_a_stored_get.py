"""A stored GET serves HEAD, and parts of itself."""

import pytest
from cache.origin import FRESH, numbered, response

BODY = b"0123456789"
FIELDS = (FRESH, 'etag: "v1"', "last-modified: Thu, 01 Jan 2026 00:00:00 GMT", "content-type: text/plain")


@pytest.fixture
def stored(cached, recorder):
    """A client of a daemon that has stored the ten digits, and their upstream."""
    upstream = recorder(lambda request: response(BODY, *FIELDS, method=request.method))
    with cached(upstream).http() as http:
        assert http.get("/").content == BODY
        yield http, upstream
        assert not upstream.failures


def test_head(stored):
    http, upstream = stored
    got = http.head("/")
    assert (got.status_code, got.content, got.headers["content-length"], got.headers["etag"]) == (200, b"", "10", '"v1"')
    assert len(upstream.requests) == 1


def test_a_head_alone_stores_no_body(cached, recorder):
    upstream = recorder(lambda request: response(BODY, *FIELDS, method=request.method))
    with cached(upstream).http() as http:
        assert http.head("/").headers["content-length"] == "10"
        assert http.get("/").content == BODY
        assert http.get("/").content == BODY
    assert [request.method for request in upstream.requests].count("GET") == 1


@pytest.mark.parametrize(
    "asked, sent, part",
    [
        ("bytes=0-0", "bytes 0-0/10", b"0"),
        ("bytes=2-4", "bytes 2-4/10", b"234"),
        ("bytes=7-", "bytes 7-9/10", b"789"),
        ("bytes=-3", "bytes 7-9/10", b"789"),
        ("bytes=-30", "bytes 0-9/10", BODY),
        ("bytes=8-30", "bytes 8-9/10", b"89"),
        ("bytes=0-99999999999999999999", "bytes 0-9/10", BODY),
    ],
)
def test_one_range(stored, asked, sent, part):
    http, upstream = stored
    got = http.get("/", headers={"range": asked})
    assert (got.status_code, got.headers["content-range"], got.content) == (206, sent, part)
    assert (got.headers["content-length"], got.headers["etag"]) == (str(len(part)), '"v1"')
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-20", "bytes=-0"])
def test_a_range_outside_of_it(stored, asked):
    http, upstream = stored
    got = http.get("/", headers={"range": asked})
    assert (got.status_code, got.headers["content-range"]) == (416, "bytes */10")
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("asked", ["lines=1-2", "bytes=4-2", "bytes=a-b", "bytes=", "0-1"])
def test_a_range_that_means_nothing_is_ignored(stored, asked):
    http, upstream = stored
    got = http.get("/", headers={"range": asked})
    assert (got.status_code, got.content) == (200, BODY)


def test_several_ranges_lose_no_byte(stored):
    """All of it, or the parts as multipart/byteranges."""
    http, _ = stored
    got = http.get("/", headers={"range": "bytes=0-1,8-9"})
    if got.status_code == 206:
        assert got.headers["content-type"].startswith("multipart/byteranges")
        assert b"bytes 0-1/10" in got.content and b"bytes 8-9/10" in got.content
    else:
        assert (got.status_code, got.content) == (200, BODY)


@pytest.mark.parametrize(
    "condition, status",
    [
        ('"v1"', 206),
        ('"v2"', 200),
        ('W/"v1"', 200),
        ("Thu, 01 Jan 2026 00:00:00 GMT", 206),
        ("Thu, 01 Jan 2025 00:00:00 GMT", 200),
    ],
)
def test_if_range(stored, condition, status):
    http, upstream = stored
    got = http.get("/", headers={"range": "bytes=2-4", "if-range": condition})
    assert (got.status_code, got.content) == (status, b"234" if status == 206 else BODY)
    assert len(upstream.requests) == 1


def test_a_range_of_what_is_not_stored_is_not_stored_as_the_whole(cached, recorder):
    def send(request):
        if request.header("range"):
            return response(BODY[2:5], *FIELDS, "content-range: bytes 2-4/10", status=206)
        return response(BODY, *FIELDS)

    with cached(recorder(send)).http() as http:
        assert http.get("/", headers={"range": "bytes=2-4"}).content == b"234"
        assert http.get("/").content == BODY
        assert http.get("/", headers={"range": "bytes=2-4"}).status_code == 206


def test_a_head_that_differs_from_what_is_stored_makes_it_stale(cached, recorder):
    """RFC 9111 §4.3.5; whether the HEAD comes from the cache is another matter, so it has to be asked for."""
    numbers = numbered(FRESH)

    def send(request):
        return response(b"x" * 20, FRESH, method="HEAD") if request.method == "HEAD" else numbers(request)

    with cached(recorder(send)).http() as http:
        assert http.get("/").text == "1"
        assert http.head("/", headers={"cache-control": "no-cache"}).headers["content-length"] == "20"
        assert http.get("/").text == "2"
