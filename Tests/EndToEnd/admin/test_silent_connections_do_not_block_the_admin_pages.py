"""Many connections to the admin socket that send nothing, or half of a request, block neither operators nor probes."""

import socket

import pytest

from support.martlet import Command

CONFIGURATION = "listen: 127.0.0.1:0\ninterceptors: [ { respond: { body: ok } } ]\n"
MORE_THAN_THE_LIMIT = 100


@pytest.mark.parametrize("said", [b"", b"GET /healthz HTTP/1.1\r\nhost: "], ids=["silent", "half a head"])
def test_silent_connections_make_room(martlet, said):
    proxy = martlet(CONFIGURATION)
    silent = []
    for _ in range(MORE_THAN_THE_LIMIT):
        caller = socket.socket(socket.AF_UNIX)
        caller.connect(str(proxy.admin_socket))
        caller.send(said)
        silent.append(caller)
    for command in ["healthcheck", "status", "reload"]:
        ended = Command(command, "--admin", f"unix:{proxy.admin_socket}")
        assert ended.exit_code() == 0, ended.stderr.text
    # The newest connections are still open.
    silent[-1].setblocking(False)
    with pytest.raises(BlockingIOError):
        silent[-1].recv(1)
    for caller in silent:
        caller.close()
