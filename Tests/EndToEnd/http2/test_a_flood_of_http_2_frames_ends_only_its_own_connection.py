"""A caller that floods an HTTP/2 connection with costly frames loses that connection. Other callers are not affected."""

import itertools
import socket

import hpack
import pytest
from hyperframe.frame import (
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from http2.attack import LIMIT, flood
from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.alone

# Many times what any limit may allow.
MANY = 30000
BLOCK = hpack.Encoder().encode(h2_peer.request("/attack", "POST"), huffman=False)
NO_PATH = hpack.Encoder().encode([(":method", "POST"), (":scheme", "http"), (":authority", "a.example")])


def opened(stream, *flags, block=BLOCK):
    return HeadersFrame(stream, block, flags=["END_HEADERS", *flags]).serialize()


def streams():
    return range(1, 2 * MANY, 2)


def rapid_reset():
    for stream in streams():
        yield opened(stream) + RstStreamFrame(stream, h2_peer.CANCEL).serialize()


def made_you_reset(*frames, block=BLOCK, end=True):
    """Each stream is brought to be reset by the other side, by a frame that it may not have."""

    def chunks():
        for stream in streams():
            broken = [frame(stream) for frame in frames]
            yield opened(stream, *(["END_STREAM"] if end else []), block=block) + b"".join(broken)

    return chunks


def window_update(size):
    def frame(stream):
        frame = WindowUpdateFrame(stream, 1).serialize()
        return frame[:9] + size.to_bytes(4, "big")

    return frame


def data(stream):
    return DataFrame(stream, b"too late").serialize()


def wrong_length(stream):
    return b"\x00\x00\x03\x02\x00" + stream.to_bytes(4, "big") + b"abc"  # PRIORITY


def settings():
    frame = SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 65535}).serialize()
    return itertools.repeat(frame * 10, MANY // 10)


def settings_of_many():
    yield SettingsFrame(0).serialize()
    pair = b"\x00\x04\x00\x00\xff\xff"
    frame = (6 * 2000).to_bytes(3, "big") + b"\x04\x00\x00\x00\x00\x00" + pair * 2000
    yield from itertools.repeat(frame, 100)


def pings():
    return itertools.repeat(PingFrame(0, b"12345678").serialize() * 10, MANY // 10)


def empty_data():
    yield opened(1)
    yield from itertools.repeat(DataFrame(1, b"").serialize() * 10, MANY // 10)


def empty_padded_data():
    yield opened(1)
    yield from itertools.repeat(DataFrame(1, b"", flags=["PADDED"], pad_length=0).serialize() * 10, MANY // 10)


def empty_data_of_an_ended_stream():
    yield opened(1) + RstStreamFrame(1, h2_peer.CANCEL).serialize()
    yield from itertools.repeat(DataFrame(1, b"").serialize() * 10, MANY // 10)


def priorities():
    for number in range(MANY // 10):
        yield b"".join(PriorityFrame(2 * (10 * number + step) + 1, 0, 16, False).serialize() for step in range(10))


def unknown_frames():
    """ALTSVC, PRIORITY_UPDATE, and types without a meaning."""
    frames = [b"\x00\x00\x03" + bytes([kind]) + bytes(5) + b"abc" for kind in (10, 16, 99, 255)]
    return itertools.repeat(b"".join(frames), MANY // 4)


def goaways():
    yield opened(1)  # else the first one ends the connection
    yield from itertools.repeat(GoAwayFrame(0).serialize() * 10, MANY // 10)


def acknowledgements():
    return itertools.repeat(PingFrame(0, b"12345678", flags=["ACK"]).serialize() * 10, MANY // 10)


def windows_of_an_ended_stream():
    yield opened(1) + RstStreamFrame(1, h2_peer.CANCEL).serialize()
    yield from itertools.repeat(WindowUpdateFrame(1, 1).serialize() * 10, MANY // 10)


def window_overflow():
    yield WindowUpdateFrame(0, 0x7FFFFFFF).serialize() * 2


def windows_of_nothing():
    yield WindowUpdateFrame(0, 1).serialize()[:9] + bytes(4)


# What is sent, and the limits of which it hits one: of streams that come at once, each is one more until it has been reset.
FLOODS = {
    "rapid reset": (rapid_reset, "rapid_reset"),
    "resets made by a window update too large": (
        made_you_reset(window_update(0x7FFFFFFF), window_update(0x7FFFFFFF)),
        "made_you_reset",
        "streams",
    ),
    "resets made by a wrong head": (made_you_reset(block=NO_PATH), "made_you_reset", "streams"),
    "SETTINGS": (settings, "settings"),
    "SETTINGS of many values": (settings_of_many, "settings"),
    "GOAWAY": (goaways, "settings"),
    "PING": (pings, "ping"),
    "empty DATA": (empty_data, "empty_data"),
    "empty padded DATA": (empty_padded_data, "empty_data"),
    "empty DATA of a stream that has ended": (empty_data_of_an_ended_stream, "empty_data"),
    "PRIORITY": (priorities, "priority"),
    "frames of unknown types": (unknown_frames, "priority"),
    "acknowledgements of no PING": (acknowledgements, "ping"),
    "window updates of a stream that has ended": (windows_of_an_ended_stream, "window"),
    "window overflow": (window_overflow, "window"),
}
# The same without a separate limit: each is an error of the connection.
ERRORS = {
    "DATA after the end": made_you_reset(data),
    "PRIORITY of a wrong length": made_you_reset(wrong_length),
    "an empty window update": windows_of_nothing,
    "empty window updates of streams": made_you_reset(window_update(0)),
}


@pytest.mark.parametrize("reads", [True, False], ids=["reading", "not reading"])
@pytest.mark.parametrize("name", FLOODS)
def test_flood(start_attack, name, reads):
    chunks, *limits = FLOODS[name]
    attack = start_attack()
    attacker = attack.attacker()
    flood(attacker, chunks(), reads)
    attacker.wait_for_end()
    assert attacker.goaway is None or attacker.goaway.error_code != h2_peer.NO_ERROR
    attack.check(*limits)


def full_connection(start_attack, **options):
    """An attack, and a caller of 200 calls that reads nothing: their responses have filled all buffers on the way."""

    def response(peer, stream):
        is_attack = (b":path", b"/attack") in stream.heads[0]
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"x" * 30000 if is_attack else b"ok", end=True)
        if is_attack:
            responded.append(stream)

    responded = []
    attack = start_attack(response, limits="{ streams: 200 }", **options)
    attacker = attack.proxy.connect_h2(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 1 << 20})
    attacker.grant(1 << 30)
    attacker.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    flood(attacker, (opened(stream, "END_STREAM") for stream in itertools.islice(streams(), 200)), reads=False)
    eventually(lambda: len(responded) >= 200, what="200 responses")
    attack.canary.wait_for_calls(10)
    return attack, attacker


def test_resets_that_are_not_read(start_attack):
    """A caller that never acknowledged the limit of streams gets a reset for each stream too many, if it reads."""
    attack, attacker = full_connection(start_attack)
    flood(attacker, (opened(stream, "END_STREAM") for stream in itertools.islice(streams(), 200, None)), reads=False)
    attack.check("slow_reader", memory=2 * LIMIT)
    assert attack.new_hits() <= {"slow_reader", "streams"}


def test_responses_that_are_not_read_after_all(start_attack):
    """Its calls are over, since it has reset them, and it still reads nothing."""
    attack, attacker = full_connection(start_attack, timeouts="{ stalled: 500ms }")
    for stream in itertools.islice(streams(), 200):
        attacker.reset(stream)
    eventually(lambda: attack.proxy.metrics().total("martlet_connections") == 1, what="the end of its connection")
    attack.check("slow_reader", memory=2 * LIMIT)


@pytest.mark.parametrize("name", [name for name, (_, limit, *_) in FLOODS.items() if limit == "made_you_reset"])
def test_resets_made_one_after_the_other(start_attack, name):
    """Never more than one stream at a time."""
    attack = start_attack()
    attacker = attack.attacker()
    for chunk in FLOODS[name][0]():
        if attacker.goaway:
            break
        stream = attacker.reserve()
        attacker.write(chunk)
        attacker.wait(lambda: attacker.goaway or stream.is_over, f"the reset of stream {stream.id}")  # noqa: B023
    attacker.wait_for_end()
    assert attacker.goaway.error_code == h2_peer.ENHANCE_YOUR_CALM
    attack.check("made_you_reset")
    assert attack.new_hits() == {"made_you_reset"}


@pytest.mark.parametrize("name", ERRORS)
def test_error(start_attack, name):
    attack = start_attack()
    attacker = attack.attacker()
    flood(attacker, ERRORS[name]())
    attacker.wait_for_end()
    assert attacker.goaway is None or attacker.goaway.error_code != h2_peer.NO_ERROR
    attack.canary.wait_for_calls(10)
    assert attack.canary.failures == []


@pytest.mark.parametrize("name", ["rapid reset", "PING", "SETTINGS"])
def test_twenty_at_a_time(start_attack, name):
    chunks, limit = FLOODS[name]
    attack = start_attack()
    attackers = [attack.attacker() for _ in range(20)]
    for attacker in attackers:
        flood(attacker, itertools.islice(chunks(), 3000))
    for attacker in attackers:
        # Before the socket is closed, because the kernel then drops frames that Martlet has not read yet.
        attacker.wait_for_end()
    attack.check(limit)


def test_a_caller_that_cancels_many_calls_is_not_an_attacker(start_attack):
    """Deadlines that pass and searches that are refined: as many other calls get their response."""
    attack = start_attack()
    caller = attack.attacker()
    for number in range(300):
        caller.reset(caller.open(h2_peer.request(), end=True).id)
        call = caller.finish(caller.open(h2_peer.request(), end=True))
        assert (call.status, call.body) == (200, b"ok"), number
    assert caller.goaway is None
    assert attack.new_hits() == set()
