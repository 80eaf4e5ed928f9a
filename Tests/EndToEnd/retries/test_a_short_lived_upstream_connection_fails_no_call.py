"""A server closes its connections gracefully after a moment. No call fails because of that."""

import threading
import time

import pytest

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok

SECONDS = 3
CALLERS = 4


@pytest.mark.parametrize("kind", ["unary", "converse"])
def test_the_published_server(martlet, grpc_service, grpc_channel, kind):
    ages = [("grpc.max_connection_age_ms", 200), ("grpc.max_connection_age_grace_ms", 5000)]
    proxy = martlet(upstream=grpc_service(options=ages).url)
    channel = grpc_channel(proxy)
    done, failures = [], []

    def one(number):
        if kind == "unary":
            return channel.unary(b"%d" % number, timeout=5) == b"%d" % number
        return list(channel.converse(iter([b"1", b"2", b"3"]), timeout=5)) == [b"1", b"2", b"3"]

    def call_on_and_on():
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                done.append(one(len(done)))
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=call_on_and_on) for _ in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(done) > 50 and all(done)


@pytest.mark.parametrize("at_a_time", [1, 2])
def test_each_connection_serves_one_call(martlet, h2_recorder, at_a_time):
    """The harshest form: the connection ends with its first call, whatever else was sent on it."""

    def script(peer):
        stream = upstream.next_stream(peer)
        peer.go_away(stream.id)
        response_ok(peer, stream)
        peer.wait_for_end()

    upstream = h2_recorder(script=script)
    caller = martlet(upstream=upstream.url, more="workers: 1").connect_h2()
    paths = [f"/{number}" for number in range(10)]
    for number in range(0, len(paths), at_a_time):
        calls = [caller.open(h2_peer.request(path, "POST"), end=True) for path in paths[number : number + at_a_time]]
        assert [caller.finish(call).status for call in calls] == [200] * at_a_time
    assert sorted(stream.path for stream in upstream.streams) == paths
