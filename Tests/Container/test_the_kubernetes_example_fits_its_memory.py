"""The memory limit of the Kubernetes example holds as many connections as its configuration allows, each with a head in the making."""

import re
import socket
from contextlib import ExitStack, suppress

from pod import DEPLOYMENT
from support.wait import eventually

CONNECTIONS = DEPLOYMENT.settings["workers"] * DEPLOYMENT.settings["listeners"][0]["limits"]["connections"]
# A little less than limits.head allows.
HEAD = b"POST /shop.v1.OrderService/Get HTTP/1.1\r\nhost: a\r\n" + b"".join(b"x-%02d: %s\r\n" % (n, b"a" * 1000) for n in range(63))


def connections(container):
    """How many connections the container's Martlet counts."""
    page = container.curl("http://127.0.0.1:9902/metrics")
    return sum(int(match) for match in re.findall(r"^martlet_connections\{.*\} (\d+)$", page, re.MULTILINE))


def test_all_connections_with_unfinished_heads(container, shared):
    # The clock of a head does not end them meanwhile.
    text = DEPLOYMENT.configuration().replace("limits:", "timeouts: { head: 10m }\n    limits:")
    ours = container(configuration=text, read_only=True, memory=DEPLOYMENT.memory).wait()
    with ExitStack() as stack:

        def connect():
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.settimeout(10)
            with suppress(BrokenPipeError, ConnectionResetError):
                one.connect(str(shared / "rpc.sock"))
                one.sendall(HEAD)

        def full():
            """Tries more than there may be: the kernel may choose a worker that is full already."""
            for _ in range(CONNECTIONS // 4):
                connect()
            return connections(ours) == CONNECTIONS

        eventually(full, within=30, what="as many connections as are allowed")
        assert ours.healthcheck() == 0
        used = ours.memory()
        print(f"{CONNECTIONS} connections: {used >> 20} MiB of {DEPLOYMENT.memory >> 20} MiB")
        assert used < DEPLOYMENT.memory * 0.9
    eventually(lambda: connections(ours) == 0, what="the end of the connections")
    assert ours.healthcheck() == 0
