"""What a request says of caches holds: only-if-cached, no-cache, no-store, max-age, min-fresh, max-stale."""

import pytest
from cache.origin import FRESH, numbered, response
from support.wait import eventually


def ask(http, directives, path="/"):
    return http.get(path, headers={"cache-control": directives})


def test_only_if_cached_never_reaches_the_upstream(cached, recorder):
    upstream = recorder(numbered(FRESH))
    with cached(upstream).http() as http:
        assert ask(http, "only-if-cached").status_code == 504
        assert not upstream.requests
        http.get("/")
        assert ask(http, "only-if-cached").text == "1"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    "more",
    [{"cookie": "a=b"}, {"if-match": '"a"'}, {"cache-control": "only-if-cached, no-store"}, {"content-length": "1"}],
    ids=lambda more: next(iter(more)),
)
def test_nor_where_the_cache_would_be_passed_by(cached, recorder, more):
    upstream = recorder(numbered(FRESH))
    with cached(upstream).http() as http:
        content = b"x" if "content-length" in more else None
        got = http.request("GET", "/", headers={"cache-control": "only-if-cached"} | more, content=content)
    assert got.status_code == 504
    assert not upstream.requests


@pytest.mark.parametrize("directives", ["no-cache", "max-age=0", "max-age=10", "min-fresh=50"])
def test_what_is_too_old_for_the_caller_is_fetched(cached, recorder, directives):
    upstream = recorder(numbered(FRESH, "age: 20"))
    with cached(upstream).http() as http:
        assert http.get("/").text == "1"
        assert ask(http, directives).text == "2"
        assert http.get("/").text == "2"


def test_pragma_is_no_cache_without_cache_control(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        http.get("/")
        assert http.get("/", headers={"pragma": "no-cache"}).text == "2"
        assert http.get("/", headers={"pragma": "no-cache", "cache-control": "max-age=60"}).text == "2"


@pytest.mark.parametrize("directives", ["max-age=50", "min-fresh=10", "max-age=50, min-fresh=10", "no-transform", "unknown=1"])
def test_what_is_fresh_enough_comes_from_the_cache(cached, recorder, directives):
    with cached(recorder(numbered(FRESH, "age: 20"))).http() as http:
        http.get("/")
        assert ask(http, directives).text == "1"


def test_a_caller_may_accept_what_is_stale(cached, recorder):
    upstream = recorder(numbered("cache-control: max-age=60", "age: 59", 'etag: "a"'))
    with cached(upstream).http() as http:
        http.get("/")
        eventually(lambda: ask(http, "only-if-cached").status_code == 504, what="a stale response")
        stale = ask(http, "max-stale=30, only-if-cached")
        assert (stale.status_code, stale.text) == (200, "1")
        assert int(stale.headers["age"]) >= 60
        assert ask(http, "max-stale, only-if-cached").text == "1"
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("rule", ["must-revalidate", "proxy-revalidate", "s-maxage=60"])
def test_nobody_gets_what_must_be_revalidated(cached, recorder, rule):
    with cached(recorder(numbered(f"cache-control: max-age=60, {rule}", "age: 59"))).http() as http:
        http.get("/")
        eventually(lambda: ask(http, "only-if-cached").status_code == 504, what="a stale response")
        assert ask(http, "max-stale=30, only-if-cached").status_code == 504


def test_the_response_to_no_store_is_not_stored(cached, recorder):
    upstream = recorder(numbered(FRESH))
    with cached(upstream).http() as http:
        assert ask(http, "no-store").text == "1"
        assert http.get("/").text == "2"
        assert http.get("/").text == "2"


def test_a_connect_caller_is_told_in_its_protocol(cached, recorder):
    upstream = recorder(lambda request: response(b"", FRESH))
    path = "/shop.v1.Catalog/Get?connect=v1&encoding=json&message=%7B%7D"
    with cached(upstream).http() as http:
        missing = ask(http, "only-if-cached", path)
    assert (missing.status_code, missing.headers["content-type"]) == (504, "application/json")
    assert missing.json()["code"]
    assert not upstream.requests
