"""Bodies stream: 1 GiB in either direction grows the daemon by 4 MiB at most."""

import subprocess

import pytest

pytestmark = pytest.mark.alone

GIB = 1 << 30
LIMIT = 4 << 20


@pytest.fixture
def gibibyte(tmp_path):
    """A file of 1 GiB that uses no space on the disk."""
    path = tmp_path / "gibibyte"
    with path.open("wb") as file:
        file.truncate(GIB)
    return path


def curl(*arguments):
    command = ["curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code} %{size_download} %{size_upload}"]
    return subprocess.check_output([*command, *arguments], timeout=50, text=True)


def test_down(martlet, nginx, gibibyte):
    upstream = nginx()
    gibibyte.rename(upstream.directory / "gibibyte")
    proxy = martlet(upstream=upstream.url)
    proxy.reset_peak_memory()
    before = proxy.own_peak_memory()
    assert curl(proxy.url + "/gibibyte") == f"200 {GIB} 0"
    assert proxy.own_peak_memory() - before <= LIMIT


def test_up(martlet, recorder, gibibyte):
    def script(peer):
        peer.head()
        received = len(peer.received) - peer.received.index(b"\r\n\r\n") - 4
        buffer = bytearray(1 << 20)
        while received < GIB:
            received += peer.socket.recv_into(buffer)
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    proxy = martlet(upstream=recorder(script=script).url)
    proxy.reset_peak_memory()
    before = proxy.own_peak_memory()
    assert curl("-H", "Expect:", "-T", gibibyte, proxy.url + "/up") == f"200 0 {GIB}"
    assert proxy.own_peak_memory() - before <= LIMIT
