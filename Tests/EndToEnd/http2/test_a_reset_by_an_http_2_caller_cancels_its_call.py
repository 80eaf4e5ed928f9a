"""When a caller resets a stream or disconnects, Martlet cancels the upstream's stream at once, and only that one."""

import time

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually

pytestmark = pytest.mark.alone


def wait_for_reset(peer, stream):
    if stream.path == "/ok":
        return response_ok(peer, stream)
    if stream.path == "/begun":
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"part")
    peer.wait(lambda: stream.reset is not None, "a reset")
    stream.reset_at = time.monotonic()


@pytest.fixture
def upstream(h2_recorder):
    return h2_recorder(wait_for_reset)




@pytest.mark.parametrize("path", ["/begun", "/not-begun"])
@pytest.mark.parametrize("ended", [True, False], ids=["whole request", "part of a request"])
@pytest.mark.parametrize("how", ["reset", "close", "abort"])
def test_cancel(martlet, upstream, path, ended, how):
    proxy = martlet(upstream=upstream.url, more="interceptors: [ metrics: {} ]\nworkers: 1")
    caller, other = proxy.connect_h2(), proxy.connect_h2()
    call = caller.open(h2_peer.request(path, "POST"), end=ended)
    seen = upstream.wait_for_streams(1)
    if path == "/begun":
        caller.wait(lambda: call.body, "the beginning of the response")
    began = time.monotonic()
    caller.reset(call.id) if how == "reset" else getattr(caller, how)()
    eventually(lambda: seen.reset is not None, within=2, what="the reset upstream")
    assert seen.reset == h2_peer.CANCEL
    assert time.monotonic() - began < 0.3
    assert other.finish(other.open(h2_peer.request("/ok"), end=True)).body == b"ok"
    assert len(upstream.connections) == 1  # which is still in use
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0, what="the end of the call")
    codes = proxy.metrics().counted("martlet_rpc_handled_total", "code")
    assert "canceled" in codes


def test_toward_http_1(martlet, recorder):
    ended = []
    upstream = recorder(script=lambda peer: (peer.request(), ended.append(peer.rest())))
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request(), end=True)
    eventually(lambda: upstream.bytes, what="the request upstream")
    caller.reset(call.id)
    eventually(lambda: ended, within=1, what="the end of the upstream connection")


def test_of_http_1(martlet, upstream):
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET /begun HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    caller.close()
    eventually(lambda: upstream.streams[0].reset == h2_peer.CANCEL, within=1, what="the reset upstream")
