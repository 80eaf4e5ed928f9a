"""What else is in a call works with a response that is resumed: tokens, addresses, reloads, rules, slow callers."""

import json
import signal
import threading

import pytest

from resumes.download import KIB, TAG, Download, content, digest, get, results, start
from support.http2 import h2_peer
from support.wait import eventually

FILE = content(2 << 20)
SMALL = content(100 * KIB)


class Held(Download):
    """A download that breaks off when the test says."""

    def __init__(self, body, cut, **options):
        self.may_end = threading.Event()
        super().__init__(body, **options)
        self.cut = cut

    def _download(self, peer):
        if self.requests:
            return super()._download(peer)
        self.requests.append(peer.request())
        length = len(self.body)
        peer.send(f"HTTP/1.1 200 OK\r\netag: {self.tag}\r\ncontent-length: {length}\r\n\r\n".encode())
        peer.send(self.body[: self.cut])
        assert self.may_end.wait(20)


def ask(proxy):
    caller = proxy.connect(timeout=30)
    caller.send(b"GET /file HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n")
    caller.head()
    return caller


@pytest.mark.parametrize("where", ["before", "after"])
def test_the_next_attempt_has_the_token_of_its_time(martlet, running, tmp_path, where):
    secret = tmp_path / "token"
    secret.write_text("one")
    upstream = running(Held(SMALL, 1000))
    token = {"token": {"file": str(secret)}}
    proxy = start(martlet, upstream, **{where: [token]})
    caller = ask(proxy)
    assert caller.read_exactly(1000) == SMALL[:1000]
    secret.write_text("two")

    def sent():
        get(proxy)
        return upstream.requests[-1].header("authorization")

    eventually(lambda: sent() == "Bearer two")
    upstream.may_end.set()
    assert caller.rest() == SMALL[1000:]
    tokens = [upstream.requests[index].header("authorization") for index in (0, -1)]
    assert (tokens, upstream.ranges[-1]) == (["Bearer one", "Bearer two"], ("bytes=1000-", TAG))


def test_another_address_has_the_rest(martlet, running):
    first, second = running(Download(SMALL, cuts=[1000] * 500)), running(Download(SMALL))
    addresses = [server.url.removeprefix("http://") for server in (first, second)]
    settings = {"url": "http://files.example", "addresses": addresses}
    proxy = start(martlet, first, settings=settings)

    def is_shared():
        assert get(proxy)[1] == SMALL
        return ("bytes=1000-", TAG) in second.ranges

    # Which address gets a call is up to chance.
    eventually(is_shared)


def test_a_reload_changes_nothing(martlet, running):
    upstream = running(Held(SMALL, 1000))
    proxy = start(martlet, upstream)
    caller = ask(proxy)
    assert caller.read_exactly(1000) == SMALL[:1000]
    other = running(Download(b"other"))
    proxy.reload(f"listen: 127.0.0.1:0\nworkers: 1\nupstream: {other.url}\n")
    upstream.may_end.set()
    assert caller.rest() == SMALL[1000:]
    assert other.requests == []


def test_a_drain_waits_for_the_rest(martlet, running):
    upstream = running(Held(SMALL, 1000))
    proxy = start(martlet, upstream)
    caller = ask(proxy)
    assert caller.read_exactly(1000) == SMALL[:1000]
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait("draining")
    upstream.may_end.set()
    assert caller.rest() == SMALL[1000:]


def test_a_body_of_json_that_rules_look_at(martlet, running):
    body = json.dumps({"code": 7, "text": "x" * 20_000}).encode()

    def respond(request, number, head, due):
        return (head[0], head[1] | {"content-type": "application/json"}), due

    rule = {"when": {"json": {"/code": 7}}, "replace": {"headers": {"set": {"x-code": "seven"}}}}
    chains = [
        {"before": [{"validate": {"rules": [rule]}}]},
        {"after": [{"validate": {"rules": [rule]}}]},
    ]
    for chain in chains:
        upstream = running(Download(body, cuts=[5000, 5000], respond=respond))
        head, received = get(start(martlet, upstream, **chain))
        assert b"x-code: seven" in head
        assert received == body
        assert len(upstream.requests) == 3


def test_a_rule_that_retries_begins_again(martlet, running):
    """The response that is dropped has a validator; the one that counts has none."""

    def respond(request, number, head, due):
        status, fields = head
        return (503, fields) if number == 0 else (200, fields | {"etag": None}), due

    upstream = running(Download(SMALL, cuts=[None, 1000], respond=respond))
    rule = {"when": {"status": 503}, "retry": {"immediate": {}}}
    proxy = start(martlet, upstream, before=[{"validate": {"max_retries": 2, "rules": [rule]}}])
    assert len(get(proxy)[1]) <= 1000
    assert upstream.ranges == [(None, None)] * 2
    assert results(proxy) == {}


@pytest.mark.parametrize("version", ["http1", "http2"])
def test_a_slow_caller(martlet, running, version):
    upstream = running(Download(FILE, cuts=[100 * KIB, 100 * KIB, 500 * KIB]))
    proxy = start(martlet, upstream)
    if version == "http1":
        caller = ask(proxy)
        eventually(lambda: len(upstream.requests) >= 2)
        received = b"".join(caller.read_exactly(KIB) for _ in range(200)) + caller.rest()
    else:
        caller = proxy.connect_h2(reading=False)
        stream = caller.open(h2_peer.request("/file"), end=True)
        eventually(lambda: len(upstream.requests) >= 2)
        caller.reading = True
        caller.grant(1 << 24)
        caller.grant(1 << 24, stream.id)
        received = bytes(caller.finish(stream).body)
        assert stream.reset is None
    assert digest(received) == digest(FILE)


def test_memory_does_not_hold_what_a_slow_caller_lacks(martlet, running):
    upstream = running(Download(FILE, cuts=[300 * KIB]))
    proxy = start(martlet, upstream)
    caller = ask(proxy)
    eventually(lambda: len(upstream.requests) == 2)
    held = proxy.metrics().total("martlet_held_memory_bytes")
    assert held < 1 << 20
    assert digest(caller.rest()) == digest(FILE)


def test_interim_responses_of_the_rest_are_not_passed(martlet, running):
    def respond(request, number, head, body):
        return head, body

    upstream = running(Download(SMALL, cuts=[1000], respond=respond))
    send_head = upstream.head

    def head(request):
        if request.header("range"):
            upstream.connections[-1].send(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")
        return send_head(request)

    upstream.head = head
    proxy = start(martlet, upstream)
    assert get(proxy)[1] == SMALL


def test_many_at_a_time(martlet, running):
    upstream = running(Download(SMALL, end="reset"))
    upstream.cuts = [number * 997 % len(SMALL) for number in range(40)]
    proxy = start(martlet, upstream, {"max": 31}, settings={"retry_budget": {"min_per_second": 1000}})
    outcomes = []
    threads = [threading.Thread(target=lambda: outcomes.append(get(proxy)[1] == SMALL)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert outcomes == [True] * 20


def test_hedged_calls(martlet, running):
    servers = [running(Download(SMALL, cuts=[1000])) for _ in range(2)]
    addresses = [server.url.removeprefix("http://") for server in servers]
    settings = {"url": "http://files.example", "addresses": addresses, "hedge": {"after": "1ms"}}
    proxy = start(martlet, servers[0], settings=settings)
    for _ in range(5):
        assert get(proxy)[1] == SMALL


def test_a_limit_of_attempts_ends_the_response(martlet, running):
    upstream = running(Download(SMALL, cuts=[1000]))
    proxy = start(martlet, upstream, before=[{"per": "attempt", "limit": {"rate": "1/h", "burst": 1}}])
    _, body = get(proxy)
    assert SMALL.startswith(body) and len(body) <= 1000
    assert len(upstream.requests) == 1


def test_the_next_calls_of_the_same_connection(martlet, running):
    upstream = running(Download(SMALL, cuts=[1000, None, 70_000]))
    with start(martlet, upstream).http() as http:
        for _ in range(3):
            assert http.get("/file").content == SMALL
    assert len(upstream.requests) == 5


def test_a_cache_stores_the_whole(martlet, running):
    def respond(request, number, head, body):
        return (head[0], head[1] | {"cache-control": "max-age=60"}), body

    upstream = running(Download(SMALL, cuts=[1000], respond=respond))
    small = {"small": {"bytes": "16MiB", "object": "1MiB"}}
    proxy = start(martlet, upstream, before=[{"cache": {"in": "small"}}], caches=small)
    assert [get(proxy)[1] == SMALL for _ in range(2)] == [True, True]
    assert len(upstream.requests) == 2
