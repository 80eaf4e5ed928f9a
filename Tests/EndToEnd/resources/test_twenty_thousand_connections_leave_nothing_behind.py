"""Thousands of connections are opened and dropped, with and without data. All are counted, and none is left."""

import pytest

from support.health import Health
from support.http1.peer import connect
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.alone

CONNECTIONS = 20_000
BATCH = 250
# As many of each: silent ones, calls that nobody waits for, and partial heads.
WORDS = [b"", b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n", b"GET / HT", h2_peer.PREFACE, h2_peer.PREFACE[:7]]


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_connections(martlet, recorder, tmp_path, kind):
    """Over TCP they end by a reset, so that they leave no port of this machine behind; over a Unix socket in order."""
    address = "127.0.0.1:0" if kind == "tcp" else f"unix:{tmp_path}/in.sock"
    proxy = martlet(
        f"""
        listen: "{address}"
        upstreams: {{ default: {{ url: "{recorder(OK).url}", timeouts: {{ idle: 200ms }} }} }}
        interceptors: [ metrics ]
        """
    )

    def connect_and_drop(count):
        for begin in range(0, count, BATCH):
            peers = [connect(proxy.address) for _ in range(BATCH)]
            for number, peer in enumerate(peers):
                peer.send(WORDS[number % len(WORDS)])
            for peer in peers:
                peer.reset() if kind == "tcp" else peer.close()
            eventually(lambda: accepted() >= before + begin + BATCH, what="the last batch")

    def accepted():
        return proxy.metrics().total("martlet_connections_accepted_total")

    before = 0
    connect_and_drop(8 * BATCH)  # so that memory is what it is with so many at a time
    health = Health(proxy)
    before = accepted()
    connect_and_drop(CONNECTIONS // 2)
    assert accepted() == before + CONNECTIONS // 2
    health.check()
    assert proxy.metrics().total("martlet_rpc_in_flight") == 0
    with proxy.http() as http:
        assert http.get("/").status_code == 200
