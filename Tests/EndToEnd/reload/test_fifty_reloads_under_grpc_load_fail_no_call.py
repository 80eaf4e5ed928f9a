"""Reloads during gRPC calls and streams: each call succeeds, and each stream continues."""

import queue
import threading

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - headers: {{ request: {{ set: {{ x-generation: "{number}" }} }} }}
"""


def test_fifty_reloads(martlet, grpc_service, grpc_channel):
    service = grpc_service()
    proxy = martlet(CONFIGURATION.format(url=service.url, number=0))
    channel = grpc_channel(proxy)
    requests = queue.SimpleQueue()
    stream = channel.converse(iter(requests.get, None), timeout=50)
    stopping, failures, calls = threading.Event(), [], []

    def load():
        while not stopping.is_set():
            try:
                calls.append(channel.unary(b"ping", timeout=10) == b"ping")
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=load, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    number = 0
    # More of them if there are few calls.
    while number < 50 or len(calls) <= 50:
        proxy.reload(CONFIGURATION.format(url=service.url, number=number))
        requests.put(b"%d" % number)
        assert next(stream) == b"%d" % number
        number += 1
    stopping.set()
    for thread in threads:
        thread.join(15)
    requests.put(None)
    assert list(stream) == []
    assert failures == []
    assert all(calls)
