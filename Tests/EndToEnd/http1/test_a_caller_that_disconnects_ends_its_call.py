"""When the caller disconnects, the upstream connection is closed and the log says that the caller canceled."""

import json

import pytest

from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: '{url}'\ninterceptors: [{{log: {{}}}}]\n"


def canceled(proxy):
    line = json.loads(proxy.stdout.wait(r"^\{.*\}$").string)
    return line["code"], line["decided_by"]


def test_within_its_head(martlet, recorder):
    upstream = recorder()
    caller = martlet(CONFIGURATION.format(url=upstream.url)).connect(timeout=5)
    caller.send(b"GET / HTTP/1.1\r\nhost: a.ex")
    caller.half_close()
    assert caller.has_ended()  # and does not wait for the timeout of a head
    assert upstream.bytes == b""


@pytest.mark.parametrize("how", ["close", "reset"])
def test_within_its_request(martlet, recorder, how):
    ended = []
    upstream = recorder(script=lambda peer: ended.append((peer.head(), peer.rest())))
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    caller = proxy.connect()
    caller.send(b"POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 100\r\n\r\nhalf")
    eventually(lambda: b"half" in upstream.bytes, what="the first half upstream")
    getattr(caller, how)()
    eventually(lambda: ended, what="the end of the upstream connection")
    assert canceled(proxy) == ("canceled", "caller")


@pytest.mark.parametrize("how", ["close", "reset"])
def test_within_the_response(martlet, recorder, how):
    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n")
        ended.append(peer.rest())

    ended = []
    upstream = recorder(script=script)
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    getattr(caller, how)()
    eventually(lambda: ended, what="the end of the upstream connection")
    assert canceled(proxy) == ("canceled", "caller")


def test_before_the_response(martlet, recorder):
    ended = []
    upstream = recorder(script=lambda peer: (peer.request(), ended.append(peer.rest())))
    proxy = martlet(CONFIGURATION.format(url=upstream.url))
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    eventually(lambda: upstream.bytes, what="the request upstream")
    caller.reset()
    eventually(lambda: ended, what="the end of the upstream connection")
    assert canceled(proxy) == ("canceled", "caller")
    assert proxy.metrics().counted("martlet_upstream_attempts_total", "result") == {"canceled"}
