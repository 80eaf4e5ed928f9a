"""The page of recent calls can be followed: each call is a line as soon as it ends, until the reader or the daemon stops."""

import json
import signal
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import httpx
import pytest

from support.http1.peer import connect
from support.http1.recorder import OK
from support.martlet import CLEAR_TEXT
from support.wait import eventually

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
workers: {workers}
interceptors:
  - name: closed
    when: {{ header: {{ x-closed: present }} }}
    reject: {{ code: permission_denied }}
"""
CLOSED = {"x-closed": "1"}
PAGE = "/calls/recent?follow=true"
MAX_STREAMS = 16


@pytest.fixture
def start(martlet, recorder):
    def start(response=OK, workers=1):
        return martlet(CONFIGURATION.format(url=recorder(response=response).url, workers=workers))

    return start


@contextmanager
def follow(proxy, http2=False):
    """The lines of the page as they arrive; as long as nobody asks for the next, nothing is read."""
    transport = httpx.HTTPTransport(uds=str(proxy.admin_socket), http1=not http2, http2=http2, **CLEAR_TEXT)
    with httpx.Client(base_url="http://localhost", transport=transport, timeout=10) as client:
        with client.stream("GET", PAGE) as response:
            assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson")
            yield (json.loads(line) for line in response.iter_lines())


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
def test_lines_arrive_as_calls_end(start, http2):
    proxy = start(workers=2)
    with proxy.http(headers=CLOSED) as http:
        http.get("/kept")
        with follow(proxy, http2) as lines:
            kept = next(lines)
            assert (kept["path"], kept["code"]) == ("/kept", "permission_denied")
            assert [note["interceptor"] for note in kept["trace"]] == ["closed"]
            for number in range(20):
                http.get(f"/{number}")
                assert next(lines)["path"] == f"/{number}"
        assert kept in proxy.admin("/calls/recent").json()["calls"]


def collect(lines):
    """Reads on another thread until a call of /after comes; returns the thread, and the list of the lines so far."""
    collected = []

    def run():
        for line in lines:
            collected.append(line)
            if line.get("path") == "/after":
                return

    thread = threading.Thread(target=run)
    thread.start()
    return thread, collected


def fail_calls(http, collected):
    """Has calls with long paths fail until a reader that keeps up has got 4 MB of lines."""
    path, end = "/" + 16_000 * "x", time.monotonic() + 60
    while len(collected) < 250:
        assert time.monotonic() < end
        assert http.get(path).status_code == 403


def count(lines):
    """How many lines there were, lost or not."""
    return sum(line.get("lost", 1) for line in lines)


@pytest.mark.parametrize("http2", [False, True], ids=["HTTP/1.1", "HTTP/2"])
def test_a_reader_that_stalls_is_told_how_many_lines_it_lost(start, http2):
    proxy = start()
    with proxy.http(headers=CLOSED) as http, follow(proxy, http2) as slow, follow(proxy) as fast:
        http.get("/first")
        assert next(slow)["path"] == next(fast)["path"] == "/first"
        thread, collected = collect(fast)
        fail_calls(http, collected)
        # What waits at once is about a mebibyte, and what the sockets hold.
        waited = [next(slow)]
        while "lost" not in waited[-1]:
            waited.append(next(slow))
        assert 0 < sum(len(line["path"]) for line in waited[:-1]) < 3 << 20
        # A worker shows at most 100 failed calls a second.
        time.sleep(1.1)
        http.get("/after")
        while waited[-1].get("path") != "/after":
            waited.append(next(slow))
        thread.join(10)
        times = [line["time"] for line in waited if "time" in line]
        assert times == sorted(times)
        assert count(waited) == count(collected)


def test_a_drain_ends_the_stream_after_the_last_call(start):
    has_begun, may_respond = threading.Event(), threading.Event()

    def response(_):
        has_begun.set()
        may_respond.wait(30)
        return OK

    proxy = start(response=response)
    with follow(proxy) as lines, closing(proxy.connect()) as caller:
        caller.send(b"GET /last HTTP/1.1\r\nhost: a\r\n\r\n")
        assert has_begun.wait(10)
        proxy.signal(signal.SIGTERM)
        proxy.stderr.wait(r"\bdraining\b")
        may_respond.set()
        assert caller.response().status == 200
        assert [line["path"] for line in lines] == ["/last"]
    assert proxy.exit_code() == 0


def test_a_reader_that_stalls_holds_up_no_drain(start):
    proxy = start()
    with proxy.http(headers=CLOSED) as http, follow(proxy), follow(proxy) as fast:
        thread, collected = collect(fast)
        fail_calls(http, collected)
        proxy.signal(signal.SIGTERM)
        assert proxy.exit_code() == 0
        thread.join(10)


def test_there_is_a_limit_of_streams(start):
    proxy = start()

    def ask():
        caller = stack.enter_context(closing(connect(str(proxy.admin_socket))))
        caller.send(f"GET {PAGE} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        return caller

    with ExitStack() as stack:
        callers = [ask() for _ in range(MAX_STREAMS)]
        for caller in callers:
            assert caller.head().startswith(b"HTTP/1.1 200 ")
        response = ask().response()
        assert response.status == 503
        assert response.body == b"16 streams are open, and there may be no more; end one of them\n"
        # Other pages respond, and a place is free as soon as a reader goes.
        assert proxy.admin("/readyz").status_code == 200
        callers[0].close()
        eventually(lambda: ask().head().startswith(b"HTTP/1.1 200 "))


@pytest.mark.parametrize(
    "query, error",
    [
        ("folow=true", 'unknown parameter "folow"; did you mean "follow"?'),
        ("follow=yes", '"yes" is not true or false; write follow=true or follow=false'),
        ("follow=%", "the query has an escape that is not valid; write a percent sign as %25"),
    ],
)
def test_a_query_that_is_not_understood_is_an_error(start, query, error):
    response = start().admin(f"/calls/recent?{query}")
    assert (response.status_code, response.text) == (400, error + "\n")


def test_without_follow_the_page_is_whole(start):
    proxy = start()
    assert proxy.admin("/calls/recent?follow=false").json() == proxy.admin("/calls/recent").json() == {"calls": []}
    head = proxy.admin(PAGE, "HEAD")
    assert (head.status_code, head.headers["content-type"], head.text) == (200, "application/x-ndjson", "")
