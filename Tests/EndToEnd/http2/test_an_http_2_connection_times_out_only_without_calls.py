"""Idle time counts only while there is no call. A silent stream keeps its connections; a head that never ends does not."""

import threading
import time

import pytest
from hyperframe.frame import HeadersFrame

from support.http2 import h2_peer
from support.http2.h2_peer import PREFACE
from support.wait import eventually

pytestmark = pytest.mark.waits

SHORT = 0.2


@pytest.fixture
def resume():
    return threading.Event()


@pytest.fixture
def upstream(h2_recorder, resume):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        if stream.path == "/silent":
            assert resume.wait(10)
        peer.data(stream.id, b"ok", end=True)

    return h2_recorder(response)


def start(martlet, upstream, of_listener="1h", of_upstream="60s"):
    return martlet(
        f"""
        listeners: [ {{ address: "127.0.0.1:0", timeouts: {{ idle: {of_listener}, head: 500ms }} }} ]
        upstreams: {{ default: {{ url: "{upstream.url}", timeouts: {{ idle: {of_upstream} }} }} }}
        workers: 1
        """
    )


def test_a_silent_stream_keeps_both_connections(martlet, upstream, resume):
    caller = start(martlet, upstream, "200ms", "200ms").connect_h2()
    call = caller.open(h2_peer.request("/silent"), end=True)
    caller.wait(lambda: call.heads, "the head")
    began = time.monotonic()
    eventually(lambda: time.monotonic() - began > 4 * SHORT)  # nothing is to happen meanwhile
    resume.set()
    assert caller.finish(call).body == b"ok"
    assert caller.goaway is None


def test_a_caller_without_calls(martlet, upstream):
    caller = start(martlet, upstream, of_listener="200ms").connect_h2()
    assert caller.finish(caller.open(h2_peer.request(), end=True)).body == b"ok"
    began = time.monotonic()
    caller.wait_for_end()
    assert 0.5 * SHORT < time.monotonic() - began < 2.0
    assert (caller.goaway.error_code, caller.goaway.last_stream_id) == (h2_peer.NO_ERROR, 1)


def test_an_upstream_without_calls(martlet, upstream):
    caller = start(martlet, upstream, of_upstream="200ms").connect_h2()
    for number in range(3):
        assert caller.finish(caller.open(h2_peer.request(), end=True)).body == b"ok"
        peer = upstream.wait_for_connections(number + 1)
        eventually(lambda: peer.ended, within=2, what="the end of the connection upstream")
    assert [len(peer.streams) for peer in upstream.connections] == [1, 1, 1]


def test_a_connection_that_never_begins(martlet, upstream):
    caller = start(martlet, upstream).connect()
    caller.send(PREFACE[:8])
    began = time.monotonic()
    caller.rest()
    assert time.monotonic() - began < 3.0


def test_a_head_that_never_ends(martlet, upstream):
    caller = start(martlet, upstream).connect_h2()
    block = caller.encoder.encode(h2_peer.request())
    caller.send(HeadersFrame(1, block))  # without END_HEADERS
    began = time.monotonic()
    caller.wait_for_end()
    assert time.monotonic() - began < 3.0
    assert upstream.streams == []


def test_a_frame_that_never_ends(martlet, upstream):
    caller = start(martlet, upstream).connect_h2()
    caller.wait(lambda: caller.settings_are_known, "SETTINGS")
    caller.write(b"\x00\x00\x10\x01\x05\x00\x00\x00\x01abc")
    began = time.monotonic()
    caller.wait_for_end()
    assert time.monotonic() - began < 3.0
