"""A forwarded response says when it was made, or at least when it came (RFC 9110 section 6.6.1)."""

import email.utils
import time

import pytest
from support.http2 import h2_peer

OWN = "Sun, 06 Nov 1994 08:49:37 GMT"


def check(dates, has_own):
    if has_own:
        assert dates == [OWN]
    else:
        assert len(dates) == 1
        assert abs(email.utils.parsedate_to_datetime(dates[0]).timestamp() - time.time()) < 60
        assert dates[0].endswith(" GMT") and len(dates[0]) == 29


@pytest.mark.parametrize("has_own", [False, True])
@pytest.mark.parametrize("status", [200, 204, 206, 301, 304, 404, 500])
def test_http_1_upstream(martlet, recorder, status, has_own):
    date = f"Date: {OWN}\r\n" if has_own else ""
    length = "" if status in (204, 304) else "content-length: 0\r\n"
    proxy = martlet(upstream=recorder(response=f"HTTP/1.1 {status} X\r\n{date}{length}\r\n".encode()).url)
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    check(caller.response().values("date"), has_own)
    new = proxy.connect_h2()
    call = new.finish(new.open(h2_peer.request(), end=True))
    check([value.decode() for value in call.values("date")], has_own)


@pytest.mark.parametrize("has_own", [False, True])
def test_http_2_upstream(martlet, h2_recorder, has_own):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(103))
        peer.headers(stream.id, h2_peer.response(200, *([("date", OWN)] if has_own else [])), end=True)

    caller = martlet(upstream=h2_recorder(response).url).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    seen = caller.response()
    check(seen.values("date"), has_own)
    assert seen.informational == [(103, [])]


def test_a_stored_response_keeps_its_date(martlet, recorder):
    upstream = recorder(response=b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncache-control: max-age=60\r\n\r\n")
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ncaches: {{ c: {{ bytes: 1MiB, object: 1KiB }} }}\ninterceptors: [ {{ cache: c }} ]\n"
    )
    caller = proxy.connect()
    dates = []
    for _ in range(3):
        caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        dates += caller.response().values("date")
    assert len(upstream.requests) == 1
    assert len(dates) == 3 and len(set(dates)) == 1
