"""No server listens at the upstream. Every caller gets unavailable in its own protocol."""

import socket

import pytest

from support import protocol


@pytest.fixture
def closed_port():
    """A port of 127.0.0.1 that stays ours and refuses connections."""
    with socket.socket() as not_listening:
        not_listening.bind(("127.0.0.1", 0))
        yield not_listening.getsockname()[1]


def check(proxy):
    with proxy.http() as http:
        message = protocol.PLAIN.call(http).json()["message"]
        assert message
        for caller in protocol.ALL:
            response = caller.call(http)
            assert (response.status_code, response.headers["content-type"]) == (caller.status(503), caller.response_type)
            assert response.content == caller.error("unavailable", 14, message)
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="connect_failed") >= len(protocol.ALL)


def test_a_refused_connection(martlet, closed_port):
    check(martlet(upstream=f"http://127.0.0.1:{closed_port}"))


def test_a_missing_unix_socket(martlet, tmp_path):
    check(martlet(upstream=f"unix:{tmp_path}/none.sock"))


def test_a_name_that_does_not_exist(martlet):
    # The resolver knows without a query that .onion names have no address (RFC 7686).
    proxy = martlet(upstream="http://nobody.onion:80")
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_JSON.call(http)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
