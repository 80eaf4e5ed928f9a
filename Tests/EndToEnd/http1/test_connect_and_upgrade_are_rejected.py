"""Martlet is not a tunnel: CONNECT and protocol upgrades get a clear 501, and nothing is forwarded."""

import pytest

CASES = {
    "CONNECT": b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
    "websocket": b"GET /chat HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "an upgrade that its connection does not name": b"GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\n\r\n",
}
H2C = (
    b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
)


@pytest.mark.parametrize("name", CASES)
def test_rejected(martlet, recorder, name):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(CASES[name])
    response = caller.response()
    assert response.status == 501
    assert b'"code":"unimplemented"' in response.body
    assert caller.has_ended()
    assert upstream.bytes == b""


def test_an_offer_of_http_2_is_ignored(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(H2C)
    assert caller.response().status == 200
    assert b"h2c" not in upstream.bytes and b"http2-settings" not in upstream.bytes.lower()
