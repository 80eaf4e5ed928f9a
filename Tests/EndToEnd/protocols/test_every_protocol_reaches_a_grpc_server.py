"""A server that knows only gRPC is called in every protocol with messages, over HTTP/1.1 and HTTP/2."""

import json
import struct
import threading

import grpc
import pytest

from support.protocol import envelope
from support.raw_call import GRPC, WAYS, RawCall
from support.servers.grpc_service import path
from support.wait import eventually, settled

pytestmark = pytest.mark.alone

MIB = 1 << 20
# The server names no codec, which means Protobuf.
PROTO = [(caller, version) for caller, version in WAYS if "proto" in f"{caller.content_type}{caller.query}"]
HEAD = "POST {path} HTTP/1.1\r\nhost: a.example\r\ncontent-type: application/connect+proto\r\ncontent-length: {length}\r\n\r\n"


def translating(martlet, service, more=""):
    return martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{service.url}", speaks: grpc }} }}
        interceptors: [ metrics ]
        workers: 1
        {more}
        """
    )


@pytest.mark.parametrize("caller, version", PROTO, ids=lambda value: str(value))
def test_unary(martlet, grpc_service, caller, version):
    proxy = translating(martlet, grpc_service())
    assert RawCall(proxy, caller, version, path=path("Unary")).outcome() == "ok"
    translated = proxy.metrics().total("martlet_translated_total", to="grpc")
    assert translated == (0 if caller is GRPC else 1)


@pytest.mark.parametrize("caller, version", PROTO, ids=lambda value: str(value))
def test_errors(martlet, grpc_service, caller, version):
    def fail(request, context):
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "not today: 100%")

    proxy = translating(martlet, grpc_service({"Unary": fail}))
    assert RawCall(proxy, caller, version, path=path("Unary")).outcome() == "resource_exhausted"


def read_envelopes(connection, body):
    """The sizes of the messages of a chunked body, and the frame that ends it."""
    received, sizes = bytearray(), []
    while True:
        while len(received) >= 5 and len(received) >= 5 + (length := struct.unpack(">I", received[1:5])[0]):
            if received[0] & 2:
                return sizes, bytes(received[5 : 5 + length])
            sizes.append(length)
            del received[: 5 + length]
        received += next(body)


def chunks(connection):
    """The chunks of a body, as they come."""
    buffer = bytearray(connection.received)
    del buffer[: buffer.index(b"\r\n\r\n") + 4]
    while True:
        while b"\r\n" not in buffer:
            buffer += connection.socket.recv(MIB)
        end = buffer.index(b"\r\n")
        size = int(buffer[:end], 16)
        while len(buffer) < end + 2 + size + 2:
            buffer += connection.socket.recv(MIB)
        yield bytes(buffer[end + 2 : end + 2 + size])
        del buffer[: end + 2 + size + 2]


def test_a_hundred_mebibytes_pass_in_little_memory(martlet, grpc_service):
    sent = []

    def download(request, context):
        for _ in range(100):
            sent.append(1)
            yield bytes(MIB)

    proxy = translating(martlet, grpc_service({"Download": download}))
    before = proxy.own_memory()
    caller = proxy.connect(timeout=30)
    body = envelope(0, b"")
    caller.send(HEAD.format(path=path("Download"), length=len(body)).encode() + body)
    caller.head()
    assert settled(lambda: len(sent)) < 50  # who does not read holds the server back
    assert proxy.own_memory() - before <= 4 * MIB
    sizes, end = read_envelopes(caller, chunks(caller))
    assert (sizes, end) == ([MIB] * 100, b"{}")
    assert proxy.own_memory() - before <= 4 * MIB


def test_who_goes_cancels_the_call_at_the_server(martlet, grpc_service):
    over = threading.Event()

    def download(request, context):
        context.add_callback(over.set)
        yield b"first"
        over.wait(10)

    proxy = translating(martlet, grpc_service({"Download": download}))
    caller = proxy.connect()
    body = envelope(0, b"")
    caller.send(HEAD.format(path=path("Download"), length=len(body)).encode() + body)
    while envelope(0, b"first") not in caller.received:  # while the server goes on to wait
        assert caller.receive()
    caller.reset()
    assert over.wait(1)
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0, what="the end of the call")


def test_the_access_log_says_what_is_translated(martlet, grpc_service, tmp_path):
    log = tmp_path / "access.log"
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{grpc_service().url}", speaks: grpc }} }}
        interceptors: [ log: {{ to: {log} }} ]
        """
    )
    ways = [way for way in PROTO if way[1] == 2]
    for caller, version in ways:
        assert RawCall(proxy, caller, version, path=path("Unary")).outcome() == "ok"
    lines = eventually(lambda: (found := log.read_text().splitlines())[len(ways) - 1 :] and found, what="the lines")
    for line in map(json.loads, lines):
        translated = None if line["protocol"] == "grpc" else f"{line['protocol']}/proto → grpc/proto"
        assert line.get("translated") == translated


def test_explain_says_what_is_translated(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text('listen: 127.0.0.1:1\nupstreams: { default: { url: "h2c://127.0.0.1:2", speaks: grpc } }\n')
    explained = command("explain", "-c", file, "GET", f"{path('Unary')}?connect=v1&encoding=proto&message=").stdout.text
    assert "\n  translated connect_get/proto → grpc/proto\n  POST /martlet.test.Bytes/Unary\n" in explained
    assert "\n  content-type: application/grpc+proto\n" in explained
