"""A frame that RFC 9113 forbids ends its stream or its connection. One that may arrive late ends nothing."""

import pytest
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    WindowUpdateFrame,
)

from support.http2 import h2_peer
from support.http2.h2_peer import CANCEL, FRAME_SIZE_ERROR, NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED
from support.http2.h2_recorder import response_ok

RESPOND = "listen: 127.0.0.1:0\ninterceptors:\n  - respond: { status: 200, body: ok }\n"


@pytest.fixture(params=["respond", "upstream-1", "upstream-2"])
def proxy(request, martlet, recorder, h2_recorder):
    if request.param == "respond":
        return martlet(RESPOND)
    return martlet(upstream=(recorder if request.param == "upstream-1" else h2_recorder)().url)


def connect(proxy):
    caller = proxy.connect_h2()
    caller.wait(lambda: caller.settings_are_known, "SETTINGS")
    return caller


def raw(kind, payload, stream=0, flags=0):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def head(caller, stream, *flags, fields=None):
    block = caller.encoder.encode(fields or h2_peer.request("/", "POST"))
    return HeadersFrame(stream, block, flags=["END_HEADERS", *flags])


def trailers(caller, stream):
    return head(caller, stream, "END_STREAM", fields=[("x-trailer", "1")])


def outcome(caller, *frames):
    """What comes of the frames: the code of a GOAWAY or of resets of streams, or nothing."""
    resets = {number for number, stream in caller.streams.items() if stream.reset is not None}
    try:
        caller.write(b"".join(frame if isinstance(frame, bytes) else frame.serialize() for frame in frames))
        for number in range(2):  # the first response may overtake a reset
            caller.send(PingFrame(0, b"mark%04d" % number))
            caller.wait(lambda: caller.goaway or b"mark%04d" % number in caller.pings, "a response")  # noqa: B023
    except ConnectionError:
        caller.wait_for_end()
    if caller.goaway:
        caller.wait_for_end()
        return ("GOAWAY", caller.goaway.error_code)
    return {number: one.reset for number, one in caller.streams.items() if one.reset is not None and number not in resets}


def responded(caller):
    """Stream 1, which both sides have ended."""
    assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200


def cancelled(caller):
    """Stream 1, which the caller has reset."""
    caller.reset(caller.open(h2_peer.request("/", "POST")).id)


def idle(caller):
    """No stream."""


def later(caller):
    """Stream 5, which both sides have ended, and none below it."""
    caller.reserve(), caller.reserve()
    responded(caller)


# What has come before, the frames, and what comes of them.
ERRORS = {
    "DATA after both ends": (responded, lambda _: [DataFrame(1, b"x")], {1: STREAM_CLOSED}),
    "a head after both ends": (responded, lambda caller: [head(caller, 1)], ("GOAWAY", STREAM_CLOSED)),
    "trailers after both ends": (responded, lambda caller: [trailers(caller, 1)], ("GOAWAY", STREAM_CLOSED)),
    "DATA after RST_STREAM": (cancelled, lambda _: [DataFrame(1, b"x")], {1: STREAM_CLOSED}),
    "a head after RST_STREAM": (cancelled, lambda caller: [head(caller, 1)], ("GOAWAY", STREAM_CLOSED)),
    "a number below the last": (later, lambda caller: [head(caller, 3, "END_STREAM")], ("GOAWAY", PROTOCOL_ERROR)),
    "an even number": (idle, lambda caller: [head(caller, 2, "END_STREAM")], ("GOAWAY", PROTOCOL_ERROR)),
    "PRIORITY on stream 0": (idle, lambda _: [raw(2, bytes(5))], ("GOAWAY", PROTOCOL_ERROR)),
    "PRIORITY of itself": (idle, lambda _: [PriorityFrame(3, 3)], ("GOAWAY", PROTOCOL_ERROR)),
    "PRIORITY of itself, closed": (responded, lambda _: [PriorityFrame(1, 1)], ("GOAWAY", PROTOCOL_ERROR)),
    "a short PRIORITY": (responded, lambda _: [raw(2, bytes(4), 1)], ("GOAWAY", FRAME_SIZE_ERROR)),
    "DATA on an idle stream": (idle, lambda _: [DataFrame(1, b"x")], ("GOAWAY", PROTOCOL_ERROR)),
    "RST_STREAM on an idle stream": (idle, lambda _: [RstStreamFrame(1, CANCEL)], ("GOAWAY", PROTOCOL_ERROR)),
    "WINDOW_UPDATE on an idle stream": (idle, lambda _: [WindowUpdateFrame(1, 1)], ("GOAWAY", PROTOCOL_ERROR)),
    "CONTINUATION of nothing": (responded, lambda _: [ContinuationFrame(1, b"")], ("GOAWAY", PROTOCOL_ERROR)),
}


def test_errors(proxy):
    found = {}
    for name, (before, frames, _) in ERRORS.items():
        caller = connect(proxy)
        before(caller)
        found[name] = outcome(caller, *frames(caller))
    assert found == {name: expected for name, (_, _, expected) in ERRORS.items()}


def test_an_error_of_a_stream_ends_no_other(proxy):
    caller = connect(proxy)
    responded(caller)
    call = caller.open(h2_peer.request("/", "POST"))
    assert outcome(caller, DataFrame(1, b"x"), DataFrame(1, b"y")) == {1: STREAM_CLOSED}
    caller.data(call.id, b"body", end=True)
    assert caller.finish(call).status == 200


def rejected(caller):
    """Stream 1, which is malformed and so was reset."""
    call = caller.open([*h2_peer.request("/", "POST"), ("X-Upper", "1")])
    assert caller.finish(call).reset == PROTOCOL_ERROR


FINE = {
    "WINDOW_UPDATE after both ends": (responded, lambda _: [WindowUpdateFrame(1, 1)]),
    "RST_STREAM after both ends": (responded, lambda _: [RstStreamFrame(1, CANCEL), RstStreamFrame(1, NO_ERROR)]),
    "frames after RST_STREAM": (cancelled, lambda _: [WindowUpdateFrame(1, 1), RstStreamFrame(1, CANCEL)]),
    "PRIORITY in any state": (responded, lambda _: [PriorityFrame(1, 3), PriorityFrame(3, 1), PriorityFrame(8)]),
    "frames of unknown types": (responded, lambda _: [raw(99, b"abc", stream, 255) for stream in (0, 1, 2, 3)]),
    "DATA after a reset of ours": (rejected, lambda _: [DataFrame(1, b"x"), DataFrame(1, b"", flags=["END_STREAM"])]),
    "trailers after a reset of ours": (rejected, lambda caller: [DataFrame(1, b"x"), trailers(caller, 1)]),
}


def test_frames_that_may_come(proxy):
    for name, (before, frames) in FINE.items():
        caller = connect(proxy)
        before(caller)
        assert outcome(caller, *frames(caller)) == {}, name
        assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200, name


def test_a_request_that_its_response_has_overtaken(martlet):
    """The rest of it is on its way when Martlet resets it."""
    caller = connect(martlet(RESPOND))
    calls = [caller.open(h2_peer.request("/", "POST")) for _ in range(3)]
    for call in calls:
        assert caller.finish(call).status == 200
        caller.data(call.id, b"more")
    for call in calls:
        caller.wait(lambda: call.reset == NO_ERROR, "the reset of the request")  # noqa: B023
    late = [frame for call in calls for frame in (DataFrame(call.id, b"x"), WindowUpdateFrame(call.id, 1))]
    assert outcome(caller, *late, trailers(caller, calls[0].id), DataFrame(calls[1].id, b"", flags=["END_STREAM"])) == {}
    assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200


# What an upstream sends in the place of a response, or behind its head.
UPSTREAMS = {
    "DATA before the head": lambda _, number: [DataFrame(number, b"x", flags=["END_STREAM"])],
    "DATA on an idle stream": lambda _, number: [DataFrame(number + 2, b"x")],
    "DATA on stream 0": lambda _, number: [raw(0, b"x")],
    "a head on an idle stream": lambda peer, number: [head(peer, number + 2, fields=h2_peer.response())],
    "a head on a stream of its own": lambda peer, number: [head(peer, 2, fields=h2_peer.response())],
    "RST_STREAM on an idle stream": lambda _, number: [RstStreamFrame(number + 2, CANCEL)],
    "WINDOW_UPDATE on an idle stream": lambda _, number: [WindowUpdateFrame(number + 2, 1)],
    "PRIORITY on stream 0": lambda *_: [raw(2, bytes(5))],
    "PRIORITY of itself": lambda _, number: [PriorityFrame(number, number)],
    "a short PRIORITY": lambda _, number: [raw(2, bytes(4), number)],
    "CONTINUATION of nothing": lambda _, number: [ContinuationFrame(number, b"")],
    "a short PING": lambda *_: [raw(6, b"abc")],
    "trailers that are no end": lambda peer, number: [
        *[head(peer, number, fields=h2_peer.response()) for _ in range(2)],
        DataFrame(number, b"x", flags=["END_STREAM"]),
    ],
}


@pytest.mark.parametrize("begins", [False, True], ids=["first", "behind a head"])
@pytest.mark.parametrize("name", UPSTREAMS)
def test_an_upstream(martlet, h2_recorder, name, begins):
    if begins and name == "DATA before the head":
        return

    def response(peer, stream):
        if stream.path == "/ok":
            return response_ok(peer, stream)
        peer.finish(stream)
        if begins:
            peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
        frames = UPSTREAMS[name](peer, stream.id)
        peer.write(b"".join(frame if isinstance(frame, bytes) else frame.serialize() for frame in frames))

    caller = connect(martlet(upstream=h2_recorder(response).url, more="workers: 1"))
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.reset is not None or call.grpc() not in ("0", None)
    assert caller.finish(caller.open(h2_peer.request("/ok"), end=True)).body == b"ok"


@pytest.mark.parametrize("extra", [lambda peer, number: DataFrame(number, b"x"), trailers], ids=["DATA", "trailers"])
def test_an_upstream_that_sends_after_its_end(martlet, h2_recorder, extra):
    """The call has its response already; the stream is reset, and other calls of the connection continue."""
    waiting = []

    def response(peer, stream):
        if stream.path == "/wait":
            waiting.append(stream)
            return
        response_ok(peer, stream)
        peer.send(extra(peer, stream.id))
        peer.wait(lambda: stream.reset is not None, "the reset")
        response_ok(peer, waiting.pop())

    upstream = h2_recorder(response)
    caller = connect(martlet(upstream=upstream.url, more="workers: 1"))
    other = caller.open(h2_peer.request("/wait"), end=True)
    upstream.wait_for_streams(1)
    call = caller.finish(caller.open(h2_peer.request(), end=True))
    assert (call.status, call.body) == (200, b"ok")
    assert (caller.finish(other).status, other.body) == (200, b"ok")
    assert [stream.reset for stream in upstream.streams] == [None, STREAM_CLOSED]
