"""What was sent for one caller's credentials is for no other caller, unless the response says that it is for all."""

import pytest
from cache.origin import FRESH, numbered

ALICE, BOB = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}
SESSIONS = {"cookie": "session=alice"}, {"cookie": "session=bob"}
CONSENT = ["public, max-age=60", "s-maxage=60", "max-age=60, must-revalidate"]


def test_a_response_to_a_request_with_authorization_is_not_stored(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert [http.get("/", headers=who).text for who in (ALICE, BOB, ALICE, {})] == ["1", "2", "3", "4"]


def test_what_is_stored_is_not_for_requests_with_authorization(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert http.get("/").text == "1"
        assert http.get("/", headers=ALICE).text == "2"
        assert http.get("/").text == "1"


@pytest.mark.parametrize("directives", CONSENT)
def test_a_response_may_say_that_it_is_for_all(cached, recorder, directives):
    with cached(recorder(numbered(f"cache-control: {directives}"))).http() as http:
        assert [http.get("/", headers=who).text for who in (ALICE, BOB, {})] == ["1", "1", "1"]


def test_a_response_to_a_request_with_cookies_is_not_stored(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert [http.get("/", headers=who).text for who in (*SESSIONS, {})] == ["1", "2", "3"]


def test_what_is_stored_is_not_for_requests_with_cookies(cached, recorder):
    with cached(recorder(numbered(FRESH))).http() as http:
        assert http.get("/").text == "1"
        assert http.get("/", headers=SESSIONS[0]).text == "2"
        assert http.get("/").text == "1"


def test_the_file_may_say_that_cookies_do_not_matter(cached, recorder):
    upstream = recorder(numbered("cache-control: public, max-age=60"))
    with cached(upstream, cookies="ignore").http() as http:
        assert [http.get("/", headers=who).text for who in (*SESSIONS, {})] == ["1", "1", "1"]


def test_set_cookie_is_not_stored_even_then(cached, recorder):
    upstream = recorder(numbered("cache-control: public, max-age=60", "set-cookie: session=1"))
    with cached(upstream, cookies="ignore").http() as http:
        assert [http.get("/", headers=who).text for who in SESSIONS] == ["1", "2"]


def test_credentials_that_are_removed_before_the_cache_do_not_matter(cached, recorder):
    before = [{"headers": {"request": {"remove": ["authorization", "cookie"]}}}]
    with cached(recorder(numbered(FRESH)), before=before).http() as http:
        assert [http.get("/", headers=who).text for who in (ALICE, BOB, SESSIONS[0])] == ["1", "1", "1"]


def test_a_token_behind_the_cache_is_the_same_for_all(cached, recorder):
    upstream = recorder(numbered(FRESH))
    with cached(upstream, behind=[{"token": {"value": "s3cret"}}]).http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "1"]
    assert upstream.requests[0].header("authorization") == "Bearer s3cret"


def test_a_token_before_the_cache_counts_as_the_callers(cached, recorder):
    with cached(recorder(numbered(FRESH)), before=[{"token": {"value": "s3cret"}}]).http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "2"]
