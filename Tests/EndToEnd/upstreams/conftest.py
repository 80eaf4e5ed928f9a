"""Fixtures of the tests of upstreams."""

import socket
from contextlib import ExitStack

import pytest


@pytest.fixture
def black_hole():
    """The port of a listening socket whose queue is full, so that the kernel accepts no further connection."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            filler = stack.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
