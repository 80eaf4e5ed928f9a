"""A caller that has a version of its own gets 304 from the cache, or the newer one."""

import pytest
from cache.origin import FRESH, response

MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT"
FIELDS = (FRESH, 'etag: "v1"', f"last-modified: {MODIFIED}", "content-location: /a", "content-type: text/plain")


@pytest.fixture
def stored(cached, recorder):
    upstream = recorder(lambda request: response(b"body", *FIELDS))
    with cached(upstream).http() as http:
        http.get("/")
        yield http
    assert len(upstream.requests) == 1


SAME = [
    {"if-none-match": '"v1"'},
    {"if-none-match": 'W/"v1"'},
    {"if-none-match": '"a,b", "v1"'},
    {"if-none-match": "*"},
    {"if-modified-since": MODIFIED},
    {"if-modified-since": "Fri, 02 Jan 2026 00:00:00 GMT"},
    {"if-none-match": '"v1"', "if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT"},
]
OTHER = [
    {"if-none-match": '"v2"'},
    {"if-none-match": "v1"},
    {"if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT"},
    {"if-modified-since": "yesterday"},
    {"if-none-match": '"v2"', "if-modified-since": MODIFIED},
]


@pytest.mark.parametrize("condition", SAME, ids=str)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_same_version(stored, method, condition):
    got = stored.request(method, "/", headers=condition)
    assert (got.status_code, got.content) == (304, b"")
    assert (got.headers["etag"], got.headers["content-location"], got.headers["cache-control"]) == ('"v1"', "/a", "max-age=60")
    assert "age" in got.headers and "date" in got.headers


@pytest.mark.parametrize("condition", OTHER, ids=str)
def test_another_version(stored, condition):
    got = stored.get("/", headers=condition)
    assert (got.status_code, got.content) == (200, b"body")


def test_a_304_for_a_caller_is_not_stored_as_a_response(cached, recorder):
    """The condition of the first caller reaches the upstream or not; the second caller, who has none, gets a body."""

    def send(request):
        return response(b"", *FIELDS, status=304) if request.header("if-none-match") == '"v1"' else response(b"body", *FIELDS)

    with cached(recorder(send)).http() as http:
        assert http.get("/", headers={"if-none-match": '"v1"'}).status_code == 304
        assert (http.get("/").status_code, http.get("/").content) == (200, b"body")
