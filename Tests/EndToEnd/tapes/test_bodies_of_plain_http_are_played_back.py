"""Responses of plain HTTP are played as they were: their lengths, codings, and what has no body."""

import gzip
import json
import struct
import zlib

import pytest
from support.http1.peer import connect as connect_http1

BODY = b'{"title":"The Birds","year":1963}'
# Without a time, so that it is the same whenever the file is read.
PACKED = gzip.compress(BODY, mtime=0)


def stored_by_brotli(data):
    """A stream of one block that is not compressed (RFC 7932 §9.2)."""
    return struct.pack("<I", 0x80000B | (len(data) - 1) << 7)[:3] + data + b"\x03"


def stored_by_zstd(data):
    """A frame of one block that is not compressed (RFC 8878 §3.1.1)."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(data)]) + struct.pack("<I", len(data) << 3 | 1)[:3] + data


def x(status, *fields, body=b""):
    """The bytes of a response."""
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", *fields]
    return ("\r\n".join([*lines, "", ""])).encode() + body


def whole(*fields, body=BODY, status=200):
    return x(status, f"content-length: {len(body)}", *fields, body=body)


# The method, the recorded response, then for each `accept-encoding` of a player: status, coding, length (as the header says), body.
OPEN = "*"
CASES = {
    "gzip": ("GET", whole("content-encoding: gzip", body=PACKED), {"gzip": (200, None, len(BODY), BODY), "identity": (200, None, len(BODY), BODY)}),
    "GZIP in capitals": ("GET", whole("content-encoding: GZIP", body=PACKED), {None: (200, None, len(BODY), BODY)}),
    "br": ("GET", whole("content-encoding: br", body=stored_by_brotli(BODY)), {"br": (200, None, len(BODY), BODY), "gzip": (200, None, len(BODY), BODY)}),
    "zstd": ("GET", whole("content-encoding: zstd", body=stored_by_zstd(BODY)), {None: (200, None, len(BODY), BODY)}),
    "deflate": ("GET", whole("content-encoding: deflate", body=zlib.compress(BODY)), {"": (200, None, len(BODY), BODY)}),
    "identity": ("GET", whole("content-encoding: identity"), {None: (200, None, len(BODY), BODY)}),
    "no coding": ("GET", whole(), {None: (200, None, len(BODY), BODY), "gzip": (200, None, len(BODY), BODY)}),
    "an unknown coding": ("GET", whole("content-encoding: pack", body=b"\x01\x02"), {"pack": (200, "pack", 2, b"\x01\x02"), None: (200, "pack", 2, b"\x01\x02"), "gzip": (501, None, OPEN, OPEN)}),
    "two codings": ("GET", whole("content-encoding: gzip, br", body=b"\x01\x02"), {"gzip, br": (200, "gzip, br", 2, b"\x01\x02"), "br": (501, None, OPEN, OPEN)}),
    "broken gzip": ("GET", whole("content-encoding: gzip", body=b"\x1f\x8bno"), {"gzip": (200, "gzip", 4, b"\x1f\x8bno"), "br, *;q=0": (501, None, OPEN, OPEN), "*": (200, "gzip", 4, b"\x1f\x8bno")}),
    "a cut gzip": ("GET", whole("content-encoding: gzip", body=PACKED[:-4]), {"gzip": (200, "gzip", len(PACKED) - 4, PACKED[:-4])}),
    "a range of gzip": ("GET", whole("content-encoding: gzip", "content-range: bytes 0-3/90", body=PACKED[:4], status=206), {"gzip": (206, "gzip", 4, PACKED[:4]), "identity": (501, None, OPEN, OPEN)}),
    "a range": ("GET", whole("content-range: bytes 0-3/90", body=b'{"ti', status=206), {None: (206, None, 4, b'{"ti')}),
    "an error in gzip": ("GET", whole("content-encoding: gzip", body=gzip.compress(b"no"), status=503), {None: (503, None, 2, b"no")}),
    "no bytes in gzip": ("GET", whole("content-encoding: gzip", body=b""), {None: (200, "gzip", 0, b"")}),
    "HEAD": ("HEAD", x(200, "content-length: 5"), {None: (200, None, 5, b"")}),
    "HEAD of nothing": ("HEAD", x(200, "content-length: 0"), {None: (200, None, 0, b"")}),
    "HEAD without a length": ("HEAD", x(200, "transfer-encoding: chunked"), {None: (200, None, None, b"")}),
    "HEAD of an error": ("HEAD", x(404, "content-length: 19"), {None: (404, None, 19, b"")}),
    "HEAD of gzip": ("HEAD", x(200, "content-length: 50", "content-encoding: gzip"), {"gzip": (200, "gzip", 50, b""), "identity": (200, None, None, b"")}),
    "304": ("GET", x(304, 'etag: "a"'), {None: (304, None, None, b"")}),
    "304 with a length": ("GET", x(304, 'etag: "a"', "content-length: 7"), {None: (304, None, 7, b"")}),
    "204": ("GET", x(204), {None: (204, None, None, b"")}),
    "an empty body": ("GET", x(200, "content-length: 0"), {None: (200, None, 0, b"")}),
    "chunks": ("GET", x(200, "transfer-encoding: chunked", body=b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), {None: (200, None, 3, b"abc")}),
}


@pytest.fixture
def proxy_before(martlet, recorder):
    """Starts Martlet with these interceptors before an upstream that responds with these bytes."""

    def start(response, interceptors):
        upstream = recorder(response)
        return martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ninterceptors: [ {interceptors} ]\n")

    return start


def play(martlet, path):
    return martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {path}, repeat: true }} }}\ninterceptors: [ {{ mock: m }} ]\n")


def call(proxy, method, encodings):
    peer = connect_http1(proxy.address)
    accept = "" if encodings is None else f"accept-encoding: {encodings}\r\n"
    peer.send(f"{method} /file HTTP/1.1\r\nhost: a\r\n{accept}\r\n".encode())
    response = peer.response(method)
    peer.close()
    length = response.header("content-length")
    return response.status, response.header("content-encoding"), None if length is None else int(length), bytes(response.body)


@pytest.mark.parametrize("name", CASES)
def test_a_response_is_played_as_it_was(martlet, proxy_before, tape, name):
    method, response, players = CASES[name]
    recorded = call(proxy_before(response, f"{{ record: {tape.path} }}"), method, "gzip, br, zstd, deflate, pack")
    assert "incomplete" not in tape.call()
    player = play(martlet, tape.path)
    for encodings, expected in players.items():
        seen = call(player, method, encodings)
        for value, wanted in zip(seen, expected):
            assert wanted == OPEN or value == wanted, (encodings, seen, expected)
    assert recorded[0] == next(iter(players.values()))[0]


@pytest.mark.parametrize("name", ["HEAD", "HEAD of nothing", "HEAD of an error", "HEAD without a length", "304 with a length", "204"])
@pytest.mark.parametrize("kind", ["validate: { rules: [ { when: { status: [599] }, fail: { code: internal } } ] }", "redact: { json: [/a] }"])
def test_lengths_pass_interceptors_that_read_bodies(proxy_before, name, kind):
    method, response, players = CASES[name]
    assert call(proxy_before(response, f"{{ {kind} }}"), method, None) == players[None]


RULES = {
    "{ status: 200, body: hello }": (200, 5),
    "{ json: { a: 1 } }": (200, 7),
    "{ status: 404, body: nothing }": (404, None),
    "{ status: 204 }": (204, None),
    "{ status: 304 }": (304, None),
    "{ status: 200 }": (200, None),
    "{ redirect: { to: /x } }": (302, None),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_respond_to_head(martlet, rule):
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ rules: [ {{ respond: {rule} }} ] }} }}\ninterceptors: [ {{ mock: m }} ]\n")
    status, _, length, body = call(proxy, "HEAD", None)
    assert (status, length, body) == (*RULES[rule], b"")
    with proxy.http(http1=False, http2=True) as client:
        response = client.head("/file")
        assert (response.status_code, response.headers.get("content-length")) == (status, None if length is None else str(length))


def test_a_body_that_is_too_long_once_decompressed_is_cut(proxy_before, tape):
    body = gzip.compress(b"x" * 100_000)
    call(proxy_before(whole("content-encoding: gzip", body=body), f"{{ record: {tape.path} }}"), "GET", "gzip")
    assert "bytes" in tape.call()["incomplete"]


@pytest.mark.parametrize("coding, body, is_shown", [("gzip", PACKED, True), ("pack", BODY[::-1], False)])
def test_secrets_in_compressed_bodies_are_kept_out(proxy_before, tape, coding, body, is_shown):
    interceptors = f"{{ redact: {{ json: [/title] }} }}, {{ record: {tape.path} }}"
    proxy = proxy_before(whole(f"content-encoding: {coding}", body=body), interceptors)
    assert call(proxy, "GET", coding)[3] == body
    recorded = tape.call()
    response = recorded["script"][-1]["respond"]
    if is_shown:
        assert json.loads(response["body"]) == {"title": "***", "year": 1963}
    else:
        assert (recorded["incomplete"], "body" in response, "body_base64" in response) == ("a body that may not be shown", False, False)
