"""If the file of a body cannot be written, the body passes all the same; only a retry is not possible."""

import json
import os
import subprocess

import pytest

from support.large_body import MIB, digest

SIZE = 16 * MIB
# The disk is full behind the first piece, in the middle of one, and shortly before the end of what is kept.
ROOMS = [64 << 10, 3 * MIB + 4096, 7 * MIB]


@pytest.fixture
def small_disk(running, spool):
    """Mounts a file system of some bytes where spools go."""

    class Mount:
        def __init__(self, size):
            if os.geteuid() != 0:
                pytest.skip("only root can mount a file system")
            self.path = spool["to"]
            subprocess.check_call(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", self.path])

        def stop(self):
            subprocess.call(["umount", "-l", self.path])

    return lambda size: running(Mount(size))


def check_skipped(proxy, error):
    metrics = proxy.metrics()
    assert metrics.total("martlet_spool_errors_total", upstream="default") == 1
    assert metrics.total("martlet_spool_files") == metrics.total("martlet_spool_bytes") == 0
    assert not proxy.spool_files()
    proxy.stderr.wait(rf"cannot write a file in limits.spool.to.*{error}")


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("http2", [False, True])
def test_no_space_left(spooling, body_server, upload, small_disk, room, http2):
    small_disk(room)
    upstream = body_server(200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE, http2=http2).result() == (digest(SIZE), 200)
    check_skipped(proxy, "No space left on device")


@pytest.mark.parametrize("room", ROOMS)
def test_a_retry_is_skipped(spooling, body_server, upload, small_disk, room):
    small_disk(room)
    upstream = body_server(503)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE).result() == ("again", 503)
    assert len(upstream.requests) == 1
    metrics = proxy.metrics()
    assert metrics.total("martlet_retries_total", reason="rule", result="disk") == 1
    trace = json.loads(proxy.stdout.wait('"status":503').string).get("trace")
    assert "the file that keeps the request could not be written" in json.dumps(trace)
    check_skipped(proxy, "No space left on device")


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("stop", [1 * MIB, 3 * MIB, 8 * MIB])
def test_the_disk_fills_up_while_the_call_is_retried(spooling, body_server, upload, room, stop, small_disk):
    """Whatever can still be retried comes whole, and nothing comes twice or out of place."""
    small_disk(room)
    upstream = body_server((stop, 503), 200)
    proxy = spooling(upstream.url)
    body, status = upload(proxy.url + "/up", SIZE).result()
    assert (body, status) in [(digest(SIZE), 200), ("again", 503)]
    assert len(upstream.requests) == (2 if status == 200 else 1)
    assert not proxy.spool_files()


def test_files_may_not_be_so_large(spooling, body_server, upload):
    upstream = body_server(200)
    proxy = spooling(upstream.url, through=["prlimit", f"--fsize={3 * MIB}"])
    assert upload(proxy.url + "/up", SIZE).result() == (digest(SIZE), 200)
    check_skipped(proxy, "File too large")


def test_the_directory_is_gone(spooling, body_server, upload, spool):
    upstream = body_server(200)
    proxy = spooling(upstream.url)
    os.rmdir(spool["to"])
    assert upload(proxy.url + "/up", SIZE).result() == (digest(SIZE), 200)
    check_skipped(proxy, "No such file or directory")
