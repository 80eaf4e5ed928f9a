"""The journal has what a caller sends after its response is complete, and the caller does not wait for that."""

import base64
import json
import struct
import zlib

import pytest
from support.http1.peer import connect as connect_http1
from support.http2.h2_peer import CANCEL, connect as connect_http2
from support.servers.eliza_messages import SERVICE
from support.wait import eventually

ENDED = "methods: { Converse: [ { outputs: [ { send: { json: { sentence: hi } } } ] } ] }\n"
PLAIN = """
listen: 127.0.0.1:0
mocks: { eliza: { rules: [ { script: [ { send: { text: hi } } ] } ] } }
interceptors: [ { mock: eliza } ]
"""


def message(text, flags=0):
    payload = json.dumps({"sentence": text}).encode()
    if flags:
        packer = zlib.compressobj(wbits=31)
        payload = packer.compress(payload) + packer.flush()
    return struct.pack(">BI", flags, len(payload)) + payload


# By the content type: the header that names the compression.
TYPES = {
    "application/grpc+json": "grpc-encoding",
    "application/grpc-web+json": "grpc-encoding",
    "application/grpc-web-text+json": "grpc-encoding",
    "application/connect+json": "connect-content-encoding",
}
# Each sends what is left of the request, in pieces, when its response is complete.
LATE = {
    "nothing": ([], 1),
    "one message": ([message("b")], 2),
    "three messages": ([message("b") + message("c"), message("d")], 4),
    "a message in pieces": ([message("b")[:3], message("b")[3:9], message("b")[9:]], 2),
    "a compressed message": ([message("b", flags=1)], 2),
    "a large message": ([message("b" * 100_000)], 2),
}


class HTTP1:
    def __init__(self, proxy, fields):
        self.peer = connect_http1(proxy.address)
        lines = [f"POST /{SERVICE}/Converse HTTP/1.1", "host: a", "transfer-encoding: chunked"]
        self.peer.send("\r\n".join([*lines, *(f"{name}: {value}" for name, value in fields), "", ""]).encode())

    def send(self, data):
        self.peer.send(b"%x\r\n%s\r\n" % (len(data), data))

    def receive_response(self):
        assert self.peer.response("POST").status == 200

    def end(self):
        self.peer.send(b"0\r\n\r\n")

    def cancel(self):
        self.peer.reset()

    def close(self):
        self.peer.close()


class HTTP2:
    def __init__(self, proxy, fields):
        self.peer = connect_http2(proxy.address)
        head = [(":method", "POST"), (":scheme", "http"), (":path", f"/{SERVICE}/Converse"), (":authority", "a"), ("te", "trailers")]
        self.stream = self.peer.open(head + fields)

    def send(self, data):
        self.peer.data(self.stream.id, data)

    def receive_response(self):
        self.peer.wait(lambda: self.stream.ended)

    def end(self):
        self.peer.data(self.stream.id, end=True)

    def cancel(self):
        self.peer.reset(self.stream.id, CANCEL)

    def close(self):
        self.peer.close()


def calls(proxy):
    return json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]


def last_call(proxy, condition):
    """The call in the journal, once this holds."""
    eventually(lambda: calls(proxy) and condition(calls(proxy)[-1]))
    return calls(proxy)[-1]


def encoded(content_type, pieces):
    if "-text" not in content_type:
        return pieces
    return [base64.b64encode(piece) for piece in pieces]


WAYS = [
    pytest.param(content_type, version, id=f"{content_type.split('/')[1]}-{version.__name__.lower()}")
    for content_type in TYPES
    for version in (HTTP1, HTTP2)
    if content_type != "application/grpc+json" or version is HTTP2
]


@pytest.mark.parametrize("late", LATE)
@pytest.mark.parametrize("content_type, version", WAYS)
def test_messages_after_the_response(mocked, content_type, version, late):
    proxy = mocked(ENDED)
    pieces, count = LATE[late]
    caller = version(proxy, [("content-type", content_type), (TYPES[content_type], "gzip")])
    caller.send(*encoded(content_type, [message("a")]))
    # The caller has its whole response, although it has not ended its request.
    caller.receive_response()
    for piece in encoded(content_type, pieces):
        caller.send(piece)
    caller.end()
    call = last_call(proxy, lambda call: "closed_ms" in call)
    assert len(call["received"]) == count
    assert [part["json"]["sentence"][0] for part in call["received"]] == list("abcd")[:count]
    assert call["code"] == "ok"
    caller.close()


@pytest.mark.parametrize("content_type, version", WAYS)
def test_messages_that_come_with_the_first_one(mocked, content_type, version):
    proxy = mocked(ENDED)
    caller = version(proxy, [("content-type", content_type)])
    caller.send(*encoded(content_type, [message("a") + message("b") + message("c")]))
    caller.end()
    caller.receive_response()
    call = last_call(proxy, lambda call: "closed_ms" in call)
    assert [part["json"]["sentence"] for part in call["received"]] == ["a", "b", "c"]
    caller.close()


@pytest.mark.parametrize("content_type, version", WAYS)
def test_a_caller_that_leaves_after_the_response(mocked, content_type, version):
    proxy = mocked(ENDED)
    caller = version(proxy, [("content-type", content_type)])
    caller.send(*encoded(content_type, [message("a")]))
    caller.receive_response()
    caller.send(*encoded(content_type, [message("b")]))
    caller.cancel()
    call = last_call(proxy, lambda call: len(call["received"]) == 2 or version is HTTP1)
    # Its response was complete.
    assert (call["code"], "closed_ms" in call) == ("ok", False)
    eventually(lambda: json.loads(proxy.admin("/mocks").text)["mocks"][0]["open"] == 0)
    caller.close()


@pytest.mark.parametrize("version", [HTTP1, HTTP2])
def test_the_request_of_a_script_of_plain_http(martlet, version):
    proxy = martlet(PLAIN)
    caller = version(proxy, [("content-type", "text/plain")])
    caller.receive_response()
    caller.send(b"rest")
    caller.end()
    call = last_call(proxy, lambda call: "closed_ms" in call)
    assert [part["text"] for part in call["received"]] == ["rest"]
    caller.close()


@pytest.mark.parametrize("content_type, version", WAYS)
def test_a_caller_that_sends_without_end_is_ended(mocked, content_type, version):
    proxy = mocked(ENDED)
    caller = version(proxy, [("content-type", content_type)])
    caller.send(*encoded(content_type, [message("a")]))
    caller.receive_response()
    # What is read of such a request is bounded.
    sent = 0
    try:
        while sent < 500:
            caller.send(*encoded(content_type, [message("b" * 4_000)]))
            sent += 1
    except (OSError, AssertionError):
        pass
    call = last_call(proxy, lambda call: len(call["received"]) > 10)
    eventually(lambda: json.loads(proxy.admin("/mocks").text)["mocks"][0]["open"] == 0)
    assert (call["code"], "closed_ms" in call, len(calls(proxy)[-1]["received"]) < 100) == ("ok", False, True)
    caller.close()
