"""A thousand messages back and forth on one stream, and hundreds of streams at a time on one connection."""

import queue
import threading
from concurrent import futures

MESSAGES = 1000
STREAMS = 200


def test_ping_pong(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url))
    pings = queue.SimpleQueue()
    call = channel.converse(iter(pings.get, None), timeout=30)
    for number in range(MESSAGES):
        pings.put(b"%d" % number)
        assert next(call) == b"%d" % number
    pings.put(None)
    assert list(call) == []


def test_streams_at_a_time(martlet, grpc_service, grpc_channel):
    everyone = threading.Barrier(STREAMS)

    def converse(requests, context):
        yield next(requests)
        everyone.wait(20)  # proves that all of them are open at the same time
        yield from requests

    service = grpc_service({"Converse": converse}, threads=STREAMS)
    channel = grpc_channel(martlet(upstream=service.url))

    def one(number):
        return list(channel.converse(iter([b"%d" % number, b"more"]), timeout=30)) == [b"%d" % number, b"more"]

    with futures.ThreadPoolExecutor(STREAMS) as threads:
        assert all(threads.map(one, range(STREAMS)))


def test_unary_calls_at_a_time(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url))
    calls = [channel.unary.future(b"%d" % number, timeout=30) for number in range(5 * STREAMS)]
    assert [call.result() for call in calls] == [b"%d" % number for number in range(5 * STREAMS)]
