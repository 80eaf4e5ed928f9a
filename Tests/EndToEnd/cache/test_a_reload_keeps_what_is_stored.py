"""A reload keeps a store whose settings are the same, and empties one with others."""

import pytest
from cache.origin import FRESH, numbered
from support.concurrency import at_once


@pytest.fixture
def upstream(recorder):
    return recorder(numbered(FRESH))


def test_the_same_file(cached, upstream):
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/")
        proxy.reload()
        assert http.get("/").text == "1"
    assert proxy.metrics().total("martlet_cache_objects") == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"before": [{"metrics": {}}]},
        {"file": {"workers": 2}},
        {"file": {"drain": {"max": "5s"}}},
        {"stale_if_error": "1m"},
    ],
    ids=str,
)
def test_a_change_elsewhere(cached, upstream, changes):
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/")
        proxy.reload(cached.configuration(upstream, **changes))
        assert http.get("/").text == "1"


@pytest.mark.parametrize("store", [{"bytes": "8MiB"}, {"object": "2MiB"}], ids=str)
def test_other_settings(cached, upstream, store):
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/")
        proxy.reload(cached.configuration(upstream, store=store))
        assert http.get("/").text == "2"


def test_a_store_that_was_gone_for_a_while(cached, upstream):
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/")
        proxy.reload(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\n")
        assert proxy.metrics().total("martlet_cache_bytes") == 0
        proxy.reload(cached.configuration(upstream))
        assert http.get("/").text == "2"


def test_another_upstream_has_nothing_stored(cached, upstream, recorder):
    """It has the name of the former, but another URL."""
    proxy = cached(upstream)
    other = recorder(numbered(FRESH, "x-other: 1"))
    with proxy.http() as http:
        assert "x-other" not in http.get("/").headers
        proxy.reload(cached.configuration(other))
        assert "x-other" in http.get("/").headers


def test_a_key_that_changes_separates_at_once(cached, upstream):
    proxy = cached(upstream)
    with proxy.http() as http:
        assert http.get("/", headers={"x-tenant": "a"}).text == "1"
        proxy.reload(cached.configuration(upstream, key="{header:x-tenant}"))
        assert [http.get("/", headers={"x-tenant": tenant}).text for tenant in "ab"] == ["2", "3"]


def test_a_rejected_reload_changes_nothing(cached, upstream):
    proxy = cached(upstream)
    with proxy.http() as http:
        http.get("/")
        proxy.reload(cached.configuration(upstream, heuristic="110%%"), outcome="reload rejected")
        assert http.get("/").text == "1"


@pytest.mark.timeout(120)
def test_reloads_under_load_fail_no_call(cached, upstream):
    proxy = cached(upstream, file={"workers": 2})

    def calls(number):
        if not number:
            for size in [*range(9, 17)] * 3:
                proxy.reload(cached.configuration(upstream, store={"bytes": f"{size}MiB"}, file={"workers": 2}))
            return {200}
        with proxy.http() as http:
            return {http.get(f"/{each % 20}").status_code for each in range(500)}

    assert set().union(*at_once(5, calls)) == {200}
