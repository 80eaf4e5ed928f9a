"""The next connection to an upstream resumes the last session and needs no certificates."""

import ssl

import pytest


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_resumed(martlet, recorder, authority, version):
    ours = authority()
    resumed = []

    def script(peer):
        peer.request()
        resumed.append(peer.socket.session_reused)
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")

    upstream = recorder(script=script, tls=ours.issue().server(versions=(version, version)))
    proxy = martlet(
        f"""
        workers: 1
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }}
        """
    )
    with proxy.http() as http:
        for _ in range(4):
            assert http.get("/").text == "ok"
    assert resumed == [False, True, True, True]
