"""Callers, metrics and the log see what the cache did: a header by RFC 9211, a counter for each result, a field."""

import json
import re

import pytest
from cache.origin import FRESH, NEARLY_STALE, numbered, response
from support.wait import eventually


def status(response):
    return response.headers.get("cache-status")


def test_a_miss_and_a_hit(cached, recorder):
    with cached(recorder(numbered("cache-control: max-age=60"))).http() as http:
        assert status(http.get("/")) == "martlet; fwd=miss; stored"
        ttl = int(re.fullmatch(r"martlet; hit; ttl=(\d+)", status(http.get("/")))[1])
        assert 55 <= ttl <= 60


def test_what_is_not_stored(cached, recorder):
    with cached(recorder(numbered("cache-control: no-store"))).http() as http:
        shown = status(http.get("/"))
    assert shown.startswith("martlet; fwd=miss") and "stored" not in shown


def test_a_revalidation(cached, recorder):
    def send(request):
        is_same = request.header("if-none-match")
        return response(b"" if is_same else b"body", *([FRESH] if is_same else NEARLY_STALE), 'etag: "a"', status=304 if is_same else 200)

    with cached(recorder(send)).http() as http:
        shown = []
        eventually(lambda: shown.append(status(http.get("/"))) or "fwd=stale" in shown[-1], what="a revalidation")
    assert "hit" not in shown[-1]


def test_a_validation_that_the_caller_wants(cached, recorder):
    def send(request):
        return response(b"body", FRESH, 'etag: "a"', status=304 if request.header("if-none-match") else 200)

    with cached(recorder(send)).http() as http:
        http.get("/")
        shown = status(http.get("/", headers={"cache-control": "no-cache"}))
    assert re.fullmatch(r"martlet; fwd=request; fwd-status=304; ttl=\d+", shown)


def test_what_is_stale_is_shown_and_counted(cached, recorder):
    """Served in place of an error, and while it is validated."""
    responses = iter([response(b"body", *NEARLY_STALE)])
    proxy = cached(recorder(lambda request: next(responses, response(b"", status=503))), before=[{"log": {}}], stale_if_error="1h")
    with proxy.http() as http:
        http.get("/")
        shown = []
        eventually(lambda: shown.append(status(http.get("/"))) or "hit" not in shown[-1], what="a stale response")
    assert re.fullmatch(r"martlet; fwd=stale; detail=stale_if_error; ttl=-?\d+", shown[-1])
    assert proxy.metrics().total("martlet_cache_requests_total", result="stale") == 1
    proxy.stdout.wait(r'"cache":\s*"stale"')


def test_what_does_not_look_into_the_cache(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        http.get("/")
        for got in (http.post("/"), http.get("/", headers={"authorization": "Bearer a"}), http.get("/", headers={"cache-control": "no-cache"})):
            assert re.match(r"martlet; fwd=(method|request|bypass|miss)", status(got)), status(got)


def test_it_follows_that_of_the_upstream(cached, recorder):
    with cached(recorder(numbered(FRESH, "cache-status: origin; hit"))).http() as http:
        for _ in range(2):
            whole = ", ".join(http.get("/").headers.get_list("cache-status"))
            assert re.fullmatch(r"origin; hit, martlet; [^,]+", whole), whole


@pytest.mark.parametrize("setting, is_shown", [("on", True), ("off", False), ("auto", True)])
def test_the_rule_of_the_listener_holds(cached, recorder, setting, is_shown):
    listeners = [{"address": "127.0.0.1:0", "proxy_status": setting}]
    with cached(recorder(numbered(FRESH)), file={"listeners": listeners}).http() as http:
        assert [status(http.get("/")) is not None for _ in range(2)] == [is_shown] * 2


def test_each_result_is_counted(cached, recorder):
    fields = {"/fresh": [FRESH], "/stale": [*NEARLY_STALE, 'etag: "a"'], "/never": ["cache-control: no-store"]}

    def send(request):
        if request.header("if-none-match"):
            return response(b"", FRESH, status=304)
        return response(b"body", *fields[request.target])

    proxy = cached(recorder(send))
    result = lambda name: proxy.metrics().total("martlet_cache_requests_total", result=name)  # noqa: E731
    with proxy.http() as http:
        http.get("/fresh")
        http.get("/fresh")
        http.post("/fresh")
        assert [result(name) for name in ("miss", "hit", "bypass")] == [1, 1, 1]
        http.get("/stale")
        eventually(lambda: http.get("/stale") and result("revalidated"), what="a revalidation")
        assert result("revalidated") == 1


def test_bytes_and_objects_are_shown(cached, recorder):
    proxy = cached(recorder(lambda request: response(b"x" * 10000, FRESH)))
    with proxy.http() as http:
        for path in "abc":
            http.get(f"/{path}")
    metrics = proxy.metrics()
    assert metrics.total("martlet_cache_objects") == 3
    assert 30000 < metrics.total("martlet_cache_bytes") < 40000
    assert metrics.total("martlet_cache_evictions_total") == 0


def test_the_log_has_the_result(cached, recorder):
    proxy = cached(recorder(numbered(FRESH)), before=[{"log": {}}])
    with proxy.http() as http:
        http.get("/")
        http.get("/")
        http.get("/", headers={"authorization": "Bearer a"})
    proxy.stdout.wait(r"^\{.*\}$", count=3)
    assert [json.loads(line)["cache"] for line in proxy.stdout] == ["miss", "hit", "bypass"]


def test_the_log_of_a_call_without_a_cache_has_no_such_field(martlet, recorder):
    proxy = martlet(upstream=recorder().url, more="interceptors: [{log: {}}]")
    with proxy.http() as http:
        http.get("/")
    proxy.stdout.wait(r"^\{.*\}$")
    assert "cache" not in json.loads(list(proxy.stdout)[0])
