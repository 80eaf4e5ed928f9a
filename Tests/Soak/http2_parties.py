"""Hostile parties over HTTP/2."""

import itertools
import time

import hpack
from hostile_upstream import ENDLESS
from hyperframe.frame import DataFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame
from party import QUIET, Party, bombs
from support.http2 import h2_peer

JSON = [("content-type", "application/json"), ("connect-protocol-version", "1"), ("content-encoding", "gzip")]
BOMB = h2_peer.request("/soak.v1.Json/Get", "POST", *JSON)
BLOCK = hpack.Encoder().encode(h2_peer.request("/hostile/ok", "POST"), huffman=False)
MAX_SECONDS = 2.0  # the time for which a connection is read that is never quiet
BOMBS, RESETS, PINGS, SETTINGS, EMPTY = 12, 900, 3000, 500, 5000


def opened(stream):
    return HeadersFrame(stream, BLOCK, flags=["END_HEADERS"]).serialize()


class HTTP2Party(Party):
    """A party with HTTP/2 connections."""

    def connect(self, **options):
        return h2_peer.connect(self.target.plain, timeout=5.0, **options)

    def flood(self, data):
        """Sends all of `data` on a new connection, and reads until nothing more arrives."""
        peer = self.connect()
        try:
            peer.write(data)
        except OSError:
            self.count("closed while sending")
        self.count(outcome(peer, QUIET))
        peer.abort()

    def settle_streams(self, peer):
        """Counts the results of all streams; returns that of the connection."""
        end = outcome(peer, QUIET)
        for stream in peer.streams.values():
            reset = f"reset {stream.reset}" if stream.reset is not None else "ended" if stream.ended else "open"
            self.count(f"stream: {stream.status or 'no status'}, {reset}")
        return end


def outcome(peer, quiet):
    """Reads until nothing arrives for `quiet` seconds; returns the state of the connection."""
    peer.socket.settimeout(quiet)
    deadline = time.monotonic() + MAX_SECONDS
    try:
        while time.monotonic() < deadline and peer.receive():
            pass
    except TimeoutError:
        pass
    goaway = f"GOAWAY {peer.goaway.error_code}, " if peer.goaway else ""
    return f"{goaway}{'closed' if peer.ended else 'open'}"


class GzipBombsHTTP2(HTTP2Party):
    """Messages of 4 kB that are 4 MiB of JSON, each on a new connection."""

    def __init__(self, target):
        super().__init__(target)
        self._bombs = itertools.cycle(bombs())

    def act(self):
        peer = self.connect()
        call = peer.open(BOMB)
        peer.data(call.id, next(self._bombs), end=True)
        self.count(str(peer.finish(call).status))
        peer.close()
        return 1


class ManyGzipBombs(HTTP2Party):
    """Twelve messages of 4 kB that are 4 MiB of JSON each, in one write."""

    every = 10.0

    def __init__(self, target):
        super().__init__(target)
        self._bombs = itertools.cycle(bombs())

    def act(self):
        peer, written = self.connect(), []
        peer.wait(lambda: peer.settings_are_known)
        write, peer.write = peer.write, written.append
        calls = [peer.open(BOMB) for _ in range(BOMBS)]
        for call in calls:
            peer.data(call.id, next(self._bombs), end=True)
        peer.write = write
        peer.write(b"".join(written))
        peer.socket.settimeout(10.0)
        for call in calls:
            self.count(str(peer.finish(call).status))
        peer.close()
        return len(calls)


class StalledUploadsHTTP2(HTTP2Party):
    """Uploads that stop after three bytes, 20 on each connection."""

    every = 5.0

    def act(self):
        peer = self.connect()
        for _ in range(20):
            call = peer.open(h2_peer.request("/hostile/up", "POST", ("content-length", "100000")))
            peer.data(call.id, b"abc")
        self.hold(peer, self.settle_streams)
        return 20


class UnreadResponsesHTTP2(HTTP2Party):
    """Responses of 8 MiB without WINDOW_UPDATE, 10 on each connection."""

    every = 5.0

    def act(self):
        peer = self.connect(reading=False)
        for _ in range(10):
            peer.open(h2_peer.request("/hostile/large"), end=True)
        self.hold(peer, self.settle_streams)
        return 10


class FullTables(HTTP2Party):
    """Idle connections whose HPACK table is full."""

    lasts = 30.0

    def __init__(self, target):
        super().__init__(target)
        fields = [(f"x-{number}", f"{number:096}") for number in range(32)]
        self._block = hpack.Encoder().encode([*h2_peer.request("/hostile/ok"), *fields], huffman=False)

    def act(self):
        for _ in range(3):
            peer = self.connect()
            stream = peer.reserve()
            peer.send(HeadersFrame(stream.id, self._block, flags=["END_HEADERS", "END_STREAM"]))
            self.hold(peer, self.settle_streams)
        return 3


class ManyResets(HTTP2Party):
    """900 × (HEADERS, RST_STREAM) in one write."""

    every = 3.0

    def act(self):
        streams = range(1, 2 * RESETS, 2)
        self.flood(b"".join(opened(stream) + RstStreamFrame(stream, h2_peer.CANCEL).serialize() for stream in streams))
        return RESETS


class Floods(HTTP2Party):
    """Thousands of PING, SETTINGS or empty DATA frames in one write."""

    every = 2.0

    def __init__(self, target):
        super().__init__(target)
        pings = PingFrame(0, b"12345678").serialize() * PINGS
        settings = SettingsFrame(0, settings={SettingsFrame.INITIAL_WINDOW_SIZE: 65535}).serialize() * SETTINGS
        empty = opened(1) + DataFrame(1, b"").serialize() * EMPTY
        self._floods = itertools.cycle([(pings, PINGS), (settings, SETTINGS), (empty, EMPTY)])

    def act(self):
        data, frames = next(self._floods)
        self.flood(data)
        return frames


class EndlessResponsesHTTP2(HTTP2Party):
    """Calls to an upstream whose responses have no end, all on one connection."""

    every = 10.0
    lasts = 16.0

    def act(self):
        peer = self.connect(reading=False)
        for kind in ENDLESS:
            peer.open(h2_peer.request(f"/hostile/{kind}"), end=True)
        self.hold(peer, self.settle_streams)
        return len(ENDLESS)


PARTIES = [
    GzipBombsHTTP2,
    ManyGzipBombs,
    StalledUploadsHTTP2,
    UnreadResponsesHTTP2,
    FullTables,
    ManyResets,
    Floods,
    EndlessResponsesHTTP2,
]
