"""A caller that cancels many calls moves new calls to another upstream connection. Calls of other callers end well."""

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok


def cancel_many(caller, upstream, count, path):
    for number in range(count):
        call = caller.open(h2_peer.request(path, "POST"))
        upstream.wait_for_streams(2 + number)
        if path == "/canceled-in-response":
            caller.wait(lambda: call.heads, "a response head")  # noqa: B023
        caller.reset(call.id)
    # The response shows that Martlet has read the resets before it.
    assert caller.finish(caller.open(h2_peer.request("/last"), end=True)).status == 200


# The budget refills meanwhile, so the number of connections depends on the speed of the machine.
@pytest.mark.parametrize(
    "path, count, connections",
    [
        ("/canceled", 1, 1),
        ("/canceled", 12, 1),
        ("/canceled", 300, None),
        ("/canceled-in-response", 20, 1),
        ("/canceled-in-response", 90, 1),
        ("/canceled-in-response", 300, None),
    ],
)
def test_cancels(martlet, h2_recorder, path, count, connections):
    def script(peer):
        while stream := upstream.next_stream(peer):
            if stream.path == "/long":
                long.append((peer, stream))
            elif stream.path == "/canceled-in-response":
                peer.headers(stream.id, h2_peer.response())
            elif stream.path != "/canceled":
                response_ok(peer, stream)

    long = []
    upstream = h2_recorder(script=script)
    daemon = martlet(upstream=upstream.url, more="workers: 1\n")
    one, two = daemon.connect_h2(), daemon.connect_h2()
    waits = one.open(h2_peer.request("/long"), end=True)
    upstream.wait_for_streams(1)
    cancel_many(two, upstream, count, path)
    assert two.finish(two.open(h2_peer.request("/new"), end=True)).status == 200
    found = len(upstream.connections)
    assert found == connections or connections is None and found > 1
    assert not waits.is_over
    peer, stream = long[0]
    response_ok(peer, stream)
    assert one.finish(waits).body == b"ok"
    assert daemon.metrics().total("martlet_upstream_connections_retired_total", upstream="default") == found - 1
