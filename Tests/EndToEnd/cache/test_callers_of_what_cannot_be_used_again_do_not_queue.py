"""Callers wait for each other only if one can have what another fetches."""

import threading
from time import monotonic

import pytest
from cache.origin import response
from support.concurrency import at_once

FIELDS = {
    "no-cache": ["cache-control: no-cache", 'etag: "1"'],
    "stale at once": ["cache-control: max-age=0"],
    "stale on arrival": ["cache-control: max-age=60", "age: 70"],
}


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
def test_they_are_served_together(cached, recorder, fields):
    """A fetch takes a second; one after the other would take ten."""

    def send(request):
        threading.Event().wait(1)
        return response(b"body", *fields)

    proxy = cached(recorder(send))

    def call(_):
        with proxy.http() as http:
            return http.get("/").text

    start = monotonic()
    assert set(at_once(10, call)) == {"body"}
    assert monotonic() - start < 6


CONFIRMED = {
    "no-cache": ("cache-control: no-cache", "", True),
    "stale at once": ("cache-control: max-age=0", "", True),
    "fresh, but not for those who reload": ("cache-control: max-age=60", "max-age=0", True),
    "fresh, but not for long enough": ("cache-control: max-age=60", "min-fresh=120", True),
    "no-cache, and no validator": ("cache-control: no-cache", "", False),
    "stale at once, and no validator": ("cache-control: max-age=0, must-revalidate", "", False),
}


@pytest.mark.parametrize("control, asked, has_tag", CONFIRMED.values(), ids=CONFIRMED)
def test_they_are_at_the_upstream_together(cached, recorder, control, asked, has_tag):
    """Each of them has to ask the upstream, which responds once all have."""
    together, is_warm = threading.Barrier(6), threading.Event()

    def send(request):
        if is_warm.is_set():
            together.wait(5)
        fields = [control, *(['etag: "1"'] if has_tag else [])]
        return response(b"body", *fields, status=304 if request.header("if-none-match") else 200)

    upstream = recorder(send)
    proxy = cached(upstream)

    def call(_=None):
        with proxy.http() as http:
            return http.get("/", headers={"cache-control": asked} if asked else {}).text

    assert call() == "body"
    is_warm.set()
    assert set(at_once(6, call)) == {"body"}
    assert len(upstream.requests) == 7


def test_who_reloads_what_is_not_stored_does_not_queue(cached, recorder):
    together = threading.Barrier(6)

    def send(request):
        together.wait(5)
        return response(b"body", "cache-control: max-age=60")

    proxy = cached(recorder(send))

    def call(_):
        with proxy.http() as http:
            return http.get("/", headers={"cache-control": "max-age=0"}).text

    assert set(at_once(6, call)) == {"body"}


def test_what_nobody_can_use_is_not_stored(cached, recorder):
    proxy = cached(recorder(lambda request: response(b"body", "cache-control: no-cache")))
    with proxy.http() as http:
        for _ in range(2):
            assert http.get("/").headers["cache-status"] == "martlet; fwd=miss"


def test_what_has_no_room_is_counted_and_nobody_waits_for_it(cached, recorder):
    """The body alone would fit, but not with its key."""
    together, is_warm = threading.Barrier(4), threading.Event()

    def send(request):
        if is_warm.is_set():
            together.wait(5)
        return response(b"x" * 40_000, "cache-control: max-age=60")

    proxy = cached(recorder(send), store={"bytes": "64KiB", "object": "64KiB"})

    def call(_=None):
        with proxy.http() as http:
            return len(http.get("/" + "y" * 26_000).content)

    assert call() == 40_000
    assert proxy.metrics().total("martlet_limit_hits_total", limit="cache_room") == 1
    is_warm.set()
    assert set(at_once(4, call)) == {40_000}


def test_a_call_waits_for_another_only_so_long(cached, recorder):
    """The time is that of the option `wait`; then it fetches the response, too."""
    arrived, both = threading.Event(), threading.Barrier(2)

    def send(request):
        arrived.set()
        both.wait(20)
        return response(b"body", "cache-control: max-age=60")

    proxy = cached(recorder(send), wait="100ms")

    def call(number):
        if number:
            arrived.wait(10)
        with proxy.http(timeout=30) as http:
            return http.get("/").text

    assert at_once(2, call) == ["body", "body"]
    assert proxy.metrics().total("martlet_limit_hits_total", limit="cache_wait") == 1


def test_a_request_with_a_body_of_its_own_does_not_end_the_wait_of_a_get(cached, recorder):
    """With `rpc`, requests are looked at to their end; that of a GET is none."""
    arrived, go_on = threading.Event(), threading.Event()

    def send(request):
        arrived.set()
        go_on.wait(20)
        return response(b"body", "cache-control: max-age=60")

    upstream = recorder(send)
    proxy = cached(upstream, rpc={"methods": ["a.B/*"], "ttl": "30s"})

    def call(_):
        with proxy.http() as http:
            return http.get("/").text

    def release():
        arrived.wait(20)
        go_on.set()

    threading.Thread(target=release).start()
    assert set(at_once(8, call)) == {"body"}
    assert len(upstream.requests) == 1
