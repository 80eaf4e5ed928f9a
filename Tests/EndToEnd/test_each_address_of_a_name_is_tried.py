"""`localhost` has two addresses; whichever of them answers, the call is served."""

import socket

import pytest


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_localhost(martlet, recorder, host):
    found = {address[0] for *_, address in socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)}
    if found != {"127.0.0.1", "::1"}:
        pytest.skip(f"here localhost is {found}")
    upstream = recorder(host=host)
    proxy = martlet(upstream=f"http://localhost:{upstream.port}")
    with proxy.http() as http:
        assert [http.post("/", content=b"x").text for _ in range(5)] == ["ok"] * 5
