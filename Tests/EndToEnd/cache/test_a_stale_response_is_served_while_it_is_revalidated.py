"""With `stale_while_revalidate` callers do not wait for the upstream: one fetch goes on behind them."""

import threading

import pytest
from cache.origin import FRESH, NEARLY_STALE, response
from support.wait import eventually


@pytest.fixture
def slow(recorder):
    """Its second response, and each after it, waits for `resume`."""

    def start(*fields):
        def send(request):
            number = len(upstream.requests)
            if number > 1:
                assert upstream.resume.wait(20)
            return response(number, *(fields if number == 1 else [FRESH]))

        upstream = recorder(send)
        upstream.resume = threading.Event()
        return upstream

    made = []
    yield lambda *fields: made.append(start(*fields)) or made[-1]
    for one in made:
        one.resume.set()


def test_callers_get_the_stale_response_until_the_fetch_has_ended(cached, slow):
    upstream = slow(*NEARLY_STALE)
    with cached(upstream, stale_while_revalidate="30s").http() as http:
        eventually(lambda: http.get("/").text == "1" and len(upstream.requests) == 2, what="a fetch behind the callers")
        assert [http.get("/").text for _ in range(20)] == ["1"] * 20
        assert len(upstream.requests) == 2
        upstream.resume.set()
        eventually(lambda: http.get("/").text == "2", what="the new response")
    assert len(upstream.requests) == 2


@pytest.mark.parametrize("rule", ["must-revalidate", "proxy-revalidate"])
def test_callers_wait_for_what_must_be_revalidated(cached, slow, rule):
    upstream = slow(f"cache-control: max-age=60, stale-while-revalidate=30, {rule}", "age: 59")
    upstream.resume.set()
    with cached(upstream, stale_while_revalidate="30s").http() as http:
        texts = []
        eventually(lambda: texts.append(http.get("/").text) or len(upstream.requests) > 1, what="a second fetch")
    assert texts[-1] == "2"


def test_without_it_callers_wait(cached, slow):
    upstream = slow(*NEARLY_STALE)
    upstream.resume.set()
    with cached(upstream).http() as http:
        texts = []
        eventually(lambda: texts.append(http.get("/").text) or len(upstream.requests) > 1, what="a second fetch")
    assert texts[-1] == "2"


def test_a_fetch_that_fails_leaves_what_is_stored(cached, recorder):
    def send(request):
        return response("good", *NEARLY_STALE) if len(upstream.requests) == 1 else response("bad", status=500)

    upstream = recorder(send)
    with cached(upstream, stale_while_revalidate="30s", stale_if_error="30s").http() as http:
        eventually(lambda: http.get("/").text == "good" and len(upstream.requests) > 3, what="fetches that fail")
        assert http.get("/").text == "good"
