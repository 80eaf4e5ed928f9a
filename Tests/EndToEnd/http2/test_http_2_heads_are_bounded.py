"""A head over HTTP/2 may be as large as the limit allows, however it is compressed. A larger one affects only its sender."""

import itertools

import hpack
import pytest
from hyperframe.frame import ContinuationFrame, HeadersFrame

from http2.attack import flood
from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok

pytestmark = pytest.mark.alone

KIB = 1 << 10
BASE = h2_peer.request("/attack", "POST")


def block(fields):
    """Without compression, so that what is sent has the size that it stands for."""
    return hpack.Encoder().encode([(*field, True) for field in fields], huffman=False)


def begun(stream=1):
    return HeadersFrame(stream, block(BASE)).serialize()


def empty_continuations():
    yield begun()
    yield from itertools.repeat(ContinuationFrame(1, b"").serialize() * 10, 3000)


def small_continuations():
    yield begun()
    pieces = [ContinuationFrame(1, bytes([byte])).serialize() for byte in block([("x-a", "b")])]
    yield from itertools.repeat(b"".join(pieces), 6000)


def large_continuations():
    yield begun()
    yield from itertools.repeat(ContinuationFrame(1, block([("x-a", "b" * 16000)])).serialize(), 1000)


# Full frames reach the bound of what they stand for first.
CONTINUATIONS = {empty_continuations: "continuation", small_continuations: "continuation", large_continuations: "header_list"}


@pytest.mark.parametrize("chunks, limit", CONTINUATIONS.items(), ids=lambda one: getattr(one, "__name__", one))
def test_continuations_without_end(start_attack, chunks, limit):
    attack = start_attack()
    attacker = attack.attacker()
    flood(attacker, chunks())
    attacker.wait_for_end()
    attack.check(limit)
    assert attack.new_hits() == {limit}


def test_a_small_block_that_expands_to_a_large_head(start_attack):
    attack = start_attack()
    attacker = attack.attacker()
    # 4000 bytes go into the table once, and then every byte of a block stands for them.
    insert = b"\x40\x03x-a" + b"\x7f\xa1\x1e" + b"b" * 4000
    bomb = bytes([0x80 | 62]) * 16000
    frames = [HeadersFrame(1, block(BASE) + insert, flags=["END_HEADERS", "END_STREAM"]).serialize()]
    for stream in range(3, 203, 2):
        frames.append(HeadersFrame(stream, block(BASE) + bomb, flags=["END_HEADERS", "END_STREAM"]).serialize())
    flood(attacker, frames)
    attack.check("hpack", "header_list")


def without_response(peer, stream):
    if stream.path == "/canary":
        response_ok(peer, stream)


@pytest.mark.parametrize("name", [b"x-a", b"cookie"])
def test_small_blocks_on_many_streams_that_expand_together(start_attack, name):
    """Each head keeps to the limit, and so does the number of streams."""
    attack = start_attack(without_response, "{ heads: 256KiB }")
    attacker = attack.attacker()
    insert = b"\x40" + bytes([len(name)]) + name + b"\x7f\x9d\x1d" + b"b" * 3868
    heads = [block(BASE) + insert] + [block(BASE) + bytes([0x80 | 62]) * 15] * 900
    frames = [HeadersFrame(2 * number + 1, one, flags=["END_HEADERS", "END_STREAM"]).serialize() for number, one in enumerate(heads)]
    flood(attacker, [b"".join(frames)])
    rejected = lambda: sum(one.reset == h2_peer.REFUSED_STREAM for one in attacker.streams.values())  # noqa: E731
    attacker.wait(lambda: rejected() > 800, "rejections")
    attack.check("heads")


@pytest.mark.parametrize("parts", [1, 100], ids=["one field", "many fields"])
def test_a_head_over_the_limit(start_attack, parts):
    attack = start_attack()
    attacker = attack.attacker()
    fields = [(f"x-{number}", "v" * (100 * KIB // parts)) for number in range(parts)]
    call = attacker.open([*BASE, *fields], end=True)
    attacker.wait(lambda: call.is_over or attacker.goaway, "a response")
    assert call.status == 431 or call.reset is not None or attacker.goaway
    attack.check("header_list", "head", "hpack")


def test_a_grpc_caller_gets_a_status(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C", ("x-large", "v" * 70 * KIB)), end=True))
    assert call.grpc() in ("8", "13", "2") or call.status == 431
    assert upstream.streams == []
    assert caller.finish(caller.open(h2_peer.request(), end=True)).body == b"ok"  # the connection is as good as before


def test_too_many_fields(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open([*BASE, *((f"x-{number}", "v") for number in range(1000))], end=True)
    caller.finish(call)
    assert call.status == 431 or call.reset is not None
    assert upstream.streams == []


@pytest.mark.parametrize("size", [20 * KIB, 60 * KIB])
def test_a_head_within_the_limit(martlet, h2_recorder, size):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.finish(caller.open([*BASE, ("x-large", "v" * size)], end=True))
    assert call.status == 200
    assert upstream.streams[0].header("x-large") == "v" * size
