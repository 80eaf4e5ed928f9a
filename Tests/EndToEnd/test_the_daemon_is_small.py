"""At rest it takes at most 9 MiB, it is soon there, and its binary has no Foundation in it."""

import subprocess
import time

from support.martlet import BINARY


def test_memory_at_rest(martlet, recorder):
    proxy = martlet(upstream=recorder().url, more="interceptors: [{metrics: {}}, {log: {}}]")
    assert proxy.rss() <= 9 << 20
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert proxy.rss() <= 9 << 20


def test_start(martlet):
    began = time.monotonic()
    martlet(upstream="http://127.0.0.1:80")
    assert time.monotonic() - began < 1.0  # generous: the machine may be busy


def test_no_foundation(binary):
    libraries = subprocess.check_output(["ldd", binary], text=True)
    assert "Foundation" not in libraries and "libswift" not in libraries
    assert b"$s10Foundation" not in BINARY.read_bytes()
    assert b"FoundationEssentials" not in BINARY.read_bytes()
