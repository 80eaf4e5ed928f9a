"""Callers may connect over TLS, with the certificate, versions and protocols of the listener."""

import socket
import ssl
import subprocess

import pytest

from support.http1.peer import Peer
from support.wait import eventually


@pytest.fixture
def secured(martlet, recorder, authority):
    """Starts a listener with a certificate for localhost, and more in its `tls`."""

    def start(more="", timeouts="", upstream=None):
        ours = authority()
        identity = ours.issue("localhost", "127.0.0.1")
        proxy = martlet(
            f"""
            listeners:
              - address: 127.0.0.1:0
                tls: {{ certificate: {identity.certificate}, key: {identity.key}{more} }}
                {timeouts}
            upstream: {(upstream or recorder()).url}
            interceptors: [{{ log: {{}} }}]
            """
        )
        proxy.authority = ours
        return proxy

    return start


def connect(proxy, context=None, name="localhost"):
    context = context or proxy.authority.client()
    return Peer(context.wrap_socket(socket.create_connection(proxy.address, 10), server_hostname=name))


def get(peer):
    peer.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    return peer.response()


def test_curl(secured):
    proxy = secured()
    port = proxy.address[1]
    for url in [f"https://localhost:{port}/", f"https://127.0.0.1:{port}/"]:
        command = ["curl", "--silent", "--show-error", "--max-time", "10", "--noproxy", "*"]
        command += ["--cacert", proxy.authority.file, "--resolve", f"localhost:{port}:127.0.0.1"]
        assert subprocess.check_output([*command, "--data", "hello", url]) == b"ok"


def test_python(secured):
    peer = connect(secured())
    assert peer.socket.version() == "TLSv1.3"
    for _ in range(3):
        assert get(peer).body == b"ok"


def test_a_request_in_the_same_flight_as_the_handshakes_end(secured):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    proxy = secured()
    client = proxy.authority.client().wrap_bio(incoming, outgoing, server_hostname="localhost")
    plain = proxy.connect()
    while True:
        try:
            client.do_handshake()
            break
        except ssl.SSLWantReadError:
            plain.send(outgoing.read())
            incoming.write(plain.receive())
    client.write(b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n")
    plain.send(outgoing.read())
    incoming.write(plain.rest())
    assert client.read().startswith(b"HTTP/1.1 200 OK\r\n")


def test_the_best_protocol_in_common(secured):
    proxy = secured()
    for offered, chosen in [(["http/1.1"], "http/1.1"), ([], None)]:
        context = proxy.authority.client()
        if offered:
            context.set_alpn_protocols(offered)
        peer = connect(proxy, context)
        assert peer.socket.selected_alpn_protocol() == chosen
        assert get(peer).body == b"ok"
    context.set_alpn_protocols(["imap"])
    with pytest.raises(ssl.SSLError, match="(?i)no.application.protocol"):
        connect(proxy, context)


def test_clear_text_is_closed(secured):
    proxy = secured()
    peer = proxy.connect()
    peer.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert b"HTTP" not in peer.rest()
    metric = "martlet_tls_errors_total"
    eventually(lambda: proxy.metrics().total(metric) == 1)
    assert get(connect(proxy)).body == b"ok"


def test_an_unfinished_handshake_times_out(secured):
    proxy = secured(timeouts="timeouts: { head: 200ms, idle: 1h }")
    silent, slow, done = proxy.connect(), proxy.connect(), connect(proxy)
    slow.send(b"\x16\x03\x01")
    assert silent.has_ended() and slow.has_ended()
    assert get(done).body == b"ok"


def test_an_old_version_is_rejected(secured):
    old = secured()
    context = old.authority.client()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert get(connect(old, context)).body == b"ok"
    new = secured(more=', minimum: "1.3"')
    context = new.authority.client()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError, match="(?i)protocol.version"):
        connect(new, context)


def test_callers_can_be_asked_for_certificates(secured, authority):
    callers, strangers = authority("callers"), authority("strangers")
    proxy = secured(more=f", client_ca: {callers.file}")
    for version in [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]:

        def ask(identity, version=version):
            context = proxy.authority.client(identity)
            context.maximum_version = version
            peer = connect(proxy, context)
            return get(peer).body

        known = callers.issue("me.example")
        assert [ask(known) for _ in range(2)] == [b"ok"] * 2
        for unknown in [None, strangers.issue("me.example")]:
            with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
                ask(unknown)
    proxy.stdout.wait(r'"code":"ok"', count=4)
    assert len(proxy.stdout.matches(r'"call":')) == 4


def test_close_notify_is_sent(secured):
    peer = connect(secured())
    peer.socket.suppress_ragged_eofs = False
    peer.send(b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n")
    assert peer.response().body == b"ok"
    assert peer.socket.recv(1) == b""
