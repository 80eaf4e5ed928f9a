"""At rest the daemon uses at most 9 MiB, and an idle connection 1 KiB. It starts fast and does not link Foundation."""

import socket
import subprocess
import time
from contextlib import ExitStack

import pytest

from support.http2 import h2_peer
from support.martlet import BINARY

pytestmark = pytest.mark.alone


def test_memory_at_rest(martlet, recorder):
    proxy = martlet(upstream=recorder().url, more="interceptors: [{metrics: {}}, {log: {}}]")
    assert proxy.rss() <= 9 << 20
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert proxy.rss() <= 9 << 20


def test_an_idle_connection(martlet):
    """Of HTTP/1.1, after a call: its buffers, queues and its session serve others. A few make the pools what they will be."""
    proxy = martlet("listen: 127.0.0.1:0\nworkers: 1\ninterceptors: [ { respond: { json: {} } } ]\n")
    count = 800  # both sides keep to 1024 descriptors

    def call(connection):
        connection.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")

    with ExitStack() as stack:

        def open_some(count):
            for _ in range(count):
                connection = stack.enter_context(socket.create_connection(proxy.address, timeout=10))
                call(connection)

        open_some(100)
        before = proxy.own_memory()
        open_some(count)
        assert proxy.own_memory() - before <= count << 10


def test_an_idle_connection_of_http_2(martlet, binary):
    """It is a page and what HPACK has learnt, with the nghttp2 whose tables begin small."""
    if "libnghttp2" in subprocess.check_output(["ldd", binary], text=True):
        pytest.skip("nghttp2 is the installed one")
    proxy = martlet("listen: 127.0.0.1:0\nworkers: 1\ninterceptors: [ { respond: { json: {} } } ]\n")

    def open_some(count):
        for _ in range(count):
            caller = proxy.connect_h2()
            assert caller.finish(caller.open(h2_peer.request(), end=True)).status == 200

    open_some(100)
    before = proxy.own_memory()
    open_some(400)
    assert proxy.own_memory() - before <= 400 * 8 << 10


def test_start(martlet):
    began = time.monotonic()
    martlet(upstream="http://127.0.0.1:80")
    assert time.monotonic() - began < 1.0  # generous: the machine may be busy


def test_no_foundation(binary):
    libraries = subprocess.check_output(["ldd", binary], text=True)
    assert "Foundation" not in libraries and "libswift" not in libraries
    assert b"$s10Foundation" not in BINARY.read_bytes()
    assert b"FoundationEssentials" not in BINARY.read_bytes()
