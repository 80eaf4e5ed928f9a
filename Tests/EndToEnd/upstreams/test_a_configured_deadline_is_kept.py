"""Calls without a deadline get the configured one, and longer ones are shortened. When it passes, both sides see the end."""

import time

import grpc
import pytest

from support.http1.recorder import JSON
from support.http2 import h2_peer
from support.protocol import CONNECT_UNARY_JSON
from support.servers.grpc_service import SERVICE
from support.wait import eventually

pytestmark = pytest.mark.waits

CHAIN = "interceptors: [ {{ deadline: {{ {} }} }} ]"


def remaining(into):
    def unary(request, context):
        into.append(context.time_remaining())
        return request

    return {"Unary": unary}


@pytest.mark.parametrize(
    "options, timeout, expected",
    [
        ("default: 7s", None, 7),
        ("max: 7s", None, 7),
        ("default: 3s, max: 7s", None, 3),
        ("default: 3s, max: 7s", 100, 7),
        ("default: 3s, max: 7s", 5, 5),
        (f"max: 7s, methods: {{ {SERVICE}/Unary: {{ max: 20s }} }}", 100, 20),
        (f"max: 7s, methods: {{ {SERVICE}/*: {{ default: 4s }} }}", None, 4),
    ],
)
def test_the_published_server_sees_it(martlet, grpc_service, grpc_channel, options, timeout, expected):
    left = []
    upstream = grpc_service(remaining(left))
    channel = grpc_channel(martlet(upstream=upstream.url, more=CHAIN.format(options)))
    channel.unary(b"", timeout=timeout)
    assert expected - 0.5 <= left[0] <= expected * 1.02


def test_both_sides_see_the_end(martlet, grpc_service, grpc_channel):
    ended = []

    def download(request, context):
        context.add_callback(lambda: ended.append(time.monotonic()))
        yield b"first"
        eventually(lambda: ended, within=10)

    proxy = martlet(upstream=grpc_service({"Download": download}).url, more=CHAIN.format("default: 400ms"))
    began = time.monotonic()
    call = grpc_channel(proxy).download(b"")
    assert next(call) == b"first"
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    eventually(lambda: ended, within=2, what="the end of the call at the server")
    assert 0.35 <= ended[0] - began < 1.2


def test_connect_and_plain_callers(martlet, recorder):
    upstream = recorder(response=JSON)
    with martlet(upstream=upstream.url, more=CHAIN.format("default: 7s")).http() as http:
        assert CONNECT_UNARY_JSON.call(http).status_code == 200
        assert http.get("/plain").status_code == 200
    rpc, plain = upstream.requests
    assert 6500 <= int(rpc.header("connect-timeout-ms")) <= 7000
    assert not any("timeout" in name for name, _ in plain.headers)


def test_a_silent_upstream_is_cut_off(martlet, h2_recorder, grpc_channel):
    upstream = h2_recorder(lambda peer, stream: peer.wait(lambda: stream.reset is not None))
    channel = grpc_channel(martlet(upstream=upstream.url, more=CHAIN.format("max: 200ms")))
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary(b"", timeout=60)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert caught.value.details().startswith("request exceeded allowed timeout: ")
    eventually(lambda: upstream.streams[0].reset == h2_peer.CANCEL, what="the reset upstream")


def test_a_plain_call_ends(martlet, h2_recorder):
    upstream = h2_recorder(lambda peer, stream: peer.wait(lambda: stream.reset is not None))
    with martlet(upstream=upstream.url, more=CHAIN.format("max: 200ms")).http() as http:
        assert http.get("/plain").status_code == 504
    eventually(lambda: upstream.streams[0].reset == h2_peer.CANCEL, what="the reset upstream")
