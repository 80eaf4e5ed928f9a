"""A response that breaks off at any byte reaches the caller whole, by a range of the same version."""

import json
import subprocess

import pytest

from resumes.download import KIB, TAG, Download, content, digest, get, length, results, start
from support.http2.h2_recorder import H2Recorder
from support.http2 import h2_peer

FILE = content(10 << 20)
SMALL = content(300 * KIB)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("end", ["close", "reset"])
def test_at_every_64_kib(martlet, running, end):
    upstream = running(Download(FILE, end=end))
    proxy = start(martlet, upstream, settings={"retry_budget": {"min_per_second": 1000}})
    expected = digest(FILE)
    for cut in range(0, len(FILE), 64 * KIB):
        upstream.requests.clear()
        upstream.cuts = [cut]
        head, body = get(proxy)
        assert head.startswith(b"HTTP/1.1 200 ") and length(head) == len(FILE)
        assert b"content-range" not in head
        assert digest(body) == expected, f"cut at {cut}"
        (first, second) = upstream.ranges
        assert first == (None, None)
        assert second[1] == TAG
        offset = int(second[0].removeprefix("bytes=").removesuffix("-"))
        # What a reset overtakes was never there.
        assert offset == cut if end == "close" else offset <= cut
    assert results(proxy) == {"resumed": 160}


def test_the_log_says_where(martlet, running):
    proxy = start(martlet, running(Download(SMALL, cuts=[1000])))
    assert get(proxy)[1] == SMALL
    record = json.loads(proxy.stdout.wait('"call"').string)
    (note,) = [note for note in record["trace"] if note["interceptor"] == "resume"]
    assert (note["event"], note["verdict"], note["reason"]) == ("body", "resume", "resumed at 1000")
    assert (record["status"], record["attempts"], record["response_bytes"]) == (200, 2, len(SMALL))


def test_several_times(martlet, running):
    upstream = running(Download(SMALL, cuts=[100, 50, 7]))
    proxy = start(martlet, upstream)
    assert get(proxy)[1] == SMALL
    assert upstream.ranges[1:] == [("bytes=100-", TAG), ("bytes=150-", TAG), ("bytes=157-", TAG)]
    assert results(proxy) == {"resumed": 3}


def test_a_range_of_the_caller_keeps_its_end(martlet, running):
    upstream = running(Download(SMALL, cuts=[100]))
    head, body = get(start(martlet, upstream), "range: bytes=5000-9999")
    assert head.startswith(b"HTTP/1.1 206 ")
    assert b"content-range: bytes 5000-9999/%d" % len(SMALL) in head
    assert body == SMALL[5000:10000]
    assert upstream.ranges == [("bytes=5000-9999", None), ("bytes=5100-9999", TAG)]


def test_a_server_without_ranges_sends_all_again(martlet, running):
    def respond(request, number, head, body):
        return (200, {"etag": TAG, "content-length": str(len(SMALL))}), SMALL

    upstream = running(Download(SMALL, cuts=[100_000, 40_000], respond=respond))
    proxy = start(martlet, upstream)
    assert get(proxy)[1] == SMALL
    # The second response broke off before it brought anything that was not there.
    assert upstream.ranges[1:] == [("bytes=100000-", TAG), ("bytes=100000-", TAG)]


def test_the_rest_may_come_in_chunks(martlet, running):
    def respond(request, number, head, body):
        status, fields = head
        if number == 0:
            return head, body
        chunks = b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
        return (status, fields | {"content-length": None, "transfer-encoding": "chunked"}), chunks

    head, body = get(start(martlet, running(Download(SMALL, cuts=[100], respond=respond))))
    assert (length(head), body) == (len(SMALL), SMALL)


def test_a_connection_that_closed_meanwhile_costs_no_resume(martlet, running):
    """The pool has connections that die with the response, as when a server restarts."""
    upstream = running(Download(SMALL))
    proxy = start(martlet, upstream, {"max": 1})
    assert get(proxy)[1] == SMALL
    upstream.cuts = [4000]
    assert get(proxy)[1] == SMALL
    assert results(proxy) == {"resumed": 1}


def test_curl_gets_the_file(martlet, running, tmp_path):
    proxy = start(martlet, running(Download(FILE, cuts=[1 << 20, 3 << 20], end="reset")))
    for version in ["--http1.1", "--http2-prior-knowledge"]:
        out = tmp_path / version
        subprocess.run(["curl", "--fail", "-sS", version, "-o", out, f"{proxy.url}/file"], check=True, timeout=30)
        assert digest(out.read_bytes()) == digest(FILE)


@pytest.mark.parametrize("end", ["reset", "abort", "goaway"])
def test_over_http_2(martlet, running, end):
    def respond(peer, stream):
        peer.finish(stream)
        seen.append(dict(stream.heads[0]))
        asked = seen[-1].get(b"range")
        first = int(asked[6:-1]) if asked else 0
        fields = [("etag", TAG), ("content-length", str(len(SMALL) - first))]
        if asked:
            fields.append(("content-range", f"bytes {first}-{len(SMALL) - 1}/{len(SMALL)}"))
        peer.headers(stream.id, h2_peer.response(206 if asked else 200, *fields))
        if asked:
            return peer.data(stream.id, SMALL[first:], end=True)
        peer.data(stream.id, SMALL[:100_000])
        if end == "abort":
            return peer.abort()
        if end == "goaway":
            peer.go_away(stream.id)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)

    seen = []
    upstream = running(H2Recorder(respond))
    proxy = start(martlet, upstream)
    caller = proxy.connect_h2()
    stream = caller.finish(caller.open(h2_peer.request("/file"), end=True))
    assert (stream.reset, len(stream.heads)) == (None, 1)
    assert (dict(stream.heads[0])[b":status"], bytes(stream.body)) == (b"200", SMALL)
    assert len(seen) == 2 and seen[1][b"if-range"] == TAG.encode()


def test_in_tls(martlet, running, authority):
    ours = authority()
    upstream = running(Download(SMALL, cuts=[1000], tls=ours.issue().server()))
    settings = {"tls": {"ca": str(ours.file)}}
    assert get(start(martlet, upstream, settings=settings))[1] == SMALL
    assert len(upstream.requests) == 2


def test_once_for_a_call(martlet, running):
    text = {"interceptors": [{"log": {}}, {"per": "call", "resume": {"max": 3}}]}
    upstream = running(Download(SMALL, cuts=[1000, 1000]))
    assert get(start(martlet, upstream, **text))[1] == SMALL
    assert upstream.ranges[1:] == [("bytes=1000-", TAG), ("bytes=2000-", TAG)]


def test_a_stalled_response_is_resumed(martlet, running):
    upstream = running(Download(SMALL, cuts=[1000], end="stall"))
    proxy = start(martlet, upstream, {"max": 3, "stalled": "300ms"})
    assert get(proxy)[1] == SMALL
    assert upstream.ranges[1:] == [("bytes=1000-", TAG)]


def test_a_caller_that_does_not_read_is_no_stalled_upstream(martlet, running):
    upstream = running(Download(FILE))
    proxy = start(martlet, upstream, {"max": 3, "stalled": "200ms"})
    caller = proxy.connect(timeout=30)
    caller.send(b"GET /file HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n")
    caller.read_exactly(1000)
    # Other calls show that more than the time has passed.
    slow = running(Download(SMALL, cuts=[10, 10], end="stall"))
    other = start(martlet, slow, {"max": 2, "stalled": "400ms"})
    assert get(other)[1] == SMALL
    assert caller.rest().endswith(FILE[-1000:])
    assert len(upstream.requests) == 1
