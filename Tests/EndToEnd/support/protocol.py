"""How a caller of each protocol asks, and how an error of Martlet's own must look to it."""

import base64
import json
import struct
from dataclasses import dataclass

SAY = "/connectrpc.eliza.v1.ElizaService/Say"
HELLO_PROTO = bytes.fromhex("0a0668656c6c6f21")
HELLO_JSON = b'{"sentence":"hello!"}'


def envelope(flags, payload):
    return struct.pack(">BI", flags, len(payload)) + payload


@dataclass(frozen=True)
class RPCProtocol:
    """One protocol of a caller: its mark in a request, and the content type of its responses."""

    name: str
    content_type: str = ""
    body: bytes = b""
    query: str = ""
    method: str = "POST"
    response_type: str = "application/json"

    def __str__(self):
        return self.name

    def headers(self):
        headers = {"content-type": self.content_type} if self.content_type else {}
        if self.content_type in ("application/json", "application/proto"):
            headers["connect-protocol-version"] = "1"
        return headers

    def call(self, client, path=SAY, headers=None, **options):
        """Makes the call with an HTTP client."""
        headers = self.headers() | (headers or {})
        content = self.body if self.method == "POST" else None
        return client.request(self.method, path + self.query, headers=headers, content=content, **options)

    def error(self, code, number, message):
        """The body of an error without details, as every byte of it must be."""
        plain = json.dumps({"code": code, "message": message}, separators=(",", ":")).encode()
        lines = f"grpc-status: {number}\r\ngrpc-message: {message}\r\n".encode()
        match self.response_type.split("+")[0]:
            case "application/connect":
                return envelope(0x02, b'{"error":' + plain + b"}")
            case "application/grpc-web":
                return envelope(0x80, lines)
            case "application/grpc-web-text":
                return base64.b64encode(envelope(0x80, lines))
        return plain

    def status(self, unary):
        """The HTTP status of a response by Martlet: `status` if the protocol shows errors by status."""
        return unary if self.response_type == "application/json" else 200


def _stream(name, content_type, body):
    return RPCProtocol(name, content_type, body, response_type=content_type)


CONNECT_UNARY_JSON = RPCProtocol("connect-unary-json", "application/json", HELLO_JSON)
CONNECT_UNARY_PROTO = RPCProtocol("connect-unary-proto", "application/proto", HELLO_PROTO)
CONNECT_GET = RPCProtocol("connect-get", query="?connect=v1&base64=1&encoding=proto&message=CgZoZWxsbyE", method="GET")
CONNECT_STREAM_JSON = _stream("connect-stream-json", "application/connect+json", envelope(0, HELLO_JSON))
CONNECT_STREAM_PROTO = _stream("connect-stream-proto", "application/connect+proto", envelope(0, HELLO_PROTO))
GRPC_WEB = _stream("grpc-web", "application/grpc-web+proto", envelope(0, HELLO_PROTO))
GRPC_WEB_TEXT = _stream("grpc-web-text", "application/grpc-web-text+proto", base64.b64encode(envelope(0, HELLO_PROTO)))
PLAIN = RPCProtocol("plain", "text/plain", b"hello!")

ALL = [
    CONNECT_UNARY_JSON,
    CONNECT_UNARY_PROTO,
    CONNECT_GET,
    CONNECT_STREAM_JSON,
    CONNECT_STREAM_PROTO,
    GRPC_WEB,
    GRPC_WEB_TEXT,
    PLAIN,
]
