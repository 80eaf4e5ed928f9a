"""Without a statement of freshness a response is not stored, unless `heuristic` guesses one from Last-Modified."""

import re
import time

import pytest
from cache.origin import FRESH, http_date, numbered
from support.wait import eventually

DAY = 86400


def changed(days):
    return f"last-modified: {http_date(time.time() - days * DAY)}"


def ttl(response):
    match = re.search(r"ttl=(-?\d+)", response.headers["cache-status"])
    return int(match[1]) if match else None


def test_off(cached, recorder):
    with cached(recorder(numbered(changed(10)))).http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize("days, share, expected", [(1, "10%", DAY // 10), (5, "10%", DAY // 2), (100, "10%", DAY), (0.5, "50%", DAY // 4)])
def test_a_share_of_its_age_at_most_a_day(cached, recorder, days, share, expected):
    with cached(recorder(numbered(changed(days))), heuristic=share).http() as http:
        http.get("/")
        hit = http.get("/")
    assert hit.text == "1"
    assert expected - 5 <= ttl(hit) <= expected + 1


@pytest.mark.parametrize("fields", [[], ["cache-control: no-store"], ["last-modified: yesterday"], ["expires: 0"]], ids=str)
def test_where_there_is_nothing_to_guess_from(cached, recorder, fields):
    with cached(recorder(numbered(*fields)), heuristic="10%").http() as http:
        assert [http.get("/").text for _ in range(2)] == ["1", "2"]


def test_a_statement_of_the_response_wins(cached, recorder):
    with cached(recorder(numbered(changed(100), FRESH, "age: 59")), heuristic="10%").http() as http:
        assert http.get("/").text == "1"
        eventually(lambda: http.get("/").text != "1", what="a second fetch")


@pytest.mark.parametrize("status, is_stored", [(200, True), (404, True), (302, False), (500, False)])
def test_only_statuses_that_may_be_stored(cached, recorder, status, is_stored):
    with cached(recorder(numbered(changed(10), "location: /b", status=status)), heuristic="10%").http() as http:
        assert (http.get("/").text == http.get("/").text) is is_stored


@pytest.mark.parametrize("share", ["0%", "101%", "-1%", "10", "much"])
def test_what_is_no_share_is_an_error_of_the_file(cached, recorder, command, tmp_path, share):
    file = tmp_path / "martlet.yaml"
    file.write_text(cached.configuration(recorder(), heuristic=share))
    checked = command("check", "-c", file)
    assert checked.code == 78
    assert any("heuristic" in line or share in line for line in checked.stderr)
