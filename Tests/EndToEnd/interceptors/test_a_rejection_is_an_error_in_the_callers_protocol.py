"""A rejection has the same bytes for every caller of a protocol, and nothing of the call is sent upstream."""

import base64
import json

import pytest

from support import protocol

JSON = b'{"code":"unknown","message":"auth token fetch failed"}'
END_OF_STREAM = bytes.fromhex(
    "02000000407b226572726f72223a7b22636f6465223a22756e6b6e6f776e222c22"
    "6d657373616765223a226175746820746f6b656e206665746368206661696c6564227d7d"
)
TRAILERS = bytes.fromhex(
    "8000000037677270632d7374617475733a20320d0a"
    "677270632d6d6573736167653a206175746820746f6b656e206665746368206661696c65640d0a"
)
TRAILERS_TEXT = b"gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"
RESPONSES = {
    protocol.CONNECT_UNARY_JSON: (500, "application/json", JSON),
    protocol.CONNECT_UNARY_PROTO: (500, "application/json", JSON),
    protocol.CONNECT_GET: (500, "application/json", JSON),
    protocol.CONNECT_STREAM_JSON: (200, "application/connect+json", END_OF_STREAM),
    protocol.CONNECT_STREAM_PROTO: (200, "application/connect+proto", END_OF_STREAM),
    protocol.GRPC_WEB: (200, "application/grpc-web+proto", TRAILERS),
    protocol.GRPC_WEB_TEXT: (200, "application/grpc-web-text+proto", TRAILERS_TEXT),
    protocol.PLAIN: (500, "application/json", JSON),
}
CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - reject: {{ code: unknown, message: "auth token fetch failed", {more} }}
"""
DETAILS = "details: [ { type: google.rpc.RetryInfo, value: CgIIPA } ]"


@pytest.mark.parametrize("caller", RESPONSES, ids=str)
def test_byte_for_byte(martlet, recorder, caller):
    upstream = recorder()
    proxy = martlet(CONFIGURATION.format(url=upstream.url, more=""))
    status, content_type, body = RESPONSES[caller]
    with proxy.http() as http:
        for _ in range(2):  # the connection is kept: the request's body was read
            response = caller.call(http)
            assert (response.status_code, response.headers["content-type"]) == (status, content_type)
            assert response.content == body
            assert "content-encoding" not in response.headers
    assert upstream.connections == []
    verdicts = proxy.metrics().total("martlet_interceptor_verdicts_total", interceptor="reject", verdict="reject")
    assert verdicts == 2


def test_details(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(url=recorder().url, more=DETAILS))
    with proxy.http() as http:
        unary = protocol.CONNECT_UNARY_JSON.call(http).content
        stream = protocol.CONNECT_STREAM_PROTO.call(http).content
        web = protocol.GRPC_WEB.call(http).content
    error = (
        b'{"code":"unknown","message":"auth token fetch failed",'
        b'"details":[{"type":"google.rpc.RetryInfo","value":"CgIIPA"}]}'
    )
    status = b"CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SBAoCCDw"
    assert unary == error
    assert stream == protocol.envelope(2, b'{"error":' + error + b"}")
    lines = b"grpc-status: 2\r\ngrpc-message: auth token fetch failed\r\ngrpc-status-details-bin: " + status + b"\r\n"
    assert web == protocol.envelope(0x80, lines)


def test_metadata(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(url=recorder().url, more='metadata: { x-why: "closed" }'))
    with proxy.http() as http:
        assert protocol.CONNECT_UNARY_JSON.call(http).headers["x-why"] == "closed"
        stream = protocol.CONNECT_STREAM_PROTO.call(http).content
        assert json.loads(stream[5:])["metadata"] == {"x-why": ["closed"]}
        text = base64.b64decode(protocol.GRPC_WEB_TEXT.call(http).content)
        assert b"x-why: closed\r\n" in text


MESSAGES = {
    "100% sure": b"100%25 sure",
    "kullanıcı bulunamadı": b"kullan%C4%B1c%C4%B1 bulunamad%C4%B1",
    "☃ snowman": b"%E2%98%83 snowman",
    "tab\tnewline\n": b"tab%09newline%0A",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_are_encoded_as_each_protocol_requires(martlet, recorder, message):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {recorder().url}
        interceptors:
          - reject: {{ code: permission_denied, message: {json.dumps(message)} }}
        """
    )
    with proxy.http() as http:
        unary = protocol.CONNECT_UNARY_JSON.call(http)
        assert (unary.status_code, unary.json()["message"]) == (403, message)
        assert b"\r\ngrpc-message: " + MESSAGES[message] + b"\r\n" in protocol.GRPC_WEB.call(http).content
