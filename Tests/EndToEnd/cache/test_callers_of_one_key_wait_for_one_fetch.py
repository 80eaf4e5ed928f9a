"""Callers of a cold key cost one upstream request; those of a response that is not stored do not wait for each other."""

import threading
import time

import pytest
from cache.origin import FRESH, response
from support.wait import eventually

pytestmark = [pytest.mark.alone, pytest.mark.timeout(120)]

CALLERS = 1000
GET = b"GET /cold HTTP/1.1\r\nhost: a.example\r\n\r\n"
CONNECT_GET = "GET /shop.v1.Catalog/Get?connect=v1&encoding=json&message=%7B%7D HTTP/1.1\r\nhost: a.example\r\n"
UPSTREAM = {"limits": {"connections": 4 * CALLERS}}


class Held:
    """An upstream that holds each response back until `release`; of the first one it may send a part before."""

    def __init__(self, recorder, fields, body=b"body"):
        self.arrived, self._lock = 0, threading.Lock()
        self.send_first, self.release = threading.Event(), threading.Event()
        self._head, _, self._body = response(body, *fields).partition(b"\r\n\r\n")
        self.upstream = recorder(script=self._script)

    def _script(self, peer):
        while peer.request():
            with self._lock:
                self.arrived += 1
                is_first = self.arrived == 1
            if is_first:
                assert self.send_first.wait(60)
                peer.send(self._head + b"\r\n\r\n")
                assert self.release.wait(60)
                peer.send(self._body)
            else:
                assert self.release.wait(60)
                peer.send(self._head + b"\r\n\r\n" + self._body)

    def stop(self):
        self.send_first.set()
        self.release.set()


@pytest.fixture
def start(cached):
    """A daemon that counts calls, and opens as many connections to its upstream as these tests need."""
    return lambda upstream, **parts: cached(upstream, before=[{"metrics": {}}], settings=UPSTREAM, **parts)


@pytest.fixture
def held(recorder, running):
    return lambda *fields, **options: running(Held(recorder, fields, **options))


def callers(proxy, count=CALLERS, request=GET):
    """So many callers, each with a connection, whose requests have all arrived."""
    made = [proxy.connect(timeout=60) for _ in range(count)]
    before = proxy.metrics().total("martlet_rpc_in_flight")
    for one in made:
        one.send(request)
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == before + count, 20, "all callers to wait")
    return made


def bodies(callers):
    found = [one.response().body for one in callers]
    for one in callers:
        one.close()
    return found


def results(proxy):
    """How often each result was counted."""
    return {labels["result"]: value for labels, value in proxy.metrics().select("martlet_cache_requests_total") if value}


def test_a_thousand_callers_cost_one_request(start, held):
    origin = held(FRESH)
    proxy = start(origin.upstream, file={"workers": 2})
    waiting = callers(proxy)
    assert origin.arrived == 1
    origin.stop()
    assert bodies(waiting) == [b"body"] * CALLERS
    assert origin.arrived == 1
    assert results(proxy) == {"miss": 1, "collapsed": CALLERS - 1}


def test_a_large_response_reaches_all_of_them(start, held):
    body = bytes(number % 251 for number in range(900_000))
    origin = held(FRESH, body=body)
    waiting = callers(start(origin.upstream), count=50)
    origin.stop()
    assert set(bodies(waiting)) == {body}
    assert origin.arrived == 1


def test_callers_of_a_response_that_is_not_stored_are_released_at_once(start, held):
    """The head of the first response shows it, although that response has not ended."""
    origin = held("cache-control: no-store")
    waiting = callers(start(origin.upstream, file={"workers": 2}))
    assert origin.arrived == 1
    origin.send_first.set()
    eventually(lambda: origin.arrived >= 0.9 * CALLERS, 20, "concurrent requests at the upstream")
    origin.stop()
    assert bodies(waiting) == [b"body"] * CALLERS
    assert origin.arrived == CALLERS


def test_after_that_they_do_not_wait_at_all(start, held):
    """The key is marked: no head has come of any of these."""
    origin = held("cache-control: no-store")
    proxy = start(origin.upstream)
    first = callers(proxy, count=1)
    origin.send_first.set()
    eventually(lambda: first[0].receive(1), what="the head of the first response")
    waiting = callers(proxy, count=200)
    eventually(lambda: origin.arrived == 201, 10, "concurrent requests at the upstream")
    origin.stop()
    assert bodies(waiting) == [b"body"] * 200
    first[0].close()


def test_a_caller_that_leaves_ends_the_fetch_of_no_other(start, held):
    origin = held(FRESH)
    proxy = start(origin.upstream)
    (first,) = callers(proxy, count=1)
    waiting = callers(proxy, count=20)
    first.reset()
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") <= 20, 10, "the end of the first call")
    origin.stop()
    assert bodies(waiting) == [b"body"] * 20
    assert origin.arrived <= 2


def test_all_that_leave_leave_nothing_behind(start, held):
    origin = held(FRESH)
    proxy = start(origin.upstream)
    for one in callers(proxy, count=100):
        one.reset()
    proxy.wait_for_rest()
    origin.stop()
    with proxy.http() as http:
        assert http.get("/cold", headers={"host": "a.example"}).text == "body"


def test_a_caller_waits_no_longer_than_its_deadline(start, held):
    origin = held(FRESH)
    proxy = start(origin.upstream)
    patient = callers(proxy, count=1, request=f"{CONNECT_GET}\r\n".encode())
    began = time.monotonic()
    with proxy.http() as http:
        target = CONNECT_GET.split()[1]
        late = http.get(target, headers={"host": "a.example", "connect-timeout-ms": "300"})
    assert (late.status_code, late.json()["code"]) == (504, "deadline_exceeded")
    assert 0.25 < time.monotonic() - began < 5
    origin.stop()
    assert bodies(patient) == [b"body"]
    assert origin.arrived == 1


def test_a_fetch_that_fails_leaves_nobody_waiting(start, recorder):
    """Its upstream is fine again for whoever asks once more."""
    arrived, may_fail = [], threading.Event()

    def script(peer):
        while request := peer.request():
            arrived.append(request)
            if len(arrived) == 1:
                assert may_fail.wait(60)
                peer.send(b"HTTP/1.1 200 Any\r\ncache-control: max-age=60\r\ncontent-length: 9\r\n\r\nhalf")
                return peer.reset()
            peer.send(response(b"body", FRESH))

    proxy = start(recorder(script=script))
    (first,) = callers(proxy, count=1)
    waiting = callers(proxy, count=50)
    may_fail.set()
    began = time.monotonic()
    first.rest()
    for one in waiting:
        whole = b""
        while b"\r\n\r\nbody" not in whole and (more := one.receive()):
            whole += more
        assert b"half\r" not in whole and not whole.endswith(b"halfbody"), whole
    assert time.monotonic() - began < 10
    with proxy.http() as http:
        assert http.get("/cold", headers={"host": "a.example"}).text == "body"
