"""Over HTTP/2 bytes are forwarded as soon as they arrive, in pieces of any size, and an end stays an end."""

import struct
import threading

import pytest
from hyperframe.frame import DataFrame

from support.http2 import h2_peer
from support.wait import eventually


def message(data):
    return struct.pack(">BI", 0, len(data)) + data


def response_empty(peer, stream):
    peer.finish(stream)
    peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
    peer.headers(stream.id, [("grpc-status", "0")], end=True)


def test_a_message_of_the_caller_arrives_before_the_next_is_sent(martlet, h2_recorder):
    upstream = h2_recorder(response_empty)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C"))
    seen = upstream.wait_for_streams(1)  # the head alone begins the call
    for number in range(5):
        caller.data(call.id, message(b"%d" % number))
        whole = b"".join(message(b"%d" % earlier) for earlier in range(number + 1))
        eventually(lambda: seen.body == whole, what=f"message {number} upstream")
    caller.data(call.id, end=True)
    caller.finish(call)
    assert call.grpc() == "0"


def test_a_message_of_the_upstream_arrives_before_the_next_is_sent(martlet, h2_recorder):
    resume = threading.Semaphore(0)

    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
        for number in range(5):
            assert resume.acquire(timeout=10)
            peer.data(stream.id, message(b"%d" % number))
        peer.headers(stream.id, [("grpc-status", "0")], end=True)

    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C"))  # which the caller has not ended
    caller.wait(lambda: call.heads, "the head")
    for number in range(5):
        resume.release()
        whole = b"".join(message(b"%d" % earlier) for earlier in range(number + 1))
        caller.wait(lambda: call.body == whole, f"message {number}")
    caller.finish(call)
    assert call.grpc() == "0"


PIECES = {
    "single bytes": [1] * 50,
    "empty frames between": [0, 0, 7, 0, 1, 0, 0, 3, 0],
    "across envelopes": [4, 2, 11, 5, 6, 5, 1],
    "largest frames": [16384] * 8,
    "just off": [16383, 16384, 1, 16383, 2],
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
@pytest.mark.parametrize("padded", [False, True], ids=["plain", "padded"])
def test_pieces(martlet, h2_recorder, pieces, padded):
    def frames(stream):
        whole = bytes(number % 251 for number in range(sum(pieces)))
        sent = []
        for size in pieces:
            frame = DataFrame(stream, whole[:size])
            if padded and size < 16000:
                frame.flags.add("PADDED")
                frame.pad_length = 100
            sent.append(frame)
            whole = whole[size:]
        return sent

    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response())
        send(peer, stream.id)

    def send(peer, stream):
        for frame in frames(stream):
            size = frame.flow_controlled_length
            peer.wait(lambda: peer.may_send(stream) >= size, "the window")
            peer.spend(stream, size)
            peer.send(frame)
        peer.data(stream, end=True)  # the end is a separate empty frame

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/", "POST"))
    send(caller, call.id)
    caller.finish(call)
    whole = bytes(number % 251 for number in range(sum(pieces)))
    assert upstream.streams[0].body == whole
    assert call.body == whole
    assert (call.status, call.reset) == (200, None)


def test_a_response_can_end_before_the_request(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc"), ("grpc-status", "8")), True)
        peer.reset(stream.id, h2_peer.NO_ERROR)

    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C"))
    caller.wait(lambda: call.ended, "the response")
    assert call.grpc() == "8"
    caller.wait(lambda: call.reset is not None, "the reset of what is not needed any more")
    assert call.reset == h2_peer.NO_ERROR
    assert caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"))).grpc() == "8"
