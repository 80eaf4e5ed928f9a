"""An upstream with a wrong certificate gets not one byte of the call, and its caller gets the reason in its own protocol."""

import json

import pytest

from support import protocol


def configuration(url, tls):
    return f"""\
listen: 127.0.0.1:0
upstreams:
  shop: {{ url: "{url}", tls: {{ {tls} }} }}
interceptors: [{{ metrics: {{}} }}, {{ log: {{}} }}]
"""


def test_good(martlet, recorder, authority):
    ours = authority()
    upstream = recorder(tls=ours.issue("127.0.0.1").server())
    proxy = martlet(configuration(upstream.url, f"ca: {ours.file}"))
    with proxy.http() as http:
        for _ in range(3):
            assert http.get("/").text == "ok"
    assert len(upstream.connections) == 1
    assert upstream.requests[0].header("host") == f"127.0.0.1:{upstream.port}"
    assert proxy.metrics().total("martlet_upstream_attempts_total", upstream="shop", result="ok") == 3


def test_another_name(martlet, recorder, authority):
    ours = authority()
    upstream = recorder(tls=ours.issue("shop.example").server())
    names = []
    upstream.tls.sni_callback = lambda connection, name, context: names.append(name)
    proxy = martlet(configuration(upstream.url, f"ca: {ours.file}, server_name: shop.example"))
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    assert names == ["shop.example"]


BAD = {
    "name": (lambda ours, other: ours.issue("other.example"), "the certificate is not for 127.0.0.1"),
    "authority": (
        lambda ours, other: other.issue("127.0.0.1"),
        "the certificate is not trusted: unable to get local issuer certificate",
    ),
    "time": (
        lambda ours, other: ours.issue_expired("127.0.0.1"),
        "the certificate, or a CA certificate in its chain, has expired",
    ),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad(martlet, recorder, authority, bad):
    ours, other = authority(), authority("other")
    issue, reason = BAD[bad]
    upstream = recorder(tls=issue(ours, other).server())
    proxy = martlet(configuration(upstream.url, f"ca: {ours.file}"))
    message = f"upstream shop: TLS handshake with 127.0.0.1:{upstream.port} failed: {reason}"
    with proxy.http() as http:
        for caller in protocol.ALL:
            response = caller.call(http)
            assert response.status_code == caller.status(503)
            assert response.content == caller.error("unavailable", 14, message)
    assert upstream.bytes == b"" and upstream.requests == []
    attempts = proxy.metrics().select("martlet_upstream_attempts_total", upstream="shop")
    assert {labels["result"]: value for labels, value in attempts if value} == {"tls_failed": len(protocol.ALL)}
    line = json.loads(proxy.stdout.wait(r"\{.*\}")[0])
    assert line["message"] == message and line["decided_by"] == "martlet"


def test_clear_text(martlet, recorder, authority):
    upstream = recorder(script=lambda peer: (peer.receive(), peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")))
    proxy = martlet(configuration(upstream.url.replace("http:", "https:"), f"ca: {authority().file}"))
    with proxy.http() as http:
        response = http.get("/")
    assert response.status_code == 503
    assert response.json()["message"].endswith(": the peer does not speak TLS")


def test_silence(martlet, recorder, authority):
    upstream = recorder(script=lambda peer: peer.rest())
    url = upstream.url.replace("http:", "https:")
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{url}", tls: {{ ca: {authority().file} }}, timeouts: {{ connect: 200ms }} }}
        """
    )
    with proxy.http() as http:
        assert http.get("/").json()["message"] == "upstream shop: no connection within timeouts.connect"
