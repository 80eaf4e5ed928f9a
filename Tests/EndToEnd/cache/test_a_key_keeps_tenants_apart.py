"""`key` names what responses depend on beside their URL."""

from cache.origin import FRESH, numbered


def test_each_tenant_has_responses_of_its_own(cached, recorder):
    upstream = recorder(numbered(FRESH))
    with cached(upstream, key="{header:x-tenant}").http() as http:
        assert [http.get("/", headers={"x-tenant": tenant}).text for tenant in "abab"] == ["1", "2", "1", "2"]
        assert http.get("/", headers={"x-tenant": "ab"}).text == "3"
    assert len(upstream.requests) == 3


def test_a_call_without_a_value_shares_with_no_tenant(cached, recorder):
    with cached(recorder(numbered(FRESH)), key="{header:x-tenant}").http() as http:
        assert http.get("/", headers={"x-tenant": "a"}).text == "1"
        assert http.get("/").text == "2"
        assert http.get("/", headers={"x-tenant": "a"}).text == "1"


def test_the_parts_of_a_key_do_not_run_into_each_other(cached, recorder):
    with cached(recorder(numbered(FRESH)), key="{header:x-a}{header:x-b}").http() as http:
        assert http.get("/", headers={"x-a": "1", "x-b": "23"}).text == "1"
        assert http.get("/", headers={"x-a": "12", "x-b": "3"}).text == "2"
