"""What came by one chain, one call or one mock is not given to callers of another."""

import json

import pytest
from cache.origin import FRESH, numbered, response


def text(*parts):
    return "".join(f"{key}: {json.dumps(value)}\n" for part in parts for key, value in part.items())


def two_routes(behind_a, behind_b, **more):
    """Two tenants with chains of their own, and no upstream."""
    chains = {"a": behind_a, "b": behind_b}
    routes = [{"match": {"header": {"x-tenant": name}}, "chain": [{"cache": "small"}, item]} for name, item in chains.items()]
    return text({"listen": "127.0.0.1:0", "caches": {"small": {}}, "routes": routes}, more)


def get(http, tenant):
    got = http.get("/", headers={"x-tenant": tenant})
    assert got.status_code == 200
    return got.text


def test_routes_with_calls_in_place_of_an_upstream(martlet, recorder):
    upstream = recorder(lambda request: response(request.target, FRESH))
    calls = {name: {"url": f"{upstream.url}/of-{name}"} for name in "ab"}
    with martlet(two_routes({"call": "a"}, {"call": "b"}, calls=calls)).http() as http:
        for _ in range(2):
            assert [get(http, "a"), get(http, "b")] == ["/of-a", "/of-b"]
    assert len(upstream.requests) == 2


def test_a_call_that_a_reload_changes(martlet, recorder):
    upstream = recorder(lambda request: response(request.target, FRESH))

    def configuration(path):
        return two_routes({"call": "a"}, {"call": "a"}, calls={"a": {"url": upstream.url + path}})

    proxy = martlet(configuration("/old"))
    with proxy.http() as http:
        assert get(http, "a") == "/old"
        proxy.reload(configuration("/new"))
        assert get(http, "a") == "/new"


def test_routes_with_mocks_in_place_of_an_upstream(martlet):
    mocks = {
        name: {"rules": [{"respond": {"body": f"of {name}", "headers": {"cache-control": "max-age=60"}}}]} for name in "ab"
    }
    with martlet(two_routes({"mock": "a"}, {"mock": "b"}, mocks=mocks)).http() as http:
        for _ in range(2):
            assert [get(http, "a"), get(http, "b")] == ["of a", "of b"]


@pytest.mark.parametrize("options", [{}, {"stale_if_error": "10m"}], ids=["alike", "different"])
def test_two_caches_of_one_store_in_one_chain(cached, recorder, options):
    """The second would wait for what the first fetches."""
    upstream = recorder(numbered(FRESH))
    proxy = cached(upstream, behind=[{"cache": {"in": "small"} | options}])
    with proxy.http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "1"]
    assert proxy.metrics().total("martlet_limit_hits_total", limit="cache_wait") == 0
