"""When the caller cancels a gRPC call, the server sees it within a moment, and other calls continue."""

import threading
import time

import grpc
import pytest

from support.wait import eventually

pytestmark = pytest.mark.alone


class Watched:
    """A server whose streams last until they are cancelled."""

    def __init__(self):
        self.begun = threading.Event()
        self.cancelled = []

    def _watch(self, context):
        over = threading.Event()
        context.add_callback(over.set)
        self.begun.set()
        assert over.wait(10)
        self.cancelled.append(time.monotonic())

    def download(self, request, context):
        yield b"first"
        self._watch(context)

    def upload(self, requests, context):
        next(requests)
        self._watch(context)
        return b""

    def converse(self, requests, context):
        yield next(requests)
        self._watch(context)

    def functions(self):
        return {"Download": self.download, "Upload": self.upload, "Converse": self.converse}


@pytest.mark.parametrize("kind", ["Download", "Upload", "Converse"])
def test_within_a_stream(martlet, grpc_service, grpc_channel, kind):
    watched = Watched()
    channel = grpc_channel(martlet(upstream=grpc_service(watched.functions()).url))
    hold = threading.Event()

    def requests():
        yield b"first"
        hold.wait(10)

    begin = {
        "Download": lambda: channel.download(b"", timeout=20),
        "Upload": lambda: channel.upload.future(requests(), timeout=20),
        "Converse": lambda: channel.converse(requests(), timeout=20),
    }
    call = begin[kind]()
    if kind != "Upload":
        assert next(call) == b"first"
    assert watched.begun.wait(5)
    began = time.monotonic()
    call.cancel()
    eventually(lambda: watched.cancelled, within=2, what="the end at the server")
    assert watched.cancelled[0] - began < 0.5
    hold.set()
    assert call.code() is grpc.StatusCode.CANCELLED
    assert channel.unary(b"still there", timeout=5) == b"still there"


def test_when_the_caller_disconnects(martlet, grpc_service, grpc_channel):
    watched = Watched()
    proxy = martlet(upstream=grpc_service(watched.functions()).url)
    going, staying = grpc_channel(proxy), grpc_channel(proxy)
    call = going.download(b"", timeout=20)
    assert next(call) == b"first"
    assert watched.begun.wait(5)
    going.stop()
    eventually(lambda: watched.cancelled, within=2, what="the end at the server")
    assert staying.unary(b"still there", timeout=5) == b"still there"
