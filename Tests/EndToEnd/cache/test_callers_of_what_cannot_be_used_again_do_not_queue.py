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
    """A fetch takes half a second; one after the other would take ten times as long."""

    def send(request):
        threading.Event().wait(0.5)
        return response(b"body", *fields)

    proxy = cached(recorder(send))

    def call(_):
        with proxy.http() as http:
            return http.get("/").text

    start = monotonic()
    assert set(at_once(10, call)) == {"body"}
    assert monotonic() - start < 3


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
