"""After a GOAWAY, calls up to the last stream finish. Later ones are retried on another connection."""

import threading

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually


@pytest.mark.parametrize("code", [h2_peer.NO_ERROR, h2_peer.ENHANCE_YOUR_CALM])
def test_below_and_above(martlet, h2_recorder, code):
    def script(peer):
        first = upstream.next_stream(peer)
        if peer is not upstream.connections[0]:
            while first:
                response_ok(peer, first)
                first = upstream.next_stream(peer)
            return
        upstream.next_stream(peer)
        peer.go_away(first.id, code)
        assert resume.wait(10)
        response_ok(peer, first)
        ended.append(peer.wait_for_end())

    resume, ended = threading.Event(), []
    upstream = h2_recorder(script=script)
    caller = martlet(upstream=upstream.url, more="workers: 1").connect_h2()
    stays = caller.open(h2_peer.request("/stays", "POST"), end=True)
    upstream.wait_for_streams(1)
    moves = caller.open(h2_peer.request("/moves", "POST"), end=True)
    assert (caller.finish(moves).status, stays.is_over) == (200, False)
    comes_later = caller.finish(caller.open(h2_peer.request("/later", "POST"), end=True))
    assert comes_later.status == 200
    resume.set()
    assert caller.finish(stays).status == 200
    assert [stream.path for stream in upstream.streams] == ["/stays", "/moves", "/moves", "/later"]
    assert [len(peer.streams) for peer in upstream.connections] == [2, 2]
    eventually(lambda: ended, what="the end of the connection that has no call left")


def test_no_call_accepted(martlet, h2_recorder):
    def script(peer):
        stream = upstream.next_stream(peer)
        if peer is upstream.connections[0]:
            peer.go_away(0)
            return
        response_ok(peer, stream)
        peer.wait_for_end()

    upstream = h2_recorder(script=script)
    caller = martlet(upstream=upstream.url, more="workers: 1").connect_h2()
    call = caller.open(h2_peer.request("/", "POST"))
    caller.data(call.id, b"body", end=True)
    assert caller.finish(call).status == 200
    assert [stream.body for stream in upstream.streams] == [b"body"] * 2


def test_a_connection_that_ends_with_an_accepted_call(martlet, h2_recorder):
    """It may have been done, so it is not done again."""

    def script(peer):
        stream = upstream.next_stream(peer)
        peer.finish(stream)
        peer.go_away(stream.id, h2_peer.INTERNAL_ERROR)

    upstream = h2_recorder(script=script)
    caller = martlet(upstream=upstream.url, more="workers: 1").connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.grpc() == "14"
    assert len(upstream.streams) == 1
