"""With pins, a valid certificate is not enough: a renewed one with the same key passes, and one with another key does not."""

import pytest


@pytest.fixture
def ask(martlet, recorder):
    """Calls an upstream with that identity and that pin; returns the error that the caller gets, or None."""

    def ask(authority, identity, tls):
        upstream = recorder(tls=identity.server())
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams:
              shop: {{ url: "{upstream.url}", tls: {{ ca: {authority.file}, {tls} }} }}
            """
        )
        with proxy.http() as http:
            response = http.get("/")
        if response.status_code == 200:
            return None
        assert response.status_code == 503 and upstream.bytes == b""
        assert response.json()["code"] == "unavailable"
        return response.json()["message"].partition(f"TLS handshake with 127.0.0.1:{upstream.port} failed: ")[2]

    return ask


UNPINNED = "no certificate of the chain matches a pin"
EXPIRED = "the certificate, or a CA certificate in its chain, has expired"


def test_a_public_key(authority, ask):
    ours = authority()
    old = ours.issue()
    tls = f'pins: ["{old.pin}"]'
    assert ask(ours, old, tls) is None
    assert ask(ours, ours.renew(old), tls) is None
    assert ask(ours, ours.issue(), tls) == UNPINNED


def test_a_backup(authority, ask):
    ours = authority()
    old, new = ours.issue(), ours.issue()
    assert ask(ours, new, f'pins: ["{old.pin}", "{new.pin}"]') is None


def test_a_certificate(authority, ask):
    ours = authority()
    old = ours.issue()
    tls = f"certificates: [{old.certificate}]"
    assert ask(ours, old, tls) is None
    assert ask(ours, ours.renew(old), tls) == UNPINNED


def test_the_authority(authority, ask):
    ours = authority()
    assert ask(ours, ours.issue(), f"certificates: [{ours.file}]") is None
    assert ask(ours, ours.issue(), f"certificates: [{ours.file}], match: all") == UNPINNED


def test_an_expired_certificate(authority, ask):
    ours = authority()
    expired = ours.issue_expired("127.0.0.1")
    assert ask(ours, expired, f'pins: ["{expired.pin}"]') == EXPIRED


def test_a_single_pin_logs_a_warning(martlet, authority):
    ours = authority()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "https://127.0.0.1:1", tls: {{ pins: ["{ours.issue().pin}"] }} }}
        """
    )
    proxy.stderr.wait(r" warn \S+:4:\d+: there is only one pin")
