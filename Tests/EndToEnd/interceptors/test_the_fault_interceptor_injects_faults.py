"""Delays, errors, resets and truncated responses, as published clients see them."""

import time

import grpc
import httpx
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.http1.recorder import JSON
from support.servers.eliza import Client


def faulty(options):
    return f"interceptors: [ {{ fault: {{ {options} }} }} ]\n"


def failure(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details()


def test_a_delay_runs_into_the_deadline(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=faulty("delay: 2s")))
    assert failure(lambda: channel.unary(b"1", timeout=0.2))[0] is grpc.StatusCode.DEADLINE_EXCEEDED


def test_a_delay_alone(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=faulty("delay: { time: 300ms, on: response }")))
    start = time.monotonic()
    assert channel.unary(b"1", timeout=5) == b"1"
    assert time.monotonic() - start >= 0.3


def test_an_error(martlet, grpc_service, grpc_channel):
    more = faulty("code: resource_exhausted, message: enough")
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=more))
    assert failure(lambda: channel.unary(b"1", timeout=5)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")
    assert failure(lambda: list(channel.download(b"3", timeout=5))) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")


def test_a_reset(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=faulty("reset: true")))
    assert failure(lambda: channel.unary(b"1", timeout=5))[0] is grpc.StatusCode.INTERNAL


def test_a_reset_of_plain_http(martlet, recorder):
    upstream = recorder(response=JSON)
    with martlet(upstream=upstream.url, more=faulty("reset: true")).http() as http:
        with pytest.raises(httpx.RemoteProtocolError):
            http.get("/")


@pytest.mark.parametrize("ends", ["", ", reset: true"], ids=["error", "reset"])
def test_a_stream_that_is_cut_off(martlet, grpc_service, grpc_channel, ends):
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=faulty("cut_after: 2" + ends)))
    seen = []

    def read():
        for message in channel.download(b"5", timeout=5):
            seen.append(message)

    code, _ = failure(read)
    assert code is (grpc.StatusCode.INTERNAL if ends else grpc.StatusCode.UNAVAILABLE)
    assert seen in ([b"0", b"1"],) or ends and seen == [b"0", b"1"][: len(seen)]
    assert list(channel.download(b"1", timeout=5)) == [b"0"]


@pytest.mark.parametrize("http", [1, 2])
@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB], ids=["connect", "grpc_web"])
def test_a_stream_of_connect_that_is_cut_off(martlet, eliza, protocol, http):
    client = Client(martlet(upstream=eliza.url, more=faulty("cut_after: 1")).url, "json", http, protocol=protocol)
    responses = client.converse(["one", "two"])
    assert next(responses) == "Eliza heard one"
    with pytest.raises(ConnectError) as caught:
        next(responses)
    assert (caught.value.code, caught.value.message) == (Code.UNAVAILABLE, "a fault on purpose")
    with pytest.raises(ConnectError) as caught:
        client.say("hello")
    assert caught.value.code is Code.UNAVAILABLE


def test_a_slow_stream(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=faulty("throttle: 10KiB")))
    start = time.monotonic()
    echoed = list(channel.converse(iter([b"x" * 1024] * 3), timeout=20))
    # The requests arrive one after the other, and so do the responses.
    assert time.monotonic() - start >= 0.35
    assert echoed == [b"x" * 1024] * 3


def test_a_caller_requests_a_fault(martlet, grpc_service, grpc_channel):
    seen = {}

    def unary(request, context):
        seen.update(context.invocation_metadata())
        return request

    more = faulty("from_header: true")
    channel = grpc_channel(martlet(upstream=grpc_service({"Unary": unary}).url, more=more))

    def call(field):
        return channel.unary(b"1", metadata=[("x-martlet-fault", field)], timeout=5)

    assert failure(lambda: call("code=aborted; message=as you wish")) == (grpc.StatusCode.ABORTED, "as you wish")
    assert failure(lambda: call("cut_after=0"))[0] is grpc.StatusCode.UNAVAILABLE
    assert failure(lambda: call("code=wrong"))[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert call("code=aborted; percentage=0") == b"1"
    assert "x-martlet-fault" not in seen


def test_about_half(martlet, recorder):
    upstream = recorder(response=JSON)
    with martlet(upstream=upstream.url, more=faulty("code: unavailable, percentage: 50")).http() as http:
        failed = sum(http.get("/").status_code == 503 for _ in range(200))
    assert 50 < failed < 150
