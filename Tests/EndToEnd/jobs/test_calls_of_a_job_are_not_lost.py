"""Martlet serves until its program has ended, and lets the calls under way end then."""

import signal
import time

import pytest

from jobs.programs import python
from support.eliza_callers import WAYS
from support.http1.recorder import OK
from support.wait import eventually

CALLERS = [*((protocol.name.lower(), http) for protocol, http in WAYS), ("http", 1), ("http", 2)]
REQUEST = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


@pytest.mark.parametrize("protocol, http", CALLERS)
def test_the_program_calls_until_its_end(job, eliza, protocol, http):
    proxy = job(*python("calling", protocol, http), upstream=eliza.h2c_url if http == 2 else eliza.url, environment=paths())
    proxy.stdout.wait("^calling$", within=20)
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code(within=20) == 9, proxy.stderr.text
    assert int(proxy.stdout.wait(r"^(\d+) calls, all good$")[1]) >= 8


def paths():
    """What the program of these tests needs to find its modules."""
    import sys

    return {"PYTHONPATH": ":".join(path for path in sys.path if path)}


@pytest.fixture
def waiting(recorder):
    """An upstream that sends nothing by itself."""
    return recorder(script=lambda peer: peer.rest())


def under_way(proxy, upstream):
    """A call that waits for its upstream: both ends."""
    caller = proxy.connect()
    caller.send(REQUEST)
    peer = upstream.wait_for_connections(1)
    eventually(lambda: peer.received, what="the request upstream")
    return caller, peer


def test_a_call_of_another_caller_ends(job, waiting):
    proxy = job("sleep", "60", upstream=waiting.url, more="drain: { max: 60s }")
    proxy.stderr.wait("program started")
    caller, peer = under_way(proxy, waiting)
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r" draining\b")
    assert proxy.stderr.matches("program ended program=sleep status=143$")
    peer.send(OK)
    assert caller.response().body == b"ok"
    assert proxy.exit_code() == 143


@pytest.mark.waits
def test_a_stream_ends_after_the_maximum(job, waiting, tmp_path):
    proxy = job("sh", "-c", f"until [ -e {tmp_path}/end ]; do sleep 0.01; done; exit 6", upstream=waiting.url, more="drain: { max: 1s }")
    caller, peer = under_way(proxy, waiting)
    peer.send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n")
    eventually(lambda: caller.socket.recv(65536), what="the beginning of the stream")
    began = time.monotonic()
    (tmp_path / "end").touch()
    # The code is the program's, though a call was cut off.
    assert proxy.exit_code() == 6
    assert 0.9 < time.monotonic() - began < 5
    assert proxy.stderr.matches("drain time limit exceeded")
