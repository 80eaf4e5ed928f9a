"""A stale response with a validator is checked with the upstream: 304 keeps its body and updates its fields."""

import time

import pytest
from cache.origin import FRESH, NEARLY_STALE, http_date, response
from support.wait import eventually

MODIFIED = http_date(time.time() - 3600)
VALIDATORS = {"if-none-match": ('"v1"', 'etag: "v1"'), "if-modified-since": (MODIFIED, f"last-modified: {MODIFIED}")}


def until_revalidated(http, upstream, count=2, **options):
    """Calls until the upstream has had so many requests; the response to the last call."""
    calls = []

    def has_arrived():
        calls.append(http.get("/", **options))
        return len(upstream.requests) >= count

    eventually(has_arrived, what=f"request {count} at the upstream")
    return calls[-1]


@pytest.mark.parametrize("condition", VALIDATORS)
def test_a_304_makes_it_fresh_and_updates_its_fields(cached, recorder, condition):
    value, field = VALIDATORS[condition]

    def send(request):
        if request.header(condition) == value:
            return response(b"", FRESH, field, "x-own: new", "x-more: 1", status=304)
        return response("body", *NEARLY_STALE, field, "x-own: old", "content-type: text/plain")

    upstream = recorder(send)
    with cached(upstream).http() as http:
        assert http.get("/").headers["x-own"] == "old"
        updated = until_revalidated(http, upstream)
        assert (updated.status_code, updated.text, updated.headers["x-own"]) == (200, "body", "new")
        again = http.get("/")
    assert (again.text, again.headers["x-own"], again.headers["x-more"]) == ("body", "new", "1")
    assert (again.headers["content-type"], again.headers["content-length"]) == ("text/plain", "4")
    assert int(again.headers["age"]) < 30
    assert len(upstream.requests) == 2


def test_another_response_replaces_it(cached, recorder):
    def send(request):
        if request.header("if-none-match"):
            return response("new", FRESH, 'etag: "v2"')
        return response("old", *NEARLY_STALE, 'etag: "v1"')

    upstream = recorder(send)
    with cached(upstream).http() as http:
        http.get("/")
        assert until_revalidated(http, upstream).text == "new"
        assert (http.get("/").text, http.get("/").headers["etag"]) == ("new", '"v2"')
    assert len(upstream.requests) == 2


def test_an_error_of_the_upstream_passes(cached, recorder):
    """Without `stale_if_error` nothing covers it."""

    def send(request):
        return response("no", status=503) if request.header("if-none-match") else response("old", *NEARLY_STALE, 'etag: "v1"')

    upstream = recorder(send)
    with cached(upstream).http() as http:
        http.get("/")
        assert until_revalidated(http, upstream).status_code == 503


def test_a_response_with_no_cache_is_checked_each_time(cached, recorder):
    def send(request):
        if request.header("if-none-match"):
            return response(b"", 'etag: "v1"', "cache-control: no-cache", status=304)
        return response("body", "cache-control: no-cache, max-age=60", 'etag: "v1"')

    upstream = recorder(send)
    with cached(upstream).http() as http:
        assert [http.get("/").text for _ in range(3)] == ["body"] * 3
    assert [request.header("if-none-match") for request in upstream.requests] == [None, '"v1"', '"v1"']


def test_the_callers_own_condition_does_not_go_with_it(cached, recorder):
    """A caller with another version gets the body, although the upstream says that the stored one is the same."""

    def send(request):
        if request.header("if-none-match") == '"v1"':
            return response(b"", FRESH, 'etag: "v1"', status=304)
        return response("body", *NEARLY_STALE, 'etag: "v1"')

    upstream = recorder(send)
    with cached(upstream).http() as http:
        http.get("/")
        got = until_revalidated(http, upstream, headers={"if-none-match": '"v0"'})
        assert (got.status_code, got.text) == (200, "body")
