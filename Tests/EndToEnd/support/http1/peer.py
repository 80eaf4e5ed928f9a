"""One end of an HTTP/1.1 connection: raw bytes to write, strict messages to read."""

import socket
import struct
from dataclasses import dataclass, field

import h11

MAX_HEAD = 1 << 20


@dataclass
class Message:
    """A request or a response as it was on the wire."""

    version: str
    headers: list
    method: str = ""
    target: str = ""
    status: int = 0
    body: bytes = b""
    trailers: list = field(default_factory=list)
    informational: list = field(default_factory=list)

    def values(self, name):
        return [value for own, value in self.headers if own == name]

    def header(self, name):
        """The one value of a field, or None; several values are a failure."""
        values = self.values(name)
        assert len(values) < 2, f"{name} came {len(values)} times"
        return values[0] if values else None


def _fields(pairs):
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]


class Peer:
    """A connected socket that keeps every byte it was sent in `received`."""

    def __init__(self, connection, timeout=10.0):
        connection.settimeout(timeout)
        self.socket = connection
        self.received = bytearray()
        self._unparsed = b""

    def send(self, data):
        self.socket.sendall(data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection with a reset instead of an orderly end."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def receive(self, size=1 << 16):
        """The next bytes; nothing when the other side ended the connection, in either way."""
        try:
            data = self.socket.recv(size)
        except ConnectionError:
            return b""
        self.received += data
        return data

    def rest(self):
        """All bytes until the other side ends the connection."""
        unparsed, self._unparsed = bytearray(self._unparsed), b""
        while data := self.receive():
            unparsed += data
        return bytes(unparsed)

    def has_ended(self):
        """Whether the other side ends the connection without sending anything more."""
        return self.rest() == b""

    def head(self):
        """The bytes of the next head, its empty line included; what follows stays unread by messages."""
        data = self._unparsed
        while b"\r\n\r\n" not in data:
            more = self.receive()
            assert more, f"the connection ended within a head: {data!r}"
            data += more
        end = data.index(b"\r\n\r\n") + 4
        self._unparsed = data[end:]
        return data[:end]

    def read_exactly(self, count):
        """Exactly the next `count` bytes."""
        data = self._unparsed
        while len(data) < count:
            more = self.receive()
            assert more, f"the connection ended after {len(data)} of {count} bytes"
            data += more
        self._unparsed = data[count:]
        return data[:count]

    def request(self):
        """The next whole request, or None when the connection ended before it was complete."""
        return self._message(h11.Connection(h11.SERVER, MAX_HEAD))

    def response(self, method="GET"):
        """The next whole response to a request of `method`."""
        parser = h11.Connection(h11.CLIENT, MAX_HEAD)
        # The parser needs to have sent a request; its bytes are not the ones that were sent.
        parser.send(h11.Request(method=method, target="/", headers=[("host", "-")]))
        parser.send(h11.EndOfMessage())
        message = self._message(parser)
        assert message, f"the connection ended without a response; received {bytes(self.received)!r}"
        return message

    def _message(self, parser):
        if self._unparsed:
            parser.receive_data(self._unparsed)
            self._unparsed = b""
        message, informational = None, []
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                data = self.receive()
                if not data and (message is None or parser.our_role is h11.SERVER):
                    return None
                parser.receive_data(data)
            elif isinstance(event, h11.InformationalResponse):
                informational.append((event.status_code, _fields(event.headers)))
            elif isinstance(event, (h11.Request, h11.Response)):
                message = Message(event.http_version.decode(), _fields(event.headers))
                message.informational = informational
                if isinstance(event, h11.Request):
                    message.method, message.target = event.method.decode(), event.target.decode()
                else:
                    message.status = event.status_code
            elif isinstance(event, h11.Data):
                message.body += event.data
            elif isinstance(event, h11.EndOfMessage):
                message.trailers = _fields(event.headers)
                self._unparsed = bytes(parser.trailing_data[0])
                return message
            else:
                return None


def connect(address, timeout=10.0):
    """A peer connected to (host, port), or to a Unix path or abstract name given as a string."""
    if isinstance(address, str):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(timeout)
        connection.connect(address)
    else:
        connection = socket.create_connection(address, timeout)
    return Peer(connection, timeout)
