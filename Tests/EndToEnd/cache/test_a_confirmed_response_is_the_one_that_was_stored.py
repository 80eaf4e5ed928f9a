"""A 304 never goes to a caller who has asked nothing, and confirms only the version that it names."""

import itertools

import pytest
from cache.origin import FRESH, NEARLY_STALE, response
from support.wait import eventually


def confirming(*fields):
    """Sends a body that is stale soon, and confirms it with these fields."""

    def send(request):
        if request.header("if-none-match") == '"1"':
            return response(b"", *fields, status=304)
        return response(b"body", *NEARLY_STALE, 'etag: "1"')

    return send


def asked(upstream):
    return any(request.header("if-none-match") for request in upstream.requests)


@pytest.mark.parametrize("field", ["cache-control: private", "cache-control: no-store", "set-cookie: a=b", "vary: *"])
def test_what_may_not_be_stored_goes_to_its_caller_whole(cached, recorder, field):
    upstream = recorder(confirming(FRESH if "cache-control" not in field else 'etag: "1"', field))
    with cached(upstream).http() as http:
        http.get("/")
        seen = []
        eventually(lambda: seen.append(http.get("/")) or asked(upstream), what="a validation")
        assert {(one.status_code, one.text) for one in seen} == {(200, "body")}
        name, value = field.split(": ")
        assert value in seen[-1].headers[name]
        before = len(upstream.requests)
        assert http.get("/").text == "body"
        assert len(upstream.requests) == before + 1
        assert not upstream.requests[-1].header("if-none-match")


def test_a_confirmation_of_another_version_changes_nothing(cached, recorder):
    upstream = recorder(confirming(FRESH, 'etag: "2"'))
    with cached(upstream).http() as http:
        http.get("/")
        seen = []
        eventually(lambda: seen.append(http.get("/")) or asked(upstream), what="a validation")
        assert {(one.headers["etag"], one.text) for one in seen} == {('"1"', "body")}


def test_a_retry_behind_the_cache_still_validates_what_is_stored(cached, recorder):
    """What runs for each attempt begins with the request as it was before the cache."""
    numbers = itertools.count()
    versions = {'"1"': b"one", '"2"': b"two"}

    def send(request):
        if next(numbers) == 0:
            return response(b"one", *NEARLY_STALE, 'etag: "1"')
        if len(upstream.requests) == retried_at:
            return response(b"", status=503)
        if request.header("if-none-match") == '"2"':
            return response(b"", FRESH, 'etag: "2"', status=304)
        return response(versions['"2"'], FRESH, 'etag: "2"')

    retried_at = 2
    upstream = recorder(send)
    before = [{"headers": {"request": {"set": {"x-a": "b"}}}, "per": "attempt"}]
    behind = [{"validate": {"max_retries": 1, "rules": [{"when": {"status": 503}, "retry": {"delayed": "1ms"}}]}}]
    with cached(upstream, before=before, behind=behind).http() as http:
        http.get("/")
        eventually(
            lambda: http.get("/", headers={"if-none-match": '"2"'}) and len(upstream.requests) > 2, what="a validation"
        )
        got = http.get("/")
        assert versions[got.headers["etag"]] == got.content
