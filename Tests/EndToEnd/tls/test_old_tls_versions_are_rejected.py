"""Martlet does not talk to an upstream that cannot use the `minimum` version."""

import ssl

import pytest

OLD = ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(("minimum", "status"), [("1.2", 200), ("1.3", 503)])
def test_minimum(martlet, recorder, authority, minimum, status):
    ours = authority()
    upstream = recorder(tls=ours.issue().server(versions=(OLD, OLD)))
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file}, minimum: "{minimum}" }} }}
        """
    )
    with proxy.http() as http:
        response = http.get("/")
    assert response.status_code == status
    if status == 503:
        assert response.json()["message"].endswith(": the peer rejected the handshake: protocol version")
