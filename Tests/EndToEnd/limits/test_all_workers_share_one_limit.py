"""`limit` admits what its rate, its number of calls and its sizes allow, on whichever worker, and across reloads."""

import subprocess
import threading

import grpc
import pytest

from support.http1.recorder import OK
from support.wait import eventually

pytestmark = pytest.mark.alone

RESPONSE = "{ respond: { status: 204 } }"


def configuration(limit, *more, workers=4, upstream="http://127.0.0.1:9"):
    items = "".join(f"  - {item}\n" for item in (f"limit: {{ {limit} }}", *more))
    return f"listen: 127.0.0.1:0\nupstream: {upstream}\nworkers: {workers}\ninterceptors:\n{items}"


def statuses(proxy, calls, **headers):
    """The statuses of calls on connections of their own, which the kernel hands to any of the workers."""
    found = []
    for _ in range(calls):
        caller = proxy.connect()
        fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        caller.send(f"GET /x HTTP/1.1\r\nhost: a\r\n{fields}\r\n".encode())
        found.append(caller.response().status)
        caller.close()
    return found


def test_a_rate(martlet):
    text = configuration("rate: 7/h, burst: 7", RESPONSE)
    proxy = martlet(text)
    first = statuses(proxy, 40)
    assert (first.count(204), first.count(429)) == (7, 33)
    assert proxy.metrics().total("martlet_interceptor_verdicts_total", interceptor="limit", verdict="reject") == 33
    proxy.reload(text.replace("204", "205"))
    assert statuses(proxy, 10) == [429] * 10


def test_keys(martlet):
    proxy = martlet(configuration('rate: 1/h, key: "{header:x-tenant}", keys: 3', RESPONSE))
    assert sorted(statuses(proxy, 5, x_tenant="a")) == [204] + [429] * 4
    assert sorted(statuses(proxy, 5, x_tenant="b")) == [204] + [429] * 4
    for number in range(20):
        statuses(proxy, 1, x_tenant=f"made-up-{number}")
    assert proxy.metrics().total("martlet_limit_hits_total", limit="keys") == 19
    assert statuses(proxy, 1, x_tenant="a") == [429]


def test_curl_learns_when_to_retry(martlet):
    proxy = martlet(configuration("rate: 1/m", RESPONSE))
    command = ["curl", "--silent", "--show-error", "--noproxy", "*", "--max-time", "5", "--include", proxy.url]
    assert b" 204 " in subprocess.run(command, check=True, capture_output=True).stdout.split(b"\r\n")[0]
    rejected = subprocess.run(command, check=True, capture_output=True).stdout
    assert b" 429 " in rejected.split(b"\r\n")[0]
    (value,) = [line.split(b": ")[1] for line in rejected.split(b"\r\n") if line.startswith(b"retry-after: ")]
    assert 50 <= int(value) <= 60


def test_grpc_callers_learn_it_from_trailers(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(configuration("rate: 1/m", upstream=grpc_service().url)))
    assert channel.unary(b"1", timeout=5) == b"1"
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary(b"2", timeout=5)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert 50 <= int(dict(caught.value.trailing_metadata())["retry-after"]) <= 60


def test_calls_at_a_time(martlet, recorder):
    resume = threading.Event()

    def script(peer):
        while peer.request():
            resume.wait(30)
            peer.send(OK)

    upstream = recorder(script=script)
    proxy = martlet(configuration("concurrency: 3", "{ metrics: {} }", upstream=upstream.url))
    callers = [proxy.connect() for _ in range(3)]
    for caller in callers:
        caller.send(b"GET /x HTTP/1.1\r\nhost: a\r\n\r\n")
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 3, what="three calls under way")
    assert statuses(proxy, 8) == [429] * 8
    callers[0].reset()
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 2, what="the end of one call")
    resume.set()
    assert statuses(proxy, 8) == [200] * 8
    assert [caller.response().status for caller in callers[1:]] == [200, 200]
    for caller in callers[1:]:
        caller.close()
    proxy.wait_for_rest()


def test_headers(martlet):
    proxy = martlet(configuration("header: 100", RESPONSE))
    assert statuses(proxy, 1, x_a="a" * 97) == [204]
    assert statuses(proxy, 1, x_a="a" * 98) == [431]


def test_messages(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(configuration("message: 100", upstream=grpc_service().url)))
    assert channel.unary(b"x" * 100, timeout=5) == b"x" * 100
    for compression in (grpc.Compression.NoCompression, grpc.Compression.Gzip):
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary(b"x" * 101, timeout=5, compression=compression)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "100 bytes" in caught.value.details()
    assert list(channel.converse(iter([b"y" * 100] * 3), timeout=5)) == [b"y" * 100] * 3
