"""Bodies of any size arrive whole over TLS. A slow reader holds back the sender, and Martlet's memory stays small."""

import hashlib
import os
import socket
import threading

import pytest

from support.http1.peer import Peer
from support.wait import settled

pytestmark = pytest.mark.alone

MIB = 1 << 20
SIZES = [0, 1, 16383, 16384, 16385, 65536, MIB + 1, 16 * MIB]
FLOOD = 256 * MIB


@pytest.fixture
def both(martlet, authority):
    """Starts Martlet with TLS on both sides; connects to it."""

    def start(upstream, ours):
        identity = ours.issue("localhost")
        proxy = martlet(
            f"""
            listeners:
              - address: 127.0.0.1:0
                tls: {{ certificate: {identity.certificate}, key: {identity.key} }}
            upstreams:
              shop: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }}
            """
        )
        caller = socket.create_connection(proxy.address, 30)
        return proxy, Peer(ours.client().wrap_socket(caller, server_hostname="localhost"), timeout=30)

    return start


def test_echo(both, recorder, authority):
    ours = authority()

    def echo(request):
        return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(request.body) + request.body

    _, caller = both(recorder(response=echo, tls=ours.issue().server()), ours)
    for size in SIZES:
        body = os.urandom(size)
        # Not while a response is read: Python's TLS sockets are for one thread, and the response comes behind the whole body.
        caller.send(b"POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: %d\r\n\r\n" % size + body)
        response = caller.response().body
        assert hashlib.sha256(response).digest() == hashlib.sha256(body).digest()


def test_chunks(both, recorder, authority):
    ours = authority()
    pieces = [os.urandom(size) for size in (1, 70_000, 16384, 3)]

    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for piece in pieces:
            peer.send(b"%x\r\n" % len(piece) + piece + b"\r\n")
        peer.send(b"0\r\n\r\n")

    _, caller = both(recorder(script=script, tls=ours.issue().server()), ours)
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.response().body == b"".join(pieces)


def test_a_slow_reader(both, recorder, authority):
    ours = authority()
    sent = 0

    def script(peer):
        nonlocal sent
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % FLOOD)
        block = bytes(256 * 1024)
        while sent < FLOOD:
            sent += peer.socket.send(block)

    proxy, caller = both(recorder(script=script, tls=ours.issue().server()), ours)
    before = proxy.own_memory()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    assert 0 < settled(lambda: sent) < FLOOD // 4
    assert proxy.own_memory() - before <= 4 * MIB
    left = FLOOD - (len(caller.received) - caller.received.index(b"\r\n\r\n") - 4)
    while left:  # once it reads again, all of it comes
        left -= len(caller.socket.recv(MIB))


def test_a_slow_upstream(both, recorder, authority):
    ours = authority()
    done = threading.Event()
    upstream = recorder(script=lambda peer: (peer.head(), done.wait(30)), tls=ours.issue().server())
    proxy, caller = both(upstream, ours)
    before = proxy.own_memory()
    caller.send(b"POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: %d\r\n\r\n" % FLOOD)
    sent = 0

    def push():
        nonlocal sent
        block = bytes(64 * 1024)
        try:
            while sent < FLOOD:
                sent += caller.socket.send(block)
        except OSError:
            pass  # the end of the test

    threading.Thread(target=push, daemon=True).start()
    assert 0 < settled(lambda: sent) < FLOOD // 4
    assert proxy.own_memory() - before <= 4 * MIB
    done.set()
