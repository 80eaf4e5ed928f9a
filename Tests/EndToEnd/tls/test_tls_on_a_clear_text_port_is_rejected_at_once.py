"""A caller that starts TLS on a clear-text port gets an error at once instead of a timeout."""

import ssl

import pytest


def client_hello():
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="a.example")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def test_rejected(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect(timeout=5)
    caller.send(client_hello().replace(b"\n", b"\0"))  # no line feed, by which a line would look complete
    assert caller.response().status == 400
    assert caller.has_ended()
    assert upstream.bytes == b""
