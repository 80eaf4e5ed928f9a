"""`POST /cache/purge?path=` on the admin socket removes what is stored below a path."""

import pytest
from cache.origin import FRESH, numbered

PATHS = ["/v1/a", "/v1/b?c", "/v10/a", "/v2/v1/a", "/"]


@pytest.fixture
def stored(cached, recorder):
    """A daemon, a client of it, and what it has stored for each path."""
    proxy = cached(recorder(numbered(FRESH, "vary: x-a")), file={"workers": 2})
    with proxy.http() as http:
        yield proxy, http, {path: http.get(path).text for path in PATHS}


def changed(http, texts):
    return [path for path, text in texts.items() if http.get(path).text != text]


def test_what_is_below_the_path(stored):
    proxy, http, texts = stored
    assert proxy.admin("/cache/purge?path=/v1/", "POST").status_code == 200
    assert changed(http, texts) == ["/v1/a", "/v1/b?c"]


def test_everything(stored):
    proxy, http, texts = stored
    assert proxy.admin("/cache/purge?path=/", "POST").status_code == 200
    assert proxy.metrics().total("martlet_cache_objects") == 0
    assert changed(http, texts) == PATHS


def test_all_variants(stored):
    proxy, http, _ = stored
    variants = {value: http.get("/v1/a", headers={"x-a": value}).text for value in "12"}
    proxy.admin("/cache/purge?path=/v1/a", "POST")
    assert all(http.get("/v1/a", headers={"x-a": value}).text != text for value, text in variants.items())


def test_a_get_changes_nothing(stored):
    proxy, http, texts = stored
    assert proxy.admin("/cache/purge?path=/v1/").status_code == 405
    assert not changed(http, texts)


@pytest.mark.parametrize("query", ["?path=", "?path=v1", "?paths=/v1/", "?path=/%ZZ"])
def test_what_names_no_path_is_rejected(stored, query):
    proxy, http, texts = stored
    assert proxy.admin(f"/cache/purge{query}", "POST").status_code == 400
    assert not changed(http, texts)


def test_a_path_with_nothing_below_it(stored):
    proxy, http, texts = stored
    assert proxy.admin("/cache/purge?path=/none/", "POST").status_code == 200
    assert not changed(http, texts)


def test_a_daemon_without_a_cache(martlet, recorder):
    proxy = martlet(upstream=recorder().url)
    assert proxy.admin("/cache/purge?path=/", "POST").status_code in (200, 404)
