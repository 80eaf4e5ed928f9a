"""With `stale_if_error` a stale response is better than none, for as long as the response and the file allow."""

import pytest
from cache.origin import FRESH, response
from support.wait import eventually

ALLOWED = "cache-control: max-age=60, stale-if-error=600"



@pytest.fixture
def start(cached, recorder):
    """A daemon whose upstream is fine once and then sends `error`, or nothing that is HTTP if there is none."""

    def run(error, *fields, **options):
        def script(peer):
            while request := peer.request():
                upstream.requests.append(request)
                if len(upstream.requests) == 1:
                    peer.send(response("good", *fields, "age: 59"))
                elif error is None:
                    return peer.reset()
                else:
                    peer.send(response("bad", status=error))

        upstream = recorder(script=script)
        return cached(upstream, **options), upstream

    return run


def after_it_is_stale(http, upstream):
    """The first response after the upstream has begun to fail."""
    calls = [http.get("/")]
    assert calls[0].text == "good"

    def has_failed():
        calls.append(http.get("/"))
        return len(upstream.requests) > 1

    eventually(has_failed, what="a stale response")
    return calls[-1]


@pytest.mark.parametrize("error", [500, 502, 503, 504, None], ids=str)
def test_an_error_of_the_upstream(start, error):
    proxy, upstream = start(error, ALLOWED, stale_if_error="10m")
    with proxy.http() as http:
        got = after_it_is_stale(http, upstream)
        assert (got.status_code, got.text) == (200, "good")
        assert int(got.headers["age"]) >= 60


@pytest.mark.parametrize("error", [404, 403, 410])
def test_what_is_no_failure_of_the_server_passes(start, error):
    proxy, upstream = start(error, ALLOWED, stale_if_error="10m")
    with proxy.http() as http:
        assert after_it_is_stale(http, upstream).status_code == error


def test_an_upstream_that_is_down(start):
    proxy, upstream = start(503, ALLOWED, stale_if_error="10m")
    with proxy.http() as http:
        assert http.get("/").text == "good"
        upstream.stop()
        eventually(lambda: int(http.get("/").headers["age"]) > 61, what="a stale response")
        assert http.get("/").text == "good"


def test_the_file_alone_allows_it(start):
    """As an operator's decision, for responses that say nothing about it."""
    proxy, upstream = start(503, FRESH, stale_if_error="10m")
    with proxy.http() as http:
        assert after_it_is_stale(http, upstream).text == "good"


def test_without_it_in_the_file_an_error_passes(start):
    proxy, upstream = start(503, FRESH)
    with proxy.http() as http:
        assert after_it_is_stale(http, upstream).status_code == 503


@pytest.mark.parametrize("rule", ["must-revalidate", "proxy-revalidate", "no-cache"])
def test_what_must_be_revalidated_is_never_stale(start, rule):
    proxy, upstream = start(503, f"cache-control: max-age=60, stale-if-error=600, {rule}", 'etag: "a"', stale_if_error="10m")
    with proxy.http() as http:
        assert after_it_is_stale(http, upstream).status_code == 503


@pytest.mark.parametrize(
    "fields, options",
    [("cache-control: max-age=60, stale-if-error=1", {"stale_if_error": "10m"}), (ALLOWED, {"stale_if_error": "1s"})],
    ids=["response", "file"],
)
def test_the_shorter_time_counts(start, fields, options):
    proxy, _ = start(503, fields, **options)
    with proxy.http() as http:
        http.get("/")
        eventually(lambda: http.get("/").status_code == 503, what="the end of that time")
