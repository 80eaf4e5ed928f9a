"""A response is resumed within `max`, the delay, the deadline and the retry budget; then it ends as without `resume`."""

import time

import pytest

from resumes.download import KIB, Download, content, get, length, results, start
from support.http2 import h2_peer
from support.wait import eventually

FILE = content(100 * KIB)


def is_broken_off(proxy):
    head, body = get(proxy)
    assert length(head) == len(FILE)
    return FILE.startswith(body) and len(body) < len(FILE)


def test_max(martlet, running):
    upstream = running(Download(FILE, cuts=[10, 10, 10, 10]))
    proxy = start(martlet, upstream, {"max": 2})
    assert is_broken_off(proxy)
    assert len(upstream.requests) == 3
    assert results(proxy) == {"resumed": 2, "exhausted": 1}


def test_max_counts_each_response_for_itself(martlet, running):
    upstream = running(Download(FILE))
    proxy = start(martlet, upstream, {"max": 1})
    for _ in range(3):
        upstream.cuts = [10]
        assert get(proxy)[1] == FILE


def test_a_server_that_is_gone(martlet, running):
    """Attempts that get no response are counted, and the caller hears of the first cause."""
    upstream = running(Download(FILE, cuts=[10]))

    def respond(request, number, head, body):
        upstream.close_listener()
        return head, body

    upstream.respond = respond
    proxy = start(martlet, upstream, {"max": 2, "delayed": "10ms"})
    # The port is closed when the response breaks off, and so is every connection.
    assert is_broken_off(proxy)
    assert results(proxy) == {"failed": 2, "exhausted": 1}
    assert "closed in the middle of the response" in proxy.stdout.wait('"trace"').string


@pytest.mark.parametrize("status", [502, 503, 504])
@pytest.mark.parametrize("fails", [1, 2, 3])
def test_a_server_that_starts_again(martlet, running, status, fails):
    """A proxy before it responds meanwhile: that counts as an attempt without a response."""

    def respond(request, number, head, body):
        if 1 <= number <= fails:
            return (status, {"content-length": "5"}), b"later"
        return head, body

    upstream = running(Download(FILE, cuts=[10], respond=respond))
    proxy = start(martlet, upstream, {"max": 3, "delayed": "10ms"})
    if fails < 3:
        assert get(proxy)[1] == FILE
        assert results(proxy) == {"failed": fails, "resumed": 1}
    else:
        assert is_broken_off(proxy)
        assert results(proxy) == {"failed": 3, "exhausted": 1}
    assert len(upstream.requests) == min(fails, 2) + 2


def test_the_budget(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))
    proxy = start(martlet, upstream, settings={"retry_budget": {"ratio": "0", "min_per_second": 0}})
    assert is_broken_off(proxy)
    assert (len(upstream.requests), results(proxy)) == (1, {"budget": 1})


def test_the_delay(martlet, running):
    upstream = running(Download(FILE, cuts=[10, 10]))
    began = time.monotonic()
    assert get(start(martlet, upstream, {"max": 3, "delayed": "200ms"}))[1] == FILE
    assert time.monotonic() - began >= 0.4


def test_the_deadline(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))
    proxy = start(martlet, upstream, {"max": 3, "delayed": "1m"}, before=[{"deadline": {"default": "30s"}}])
    assert is_broken_off(proxy)
    assert (len(upstream.requests), results(proxy)) == (1, {"deadline": 1})


def test_the_time_that_the_upstream_has(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))
    settings = {"timeouts": {"call": "300ms"}}
    proxy = start(martlet, upstream, {"max": 3, "delayed": "20s"}, settings=settings)
    assert is_broken_off(proxy)
    assert "timeouts.call" in proxy.stdout.wait("deadline_exceeded").string


def test_a_caller_that_leaves_during_the_delay(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))
    proxy = start(martlet, upstream, {"max": 3, "delayed": "20s"})
    caller = proxy.connect()
    caller.send(b"GET /file HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    assert caller.read_exactly(10) == FILE[:10]
    caller.close()
    proxy.stdout.wait("canceled")
    assert proxy.admin("/calls/active").json()["calls"] == []
    assert len(upstream.requests) == 1


def test_a_stream_that_is_reset_during_the_delay(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))
    proxy = start(martlet, upstream, {"max": 3, "delayed": "20s"})
    caller = proxy.connect_h2()
    stream = caller.open(h2_peer.request("/file"), end=True)
    caller.wait(lambda: len(stream.body) == 10)
    caller.reset(stream.id)
    proxy.stdout.wait("canceled")
    assert proxy.admin("/calls/active").json()["calls"] == []


def test_a_caller_that_leaves_after_an_attempt_without_a_connection(martlet, running):
    upstream = running(Download(FILE, cuts=[10]))

    def respond(request, number, head, body):
        upstream.close_listener()
        return head, body

    upstream.respond = respond
    # At once, and then after 20 s.
    proxy = start(martlet, upstream, {"max": 3, "fibonacci": {}, "unit": "20s"})
    caller = proxy.connect()
    caller.send(b"GET /file HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    eventually(lambda: results(proxy) == {"failed": 1})
    caller.close()
    proxy.stdout.wait("canceled")
    assert proxy.admin("/calls/active").json()["calls"] == []


def test_a_stalled_response_that_cannot_be_resumed_ends(martlet, running):
    upstream = running(Download(FILE, cuts=[10, 10], end="stall"))
    proxy = start(martlet, upstream, {"max": 1, "stalled": "200ms"})
    assert is_broken_off(proxy)
    assert results(proxy) == {"resumed": 1, "exhausted": 1}
    assert "the response stalled" in proxy.stdout.wait('"trace"').string


def test_a_stalled_response_without_a_validator_goes_on(martlet, running):
    def respond(request, number, head, body):
        return (head[0], head[1] | {"etag": None}), body

    quiet = running(Download(FILE, cuts=[10], end="stall", respond=respond))
    proxy = start(martlet, quiet, {"max": 1, "stalled": "100ms"})
    caller = proxy.connect()
    caller.send(b"GET /file HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    assert caller.read_exactly(10) == FILE[:10]
    # The stalled response of another daemon shows that the time has passed.
    other = running(Download(FILE, cuts=[10, 10], end="stall"))
    assert get(start(martlet, other, {"max": 2, "stalled": "200ms"}))[1] == FILE
    assert len(proxy.admin("/calls/active").json()["calls"]) == 1


@pytest.mark.parametrize(
    "option, problem",
    [
        ({"max": 0}, '"max" cannot be "0"'),
        ({"delayed": "1s", "fibonacci": {}}, "cannot be set together"),
        ({"maximum": 3}, "maximum"),
    ],
)
def test_options_that_are_wrong(command, tmp_path, option, problem):
    file = tmp_path / "martlet.yaml"
    file.write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\ninterceptors: [{{ resume: {option} }}]\n")
    program = command("check", "-c", file)
    assert program.code != 0
    assert problem in program.stdout.text + program.stderr.text
