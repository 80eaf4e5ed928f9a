"""`respond` sends plain callers a page and RPC callers a message, and calls no upstream."""

import json

from support import protocol

PAGE = """
listen: 127.0.0.1:0
interceptors:
  - respond: { status: 418, headers: { x-kind: teapot, content-type: text/plain }, body: "short and stout" }
"""
MESSAGE = """
listen: 127.0.0.1:0
interceptors:
  - respond: { json: { sentence: "hi, i'm eliza!" } }
"""
EXPECTED = {"sentence": "hi, i'm eliza!"}


def test_a_page(martlet):
    with martlet(PAGE).http() as http:
        response = http.get("/tea")
        assert (response.status_code, response.text, response.headers["x-kind"]) == (418, "short and stout", "teapot")
        head = http.head("/tea")
        assert (head.status_code, head.content) == (418, b"")


def test_a_message(martlet):
    with martlet(MESSAGE).http() as http:
        unary = protocol.CONNECT_UNARY_JSON.call(http)
        assert (unary.status_code, unary.json()) == (200, EXPECTED)
        assert unary.headers["content-type"] == "application/json"
        stream = protocol.CONNECT_STREAM_JSON.call(http)
        assert (stream.status_code, stream.headers["content-type"]) == (200, "application/connect+json")
        length = int.from_bytes(stream.content[1:5])
        assert stream.content[0] == 0
        assert json.loads(stream.content[5 : 5 + length]) == EXPECTED
        assert stream.content[5 + length :] == bytes.fromhex("02000000027b7d")
