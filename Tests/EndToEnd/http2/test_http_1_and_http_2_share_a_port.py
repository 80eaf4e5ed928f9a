"""A listener serves HTTP/1.1 callers and HTTP/2 callers with prior knowledge at the same time."""

import httpx
import pytest

from support.http2 import h2_peer
from support.http2.h2_peer import PREFACE
from support.martlet import CLEAR_TEXT

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


@pytest.fixture(params=["upstream-1", "upstream-2"])
def proxy(request, martlet, recorder, h2_recorder):
    return martlet(upstream=(recorder if request.param == "upstream-1" else h2_recorder)().url)


def test_in_turn(proxy):
    old, new = proxy.connect(), proxy.connect_h2()
    for _ in range(3):
        old.send(REQUEST)
        response = old.response()
        assert (response.status, response.body) == (200, b"ok")
        call = new.finish(new.open(h2_peer.request(), end=True))
        assert (call.status, call.body) == (200, b"ok")


def test_the_published_client(proxy):
    for version in ({"http1": True, "http2": False}, {"http1": False, "http2": True}):
        with httpx.Client(base_url=proxy.url, **CLEAR_TEXT, **version) as http:
            responses = [http.post("/", content=b"x" * 100000) for _ in range(3)]
        assert [(response.status_code, response.text) for response in responses] == [(200, "ok")] * 3
        assert {response.http_version for response in responses} == {"HTTP/2" if version["http2"] else "HTTP/1.1"}


def test_a_preface_in_pieces(proxy):
    caller = proxy.connect()
    # An HTTP/1.1 request could still begin like this.
    for piece in (PREFACE[:1], PREFACE[1:3], PREFACE[3:16], PREFACE[16:]):
        caller.send(piece)
    caller.send(bytes.fromhex("000000040000000000"))
    frame = caller.read_exactly(9)
    assert frame[3] == 4  # SETTINGS


def test_a_method_that_begins_like_the_preface(proxy):
    caller = proxy.connect()
    caller.send(b"PRO")
    caller.send(b"PFIND / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.response().status == 200


def test_a_broken_preface_ends_the_connection(proxy):
    caller = proxy.connect()
    caller.send(b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n")
    assert caller.response().status == 505
    assert caller.rest() == b""
    assert proxy.metrics().total("martlet_upstream_attempts_total") == 0
