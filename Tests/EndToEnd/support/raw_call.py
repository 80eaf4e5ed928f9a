"""A call of any protocol over either version of HTTP, byte by byte, and how it ended in the caller's eyes."""

import base64
import json

import h11

from support.http1.peer import MAX_HEAD
from support.http2 import h2_peer
from support.protocol import ALL, HELLO_PROTO, SAY, RPCProtocol, envelope

GRPC = RPCProtocol("grpc", "application/grpc+proto", envelope(0, HELLO_PROTO), response_type="application/grpc+proto")
# Each protocol over each version that can carry it.
WAYS = [(caller, 1) for caller in ALL] + [(caller, 2) for caller in [*ALL, GRPC]]
CODES = {"0": "ok", "1": "canceled", "4": "deadline_exceeded", "8": "resource_exhausted", "13": "internal", "14": "unavailable"}


def response_parts(kind):
    """What an upstream sends for a request of a content type: its own, a message, and the end that is in the body."""
    match (kind or "").split("+")[0]:
        case "application/connect":
            return kind, envelope(0, b'{"sentence":"hi"}'), envelope(2, b"{}")
        case "application/grpc-web":
            return kind, envelope(0, HELLO_PROTO), envelope(0x80, b"grpc-status: 0\r\n")
        case "application/grpc-web-text":
            whole = envelope(0, HELLO_PROTO + b"!")  # of 14 bytes, and so padded in base64
            return kind, base64.b64encode(whole), base64.b64encode(envelope(0x80, b"grpc-status: 0\r\n"))
        case "application/grpc":
            return kind, envelope(0, HELLO_PROTO), b""
    return kind or "application/proto", b'{"sentence":"hi"}', b""


def _fault_of(caller, status, body):
    """The code of a whole response, or `ok`."""
    match caller.response_type.split("+")[0]:
        case "application/connect":
            last = json.loads(body[body.rindex(b"{", 0, body.rindex(b'"code"')) : -1]) if b'"error"' in body else {}
            return last.get("code", "ok") if last or body.endswith(envelope(2, b"{}")) else "nothing"
        case "application/grpc-web" | "application/grpc-web-text":
            if caller.response_type.startswith("application/grpc-web-text"):
                body = _decoded(body)
            assert body.count(b"grpc-status:") < 2, body
            return CODES[body.split(b"grpc-status: ")[1].split(b"\r\n")[0].decode()] if b"grpc-status" in body else "nothing"
    return "ok" if status == 200 else json.loads(body)["code"]


def _decoded(body):
    """Base64 in pieces, each of which may be padded."""
    return b"".join(base64.b64decode(body[at : at + 4]) for at in range(0, len(body), 4))


class RawCall:
    """One call on its own connection, which begins when the object is made."""

    def __init__(self, proxy, caller, version, path=SAY):
        self.caller, self.version = caller, version
        self._is_grpc = caller.response_type == GRPC.response_type
        headers = caller.headers()
        body = caller.body if caller.method == "POST" else b""
        if version == 1:
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self.peer = proxy.connect()
            head = f"{caller.method} {path}{caller.query} HTTP/1.1\r\nhost: a.example\r\n{lines}"
            self.peer.send(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        else:
            fields = [*headers.items(), ("te", "trailers")] if self._is_grpc else headers.items()
            self.peer = proxy.connect_h2()
            self.call = self.peer.open(h2_peer.request(path + caller.query, caller.method, *fields), end=not body)
            if body:
                self.peer.data(self.call.id, body, end=True)

    def wait_for(self, part=None):
        """Waits for the head of the response, or for a part of its body."""
        if self.version == 2:
            self.peer.wait(lambda: part in self.call.body if part else self.call.heads, "a part of the response")
        while self.version == 1 and (part or b"\r\n\r\n") not in self.peer.received:
            assert self.peer.receive(), f"it ended before {part!r}: {bytes(self.peer.received)!r}"

    def outcome(self):
        """Waits for the end; the code of the call as the caller sees it, or `cut off`."""
        try:
            return self._outcome_2() if self.version == 2 else self._outcome_1()
        finally:
            self.peer.close()

    def _outcome_2(self):
        self.peer.wait(lambda: self.call.is_over, "the end of the call")
        if self.call.reset is not None and not self.call.ended:
            return "cut off"
        if self._is_grpc:
            return CODES.get(self.call.grpc(), "nothing")
        return _fault_of(self.caller, self.call.status, bytes(self.call.body))

    def _outcome_1(self):
        parser = h11.Connection(h11.CLIENT, MAX_HEAD)
        parser.send(h11.Request(method=self.caller.method, target="/", headers=[("host", "-")]))
        parser.send(h11.EndOfMessage())
        if self.peer.received:
            parser.receive_data(bytes(self.peer.received))
        status, body = 0, b""
        while True:
            try:
                event = parser.next_event()
            except h11.RemoteProtocolError:
                return "cut off"
            if event is h11.NEED_DATA:
                parser.receive_data(self.peer.receive())
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return _fault_of(self.caller, status, body)
            else:
                return "cut off"
