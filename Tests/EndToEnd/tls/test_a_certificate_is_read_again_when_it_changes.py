"""A renewed certificate needs no reload. New connections get it and old ones stay; a bad one changes nothing and is reported."""

import socket

from support.http1.peer import Peer
from support.wait import eventually


def start(martlet, recorder, identity, more=""):
    return martlet(
        f"""
        listeners:
          - address: 127.0.0.1:0
            tls: {{ certificate: {identity.certificate}, key: {identity.key}{more} }}
        upstream: {recorder().url}
        """
    )


def connect(proxy, authority, identity=None):
    context = authority.client(identity)
    return Peer(context.wrap_socket(socket.create_connection(proxy.address, 10), server_hostname="127.0.0.1"))


def serial(proxy, authority):
    peer = connect(proxy, authority)
    try:
        return peer.socket.getpeercert()["serialNumber"]
    finally:
        peer.close()


def works(peer):
    peer.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    return peer.response().body == b"ok"


def test_renewed(martlet, recorder, authority):
    ours = authority()
    identity = ours.issue()
    proxy = start(martlet, recorder, identity)
    before, old = serial(proxy, ours), connect(proxy, ours)
    expiry = proxy.metrics().total("martlet_certificate_expiry_timestamp_seconds")
    assert works(old)
    identity.replace(ours.issue())
    eventually(lambda: serial(proxy, ours) != before, what="another certificate")
    assert works(old)
    proxy.stderr.wait(rf" info .*certificate changed.* file={identity.certificate}")
    assert ": valid" in proxy.admin("/status").text
    assert proxy.metrics().total("martlet_certificate_expiry_timestamp_seconds") >= expiry > 0
    assert proxy.metrics().total("martlet_config_generation") == 1


def test_bad(martlet, recorder, authority):
    ours = authority()
    identity, other = ours.issue(), ours.issue()
    proxy = start(martlet, recorder, identity)
    before = serial(proxy, ours)
    identity.certificate.write_bytes(other.certificate.read_bytes())
    proxy.stderr.wait(r" error .*certificate rejected, still using the previous one")
    assert serial(proxy, ours) == before
    reason = f"{identity.key}: the private key does not belong to the certificate"
    assert f"rejected: {reason}" in proxy.admin("/status").text
    assert proxy.metrics().total("martlet_certificate_last_reload_successful") == 0
    identity.key.write_bytes(other.key.read_bytes())
    eventually(lambda: serial(proxy, ours) != before, what="another certificate")
    assert proxy.metrics().total("martlet_certificate_last_reload_successful") == 1


def test_other_callers(martlet, recorder, authority):
    ours, callers, others = authority(), authority("callers"), authority("others")
    first, second = callers.issue("a.example"), others.issue("b.example")
    proxy = start(martlet, recorder, ours.issue(), f", client_ca: {callers.file}")
    assert works(connect(proxy, ours, first))
    callers.file.write_bytes(others.file.read_bytes())
    proxy.stderr.wait("certificate changed")

    def taken():
        try:
            return works(connect(proxy, ours, second))
        except (OSError, AssertionError):
            return False

    eventually(taken, what="the other authority's caller")


def test_a_reload_counts_a_changed_authority_of_an_upstream(martlet, recorder, authority):
    ours, new = authority(), authority("new")
    upstream = recorder(tls=ours.issue().server())
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams:
          shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }}
        """
    )
    with proxy.http() as http:
        assert http.get("/").status_code == 200
        proxy.reload()
        assert http.get("/").status_code == 200
        assert len(upstream.connections) == 1, "an unchanged file costs a connection"
        ours.file.write_bytes(new.file.read_bytes())
        proxy.reload()
        assert http.get("/").status_code == 503
