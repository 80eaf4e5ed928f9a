"""One end of an HTTP/2 connection, frame by frame: nothing that is sent is checked, everything that comes is kept."""

import socket
import struct
from collections import defaultdict

import hpack
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

from support.http2.h2_stream import Stream

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
WINDOW = 65535
MAX_FRAME = 16384
(
    NO_ERROR,
    PROTOCOL_ERROR,
    INTERNAL_ERROR,
    FLOW_CONTROL_ERROR,
    SETTINGS_TIMEOUT,
    STREAM_CLOSED,
    FRAME_SIZE_ERROR,
    REFUSED_STREAM,
    CANCEL,
    COMPRESSION_ERROR,
    CONNECT_ERROR,
    ENHANCE_YOUR_CALM,
    INADEQUATE_SECURITY,
    HTTP_1_1_REQUIRED,
) = range(14)


class H2Peer:
    """A connected socket that speaks HTTP/2, as the client or as the server.

    Responds to SETTINGS and PING, and opens windows again unless `reading` is false. Used by one thread at a time.
    """

    def __init__(self, connection, client, settings=None, reading=True, timeout=10.0):
        connection.settimeout(timeout)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = connection
        self.reading = reading
        self.streams = {}
        self.goaway = None
        self.settings = {}
        self.pings = []
        self.ended = False
        self.settings_are_known = False
        self._finished = set()
        self._next_id = 1
        self._returned = set()
        self._unparsed = b""
        self._has_begun = client
        self._block, self._block_ends = b"", False
        self.encoder = hpack.Encoder()
        self._decoder = hpack.Decoder(max_header_list_size=1 << 24)
        # What this end may still send, and what the other one may.
        self._windows = defaultdict(lambda: self.settings.get(SettingsFrame.INITIAL_WINDOW_SIZE, WINDOW), {0: WINDOW})
        initial = (settings or {}).get(SettingsFrame.INITIAL_WINDOW_SIZE, WINDOW)
        self._granted = defaultdict(lambda: initial, {0: WINDOW})
        if client:
            self.write(PREFACE)
        self.send(SettingsFrame(0, settings=settings or {}))

    # Sending

    def write(self, data):
        self.socket.sendall(data)

    def send(self, *frames):
        self.write(b"".join(frame.serialize() for frame in frames))

    def headers(self, stream, fields, end=False):
        """A HEADERS frame and as many CONTINUATION frames as it needs."""
        # The Huffman coder of hpack takes a minute for a megabyte.
        block = self.encoder.encode(fields, huffman=sum(len(value) for _, value in fields) < 200_000)
        parts = [block[at : at + MAX_FRAME] for at in range(0, len(block), MAX_FRAME)] or [b""]
        frames = [HeadersFrame(stream, parts[0]), *(ContinuationFrame(stream, part) for part in parts[1:])]
        if end:
            frames[0].flags.add("END_STREAM")
            self._finished.add(stream)
        frames[-1].flags.add("END_HEADERS")
        self.send(*frames)

    def open(self, fields, end=False):
        """Opens a stream with these fields; returns the stream."""
        stream = self.reserve()
        self.headers(stream.id, fields, end)
        return stream

    def reserve(self):
        """The next stream that this end may open, for frames that the test makes itself."""
        stream = self.streams[self._next_id] = Stream(self._next_id)
        self._next_id += 2
        return stream

    def data(self, stream, data=b"", end=False):
        """DATA frames as the windows allow; waits for windows."""
        data = memoryview(data)
        while True:
            size = min(len(data), MAX_FRAME, max(0, self.may_send(stream)))
            if size or not data:
                frame = DataFrame(stream, bytes(data[:size]))
                self.spend(stream, size)
                data = data[size:]
                if end and not data:
                    frame.flags.add("END_STREAM")
                    self._finished.add(stream)
                self.send(frame)
            if not data:
                return
            if not size:
                assert self.receive(), "the connection ended before everything was sent"

    def may_send(self, stream):
        """How many bytes of DATA the windows allow."""
        return min(self._windows[0], self._windows[stream])

    def spend(self, stream, size):
        """Counts DATA that the test sends by itself."""
        self._windows[0] -= size
        self._windows[stream] -= size

    def reset(self, stream, code=CANCEL):
        self._finished.add(stream)
        self.send(RstStreamFrame(stream, code))

    def go_away(self, last, code=NO_ERROR):
        self.send(GoAwayFrame(0, last, code))

    def grant(self, size, stream=0):
        self._granted[stream] += size
        self.send(WindowUpdateFrame(stream, size))

    def close(self):
        self.socket.close()

    def abort(self):
        """Ends the connection with a TCP reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    # Receiving

    def wait(self, condition, what="what was waited for"):
        """Receives frames until `condition()` is true; returns its value."""
        while not (value := condition()):
            assert self.receive(), f"the connection ended before {what}: {self}"
        return value

    def next_stream(self):
        """The next stream whose head the other side has sent, or None when the connection ended."""

        def new_stream():
            return next((one for number, one in self.streams.items() if number not in self._returned and one.heads), None)

        while not (stream := new_stream()):
            if not self.receive():
                return None
        self._returned.add(stream.id)
        return stream

    def finish(self, stream):
        """Waits until the other side has ended or reset a stream; returns the stream."""
        self.wait(lambda: stream.is_over, f"the end of stream {stream.id}")
        return stream

    def wait_for_end(self):
        """Receives everything until the other side ends the connection."""
        while self.receive():
            pass
        return self

    def receive(self):
        """Receives what has arrived, at least one byte; false when the connection has ended."""
        if self.ended:
            return False
        try:
            data = self.socket.recv(1 << 18)
        except ConnectionError:
            data = b""
        self.ended = not data
        self._unparsed += data
        if not self._has_begun:
            if len(self._unparsed) < len(PREFACE):
                return not self.ended
            assert self._unparsed.startswith(PREFACE), f"not HTTP/2: {self._unparsed!r}"
            self._unparsed = self._unparsed[len(PREFACE) :]
            self._has_begun = True
        at, view = 0, memoryview(self._unparsed)
        while len(view) - at >= 9:
            frame, size = Frame.parse_frame_header(view[at : at + 9])
            if len(view) - at - 9 < size:
                break
            frame.parse_body(view[at + 9 : at + 9 + size])
            at += 9 + size
            self._receive_frame(frame)
        self._unparsed = self._unparsed[at:]
        return not self.ended

    def _receive_frame(self, frame):
        if frame.stream_id:
            stream = self.streams.get(frame.stream_id) or self._begin(frame.stream_id)
            stream.frames.append(frame)
        match frame:
            case HeadersFrame() | ContinuationFrame():
                self._receive_block(stream, frame)
            case DataFrame():
                self._receive_data(stream, frame)
            case RstStreamFrame():
                stream.reset = frame.error_code
            case SettingsFrame() if "ACK" in frame.flags:
                self.settings_are_known = True
            case SettingsFrame():
                self._receive_settings(frame.settings)
            case PingFrame() if "ACK" in frame.flags:
                self.pings.append(frame.opaque_data)
            case PingFrame():
                self._reply(PingFrame(0, frame.opaque_data, flags=["ACK"]))
            case WindowUpdateFrame():
                self._windows[frame.stream_id] += frame.window_increment
            case GoAwayFrame():
                self.goaway = frame

    def _begin(self, number):
        """Another stream of the other side's."""
        stream = self.streams[number] = Stream(number)
        if self.settings_are_known:
            opened = (one for one in self.streams.values() if one.reset is None and one.id not in self._finished)
            stream.beside = sum(one is not stream for one in opened)
        return stream

    def _receive_block(self, stream, frame):
        self._block = frame.data if isinstance(frame, HeadersFrame) else self._block + frame.data
        self._block_ends = "END_STREAM" in frame.flags if isinstance(frame, HeadersFrame) else self._block_ends
        if "END_HEADERS" in frame.flags:
            stream.heads.append([tuple(pair) for pair in self._decoder.decode(self._block, raw=True)])
            stream.ended = self._block_ends

    def _receive_data(self, stream, frame):
        stream.body += frame.data
        stream.ended = "END_STREAM" in frame.flags
        size = frame.flow_controlled_length
        for window in (0, stream.id):
            self._granted[window] -= size
            assert self._granted[window] >= 0, f"more DATA than window {window} allows"
            if self.reading and size and not (window and stream.ended):
                self._granted[window] += size
                self._reply(WindowUpdateFrame(window, size))

    def _receive_settings(self, settings):
        size = settings.get(SettingsFrame.INITIAL_WINDOW_SIZE)
        if size is not None:
            change = size - self.settings.get(SettingsFrame.INITIAL_WINDOW_SIZE, WINDOW)
            for stream in self._windows.keys() - {0}:
                self._windows[stream] += change
        self.settings |= settings
        if SettingsFrame.HEADER_TABLE_SIZE in settings:
            self.encoder.header_table_size = min(4096, settings[SettingsFrame.HEADER_TABLE_SIZE])
        self._reply(SettingsFrame(0, flags=["ACK"]))

    def _reply(self, frame):
        """Sends what the protocol asks for; that the other side is gone shows when it is read from."""
        try:
            self.send(frame)
        except ConnectionError:
            pass

    def __repr__(self):
        return f"<{self.goaway}{' ended' if self.ended else ''} {list(self.streams.values())}>"


def connect(address, timeout=10.0, **options):
    """A caller connected to (host, port), or to a Unix path or abstract name given as a string."""
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        connection.connect(address)
    else:
        connection = socket.create_connection(address, timeout)
    return H2Peer(connection, client=True, timeout=timeout, **options)


def request(path="/", method="GET", *more):
    """The fields of a request: those that it must have, then `more`."""
    own = [(":method", method), (":scheme", "http"), (":authority", "a.example"), (":path", path)]
    return [*own, *more]


def grpc_request(path, *more):
    own = [("content-type", "application/grpc"), ("te", "trailers")]
    return request(path, "POST", *own, *more)


def response(status=200, *more):
    return [(":status", str(status)), *more]
