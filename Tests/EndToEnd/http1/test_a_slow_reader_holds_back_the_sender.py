"""A slow reader stops its sender, and Martlet holds only a bounded part between the two."""

import threading

import pytest

from support.wait import settled

pytestmark = pytest.mark.alone

MIB = 1 << 20
WHOLE = 256 * MIB


class Flood:
    """Sends `WHOLE` bytes and counts what went."""

    sent = 0

    def __call__(self, peer):
        block = memoryview(bytes(256 * 1024))
        while self.sent < WHOLE:
            self.sent += peer.socket.send(block)


def test_a_response(martlet, recorder):
    flood = Flood()

    def script(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % WHOLE)
        flood(peer)

    upstream = recorder(script=script)
    proxy = martlet(upstream=upstream.url)
    caller = proxy.connect()
    before = proxy.own_memory()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    caller.head()
    assert 0 < settled(lambda: flood.sent) < WHOLE // 4
    assert proxy.own_memory() - before <= 4 * MIB
    left = WHOLE - (len(caller.received) - caller.received.index(b"\r\n\r\n") - 4)
    while left:  # once it reads again, all of it comes
        left -= len(caller.socket.recv(MIB))


def test_a_request(martlet, recorder):
    done = threading.Event()
    upstream = recorder(script=lambda peer: (peer.head(), done.wait(30)))
    proxy = martlet(upstream=upstream.url)
    caller = proxy.connect(timeout=30)
    before = proxy.own_memory()
    caller.send(b"POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: %d\r\n\r\n" % WHOLE)
    caller.socket.setblocking(False)
    sent = 0

    def pushed():
        nonlocal sent
        try:
            while sent < WHOLE:
                sent += caller.socket.send(bytes(256 * 1024))
        except BlockingIOError:
            pass
        return sent

    assert 0 < settled(pushed) < WHOLE // 4
    assert proxy.own_memory() - before <= 4 * MIB
    done.set()
