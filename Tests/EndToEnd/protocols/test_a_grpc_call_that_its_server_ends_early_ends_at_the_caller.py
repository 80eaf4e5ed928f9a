"""A server aborts a call, shuts down or dies in the middle of one. The caller gets the right code at once."""

import threading

import grpc
import pytest

from support.http2 import h2_peer


def test_abort_in_the_middle(martlet, grpc_service, grpc_channel):
    def converse(requests, context):
        yield next(requests)
        context.set_trailing_metadata([("x-why", "full")])
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more ☃")

    channel = grpc_channel(martlet(upstream=grpc_service({"Converse": converse}).url))
    hold = threading.Event()

    def requests():
        yield b"first"
        hold.wait(10)

    call = channel.converse(requests(), timeout=10)
    assert next(call) == b"first"
    with pytest.raises(grpc.RpcError):
        next(call)
    hold.set()
    assert (call.code(), call.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "no more ☃")
    assert ("x-why", "full") in call.trailing_metadata()
    assert channel.unary(b"still there", timeout=5) == b"still there"


def test_shut_down_in_the_middle(martlet, grpc_service, grpc_channel):
    over = threading.Event()

    def download(request, context):
        context.add_callback(over.set)
        yield b"first"
        over.wait(10)

    service = grpc_service({"Download": download})
    channel = grpc_channel(martlet(upstream=service.url))
    call = channel.download(b"", timeout=10)
    assert next(call) == b"first"
    service.stop()
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)  # the latter if it resets it first


@pytest.mark.parametrize("how", ["close", "abort"])
@pytest.mark.parametrize("responded", [False, True], ids=["before the response", "within the response"])
def test_kill_in_the_middle(martlet, h2_recorder, grpc_channel, how, responded):
    def script(peer):
        stream = upstream.next_stream(peer)
        peer.finish(stream)
        if responded:
            peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
            peer.data(stream.id, b"\x00\x00\x00\x00\x01a")
            caller_has_it.wait(10)
        getattr(peer, how)()

    caller_has_it = threading.Event()
    upstream = h2_recorder(script=script)
    call = grpc_channel(martlet(upstream=upstream.url)).download(b"", timeout=10)
    if responded:
        assert next(call) == b"a"
        caller_has_it.set()
    with pytest.raises(grpc.RpcError):
        next(call)
    assert call.code() is grpc.StatusCode.UNAVAILABLE


def test_no_server_runs(martlet, grpc_service, grpc_channel):
    service = grpc_service()
    proxy = martlet(upstream=service.url)
    service.stop()
    with pytest.raises(grpc.RpcError) as caught:
        grpc_channel(proxy).unary(b"", timeout=10)
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
