"""Standard output and standard error are often one pipe or socket, as in a container or a unit. No line begins within another."""

import socket

import httpx
import pytest

from support.martlet import CLEAR_TEXT
from support.wait import eventually

CONFIGURATION = """
    listen: unix:{socket}
    interceptors:
      - log: {{ to: {log} }}
      - respond: {{ body: ok }}
    """
CALLS = 1000
RELOADS = 20


@pytest.fixture
def ends():
    """A stream as systemd gives a service for both of its outputs: what reads, and what is written to."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    with reader, writer:
        yield reader, writer


def read(reader, count):
    """What waits in the stream, at most so many bytes."""
    try:
        return reader.recv(count)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("log", ["stdout", "/dev/stdout"])
def test_a_slow_reader(martlet, tmp_path, ends, log):
    reader, writer = ends
    listener = tmp_path / "socket"
    both = ["bash", "-c", f'exec "$@" >&{writer.fileno()} 2>&1', "bash"]
    options = {"through": both, "pass_fds": [writer.fileno()]}
    proxy = martlet(CONFIGURATION.format(socket=listener, log=log), wait=False, **options)
    eventually(listener.exists, what="a listener")

    # More than the pipe holds: one writer waits within a piece while the other has something to say.
    transport = httpx.HTTPTransport(uds=str(listener), **CLEAR_TEXT)
    with httpx.Client(base_url="http://localhost", transport=transport) as caller:
        for _ in range(CALLS):
            assert caller.get("/" + "x" * 200).status_code == 200
    proxy.write("listn: 1")
    written = bytearray()
    for _ in range(RELOADS):
        assert proxy.admin("/reload", "POST").status_code == 422
        written.extend(read(reader, 16_384))

    def is_whole():
        written.extend(read(reader, 65_536))
        return written.count(b" reload rejected ") == RELOADS and written.count(b'{"time":') == CALLS

    eventually(is_whole, what="every line")
    lines = written.decode().splitlines()
    assert sum(line.startswith('{"time":') and line.endswith("}") for line in lines) == CALLS
    assert sum("reload rejected" in line and "{" not in line for line in lines) == RELOADS
    # Errors do not wait behind the calls before them.
    assert lines[-1].startswith('{"time":')
