"""An envelope with flags that its protocol does not know, or a length that is wrong, leaves nothing in the cache and gets nothing from it."""

import base64
import gzip

import pytest
from cache.origin import response
from support.http2 import h2_peer
from support.protocol import GRPC_WEB, GRPC_WEB_TEXT, HELLO_PROTO, SAY, envelope
from support.raw_call import GRPC

ELIZA = {"methods": ["connectrpc.eliza.v1.ElizaService/*"], "ttl": "30s"}
MESSAGE = envelope(0, HELLO_PROTO)
PACKED = gzip.compress(HELLO_PROTO)
OK = envelope(0x80, b"grpc-status: 0\r\n")
GZIP = ("grpc-encoding", "gzip")

# What an upstream sends between its head and its trailers; and what its head names.
WRONG = {
    "an unknown flag": (envelope(2, HELLO_PROTO), ()),
    "the flag of Connect's end": (envelope(2, b"{}"), ()),
    "another unknown flag": (envelope(0x40, HELLO_PROTO), ()),
    "all flags": (envelope(0xFF, HELLO_PROTO), ()),
    "a compression without a name": (envelope(1, PACKED), ()),
    "a compression that is none": (envelope(1, PACKED), (("grpc-encoding", "identity"),)),
    "a compression that nobody knows": (envelope(1, PACKED), (("grpc-encoding", "lzma"),)),
    "an unknown flag with a compression": (envelope(3, PACKED), (GZIP,)),
    "a length beyond the end": (b"\0\0\0\0\x30" + HELLO_PROTO, ()),
    "a head without its message": (b"\0\0\0\0\x08", ()),
    "a part of a head": (b"\0\0\0", ()),
    "no message": (b"", ()),
    "a message and a part of another": (MESSAGE + b"\0\0", ()),
    "a message and an unknown flag": (MESSAGE + envelope(4, b""), ()),
    "two messages": (MESSAGE * 2, ()),
}
RIGHT = {
    "a message": (MESSAGE, ()),
    "an empty message": (envelope(0, b""), ()),
    "a compressed message": (envelope(1, PACKED), (GZIP,)),
    "a message without a compression": (MESSAGE, (GZIP,)),
}


def web(caller, body, *fields):
    """A response of gRPC-Web with this body."""
    text = base64.b64encode(body) if caller is GRPC_WEB_TEXT else body
    return response(text, f"content-type: {caller.content_type}", *(f"{name}: {value}" for name, value in fields))


def called_web(cached, recorder, caller, body, fields, count=2):
    """Makes calls of gRPC-Web; returns how many of them came to the upstream, and the responses."""
    upstream = recorder(web(caller, body, *fields))
    with cached(upstream, rpc=ELIZA).http() as http:
        responses = [caller.call(http) for _ in range(count)]
    return len(upstream.requests), responses


def called_grpc(cached, h2_recorder, body, fields, trailers=(("grpc-status", "0"),), request=GRPC.body, count=2):
    """Makes calls of gRPC; returns how many of them came to the upstream, and the calls."""

    def respond(peer, stream):
        peer.finish(stream)
        if stream.reset is None:
            peer.headers(stream.id, h2_peer.response(200, ("content-type", GRPC.content_type), *fields))
            peer.data(stream.id, body)
            peer.headers(stream.id, trailers, end=True)

    upstream = h2_recorder(respond)
    proxy = cached(upstream, rpc=ELIZA)
    return len(upstream.streams), [called(proxy, request) for _ in range(count)], upstream


def called(proxy, request, *fields):
    caller = proxy.connect_h2()
    call = caller.open(h2_peer.grpc_request(SAY, *fields))
    caller.data(call.id, request, end=True)
    caller.wait(lambda: call.is_over, "the end")
    return call


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("caller", [GRPC_WEB, GRPC_WEB_TEXT], ids=str)
def test_a_grpc_web_response(cached, recorder, caller, name):
    body, fields = WRONG[name]
    assert called_web(cached, recorder, caller, body + OK, fields)[0] == 2


ENDS = {
    "an end with an unknown flag": envelope(0x82, b"grpc-status: 0\r\n"),
    "an end with another unknown flag": envelope(0xC0, b"grpc-status: 0\r\n"),
    "an end that is compressed without a name": envelope(0x81, gzip.compress(b"grpc-status: 0\r\n")),
    "an end that is too short": OK[:-3],
    "an end with more behind it": OK + b"x",
    "an end with a message behind it": OK + MESSAGE,
    "two ends": OK + OK,
    "no end": b"",
    "an end without a status": envelope(0x80, b"x-a: 1\r\n"),
    "an end with a status that is none": envelope(0x80, b"grpc-status: 99\r\n"),
    "an end of Connect": envelope(2, b"{}"),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("caller", [GRPC_WEB, GRPC_WEB_TEXT], ids=str)
def test_an_end_of_grpc_web(cached, recorder, caller, name):
    assert called_web(cached, recorder, caller, MESSAGE + ENDS[name], ())[0] == 2


@pytest.mark.parametrize("name", WRONG)
def test_a_grpc_response(cached, h2_recorder, name):
    body, fields = WRONG[name]
    _, _, upstream = called_grpc(cached, h2_recorder, body, fields)
    assert len(upstream.streams) == 2


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_response_is_stored(cached, recorder, h2_recorder, name):
    body, fields = RIGHT[name]
    for caller in (GRPC_WEB, GRPC_WEB_TEXT):
        count, responses = called_web(cached, recorder, caller, body + OK, fields)
        assert (count, len({one.content for one in responses})) == (1, 1)
    _, calls, upstream = called_grpc(cached, h2_recorder, body, fields)
    assert len(upstream.streams) == 1
    assert [(call.body, call.grpc()) for call in calls] == [(body, "0")] * 2


# What a caller sends, and which compression its head names: the first one is in the cache.
REQUESTS = {
    "an unknown flag": (envelope(2, HELLO_PROTO), None),
    "another unknown flag": (envelope(0x80, HELLO_PROTO), None),
    "a compression without a name": (envelope(1, HELLO_PROTO), None),
    "a compression that is none": (envelope(1, HELLO_PROTO), "identity"),
    "a compression that nobody knows": (envelope(1, HELLO_PROTO), "lzma"),
    "bytes that are not compressed": (envelope(1, HELLO_PROTO), "gzip"),
    "an unknown flag with a compression": (envelope(3, PACKED), "gzip"),
    "a length beyond the end": (MESSAGE[:-1], None),
    "a part of another message": (MESSAGE + b"\0", None),
    "two messages": (MESSAGE * 2, None),
    "no message": (b"", None),
    "another message": (envelope(0, HELLO_PROTO[:-1] + b"?"), None),
    "the bytes of the compressed message": (envelope(0, PACKED), None),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_grpc_request_gets_nothing_from_the_cache(cached, h2_recorder, name):
    body, compression = REQUESTS[name]

    def respond(peer, stream):
        peer.finish(stream)
        if stream.reset is None:
            number = b"%d" % len(upstream.streams)
            peer.headers(stream.id, h2_peer.response(200, ("content-type", GRPC.content_type)))
            peer.data(stream.id, envelope(0, number))
            peer.headers(stream.id, [("grpc-status", "0")], end=True)

    upstream = h2_recorder(respond)
    proxy = cached(upstream, rpc=ELIZA)
    stored = [called(proxy, MESSAGE).body, called(proxy, envelope(1, PACKED), GZIP).body]
    call = called(proxy, body, *([("grpc-encoding", compression)] if compression else []))
    assert call.body not in stored, call.body
    # What is stored stays as it was.
    assert called(proxy, MESSAGE).body == stored[0]
    assert proxy.metrics().total("martlet_cache_requests_total", result="hit") >= 1


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("caller", [GRPC_WEB, GRPC_WEB_TEXT], ids=str)
def test_a_grpc_web_request_gets_nothing_from_the_cache(cached, recorder, caller, name):
    body, compression = REQUESTS[name]
    text = base64.b64encode if caller is GRPC_WEB_TEXT else bytes
    upstream = recorder(lambda request: web(caller, envelope(0, b"%d" % len(upstream.requests)) + OK))
    with cached(upstream, rpc=ELIZA).http() as http:
        stored = caller.call(http).content
        headers = caller.headers() | ({"grpc-encoding": compression} if compression else {})
        assert http.post(SAY, headers=headers, content=text(body)).content != stored
        assert caller.call(http).content == stored
