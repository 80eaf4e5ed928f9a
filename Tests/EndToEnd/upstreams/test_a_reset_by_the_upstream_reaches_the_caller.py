"""A reset before the response is an error from Martlet. After that the caller's connection is cut off as well."""

import pytest

from support import protocol


def test_before_the_response(martlet, recorder):
    upstream = recorder(script=lambda peer: (peer.request(), peer.reset()))
    proxy = martlet(upstream=upstream.url)
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_PROTO.call(http)
        assert response.status_code in (502, 503)
        assert response.json()["code"] == "unavailable"
        assert protocol.GRPC_WEB.call(http).content.startswith(b"\x80\x00\x00\x00")
    assert len(upstream.connections) == 2
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="reset") == 2


@pytest.mark.parametrize(
    "coding", [b"content-length: 100\r\n\r\npart", b"transfer-encoding: chunked\r\n\r\n4\r\npart\r\n"]
)
def test_within_the_response(martlet, recorder, coding):
    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\n" + coding)
        peer.read_exactly(1)  # the test breaks the connection off once the caller has the first part

    upstream = recorder(script=script)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    while b"part" not in caller.received:
        assert caller.receive()
    upstream.connections[0].half_close()
    assert b"0\r\n\r\n" not in caller.rest()
