"""What a burst of calls needed is kept for the next one, and goes back to the system after a minute of rest."""

from contextlib import ExitStack

import pytest

from support.http2 import h2_peer
from support.wait import eventually

# Martlet looks every 30 s, and gives back what nobody has needed since it last looked.
pytestmark = [pytest.mark.waits, pytest.mark.timeout(150)]

MIB = 1 << 20
CALLERS, CALLS = 100, 100
CONFIGURATION = """
listen: 127.0.0.1:0
interceptors: [ metrics, { fault: { delay: 1m } }, { respond: { json: {} } } ]
workers: 1
"""


def test_memory_goes_back_to_the_system_after_a_load(martlet):
    proxy = martlet(CONFIGURATION)
    before = proxy.own_memory()
    with ExitStack() as stack:
        for _ in range(CALLERS):
            caller = proxy.connect_h2()
            stack.callback(caller.socket.close)
            for _ in range(CALLS):
                caller.open(h2_peer.request(), end=True)
        eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == CALLERS * CALLS, within=30, what="all calls")
        most = proxy.own_memory() - before
        assert most > 32 * MIB
    eventually(lambda: proxy.metrics().total("martlet_connections") == 0, what="the end of all connections")
    assert proxy.own_memory() - before > most * 3 // 4
    eventually(lambda: proxy.own_memory() - before < most // 16, within=90, what="the memory given back")
