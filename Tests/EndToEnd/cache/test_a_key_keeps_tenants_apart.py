"""`key` names what responses depend on beside their URL."""

from cache.origin import FRESH, numbered, response


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


def test_what_is_rewritten_before_the_cache_is_in_the_key(cached, recorder):
    upstream = recorder(lambda request: response(request.header("host"), FRESH))
    before = [{"rewrite": {"authority": "{header:x-site}.example"}}]
    with cached(upstream, before=before, settings={"host": "caller"}).http() as http:
        for site in ("a", "b", "a"):
            assert http.get("/", headers={"x-site": site}).text == f"{site}.example"


def test_a_message_cannot_pass_for_a_header(cached, recorder):
    """What `vary` names stands behind the message in the key."""
    upstream = recorder(lambda request: response("{}", FRESH, "vary: x-user", "content-type: application/json"))
    fields = {"content-type": "application/json", "connect-protocol-version": "1"}
    with cached(upstream, rpc={"methods": ["a.B/*"]}).http() as http:
        http.post("/a.B/C", content=b"{}", headers=fields | {"x-user": "alice"})
        http.post("/a.B/C", content=b"{}\0x-user\0,alice", headers=fields | {"x-user": "bob"})
        assert len(upstream.requests) == 2


def test_proxy_revalidate_is_not_public(cached, recorder):
    upstream = recorder(lambda request: response(request.header("authorization"), "cache-control: max-age=60, proxy-revalidate"))
    with cached(upstream).http() as http:
        for user in ("alice", "bob"):
            assert http.get("/", headers={"authorization": user}).text == user


def test_a_changed_default_of_the_upstream_begins_anew(cached, recorder):
    upstream = recorder(lambda request: response(request.header("authorization"), FRESH))
    make = lambda token: {"settings": {"defaults": {"headers": {"authorization": token}}}}  # noqa: E731
    proxy = cached(upstream, **make("one"))
    with proxy.http() as http:
        assert http.get("/").text == "one"
        proxy.reload(cached.configuration(upstream, **make("two")))
        assert http.get("/").text == "two"
