"""Compressed gRPC messages pass unchanged, in both directions and in every kind of call."""

import gzip
import struct

import grpc
import pytest

from support.http2 import h2_peer

TEXT = b"hello! " * 20000


@pytest.mark.parametrize("packing", [grpc.Compression.Gzip, grpc.Compression.Deflate], ids=["gzip", "deflate"])
def test_compression(martlet, grpc_service, grpc_channel, packing):
    def converse(requests, context):
        context.set_compression(packing)
        yield from requests

    channel = grpc_channel(martlet(upstream=grpc_service({"Converse": converse}).url))
    assert channel.unary(TEXT, compression=packing, timeout=10) == TEXT
    assert list(channel.converse(iter([TEXT, b"", TEXT]), compression=packing, timeout=10)) == [TEXT, b"", TEXT]


def test_the_flag_and_the_bytes(martlet, h2_recorder):
    packed = gzip.compress(TEXT)
    body = struct.pack(">BI", 1, len(packed)) + packed

    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc"), ("grpc-encoding", "gzip")))
        peer.data(stream.id, body)
        peer.headers(stream.id, [("grpc-status", "0")], end=True)

    upstream = h2_recorder(response)
    caller = martlet(upstream=upstream.url).connect_h2()
    encodings = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity,gzip")]
    call = caller.open(h2_peer.grpc_request("/a.B/C", *encodings))
    caller.data(call.id, body, end=True)
    caller.finish(call)
    seen = upstream.streams[0]
    assert (seen.header("grpc-encoding"), seen.header("grpc-accept-encoding")) == ("gzip", "identity,gzip")
    assert seen.body == body
    assert (call.header("grpc-encoding"), call.body, call.grpc()) == ("gzip", body, "0")
