"""Ports that a test can name before anybody listens there."""

import itertools
import os
import random
import socket

# Below those that the kernel chooses by itself. Each process that runs tests has some of its own.
_FIRST, _COUNT, _PROCESSES = 24000, 1400, 6
_process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _PROCESSES
_begin = random.randrange(_COUNT)
_ports = itertools.cycle(_FIRST + _process * _COUNT + (_begin + number) % _COUNT for number in range(_COUNT))


def free_port(hosts=("127.0.0.1",)):
    """A port that is free on all of these addresses, and that no other test gets."""
    for port in itertools.islice(_ports, _COUNT):
        try:
            for host in hosts:
                socket.create_server((host, port)).close()
            return port
        except OSError:
            continue
    raise AssertionError("no port is free")
