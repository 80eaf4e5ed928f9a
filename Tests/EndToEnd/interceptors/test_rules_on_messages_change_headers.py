"""`replace.headers` of a rule that waits for a message, the code or the trailers changes the head in every protocol, and no trailer."""

import base64
import json

import pytest

from support.http2 import h2_peer
from support.protocol import RPCProtocol, envelope

PATH = "/shop.v1.Orders/Get"
MESSAGE = b'{"old":1}'
UNARY = RPCProtocol("connect-unary", "application/json", b"{}")
STREAM = RPCProtocol("connect-stream", "application/connect+json", envelope(0, b"{}"))
WEB = RPCProtocol("grpc-web", "application/grpc-web+json", envelope(0, b"{}"))
TEXT = RPCProtocol("grpc-web-text", "application/grpc-web-text+json", base64.b64encode(envelope(0, b"{}")))
GRPC = RPCProtocol("grpc", "application/grpc+json", envelope(0, b"{}"))
PLAIN = RPCProtocol("plain", "text/plain", b"hello")
CALLERS = [UNARY, STREAM, WEB, TEXT, GRPC, PLAIN]
HEAD = [("x-a", "1"), ("x-b", "1"), ("x-b", "2")]
# A trailer has the name of a header, which the rule does not mean.
TRAILERS = [("x-a", "trailer"), ("x-bad", "1")]

# The rules for headers; and the values of x-a, x-b, x-c and x-d that the caller gets.
CHANGES = {
    "set": ({"set": {"x-a": "new"}}, (["new"], ["1", "2"], [], [])),
    "set of several": ({"set": {"x-b": "new"}}, (["1"], ["new"], [], [])),
    "set of none": ({"set": {"x-c": "new"}}, (["1"], ["1", "2"], ["new"], [])),
    "add": ({"add": {"x-a": "2"}}, (["1", "2"], ["1", "2"], [], [])),
    "add of none": ({"add": {"x-c": "new"}}, (["1"], ["1", "2"], ["new"], [])),
    "remove": ({"remove": ["x-a"]}, ([], ["1", "2"], [], [])),
    "remove of several": ({"remove": ["x-a", "x-b", "x-none"]}, ([], [], [], [])),
    "if_absent": ({"if_absent": {"x-a": "no", "x-c": "yes"}}, (["1"], ["1", "2"], ["yes"], [])),
    "rename": ({"rename": {"x-a": "x-c"}}, ([], ["1", "2"], ["1"], [])),
    "all": (
        {"set": {"x-a": "new"}, "add": {"x-d": "1"}, "remove": ["x-b"], "if_absent": {"x-c": "{method}"}},
        (["new"], [], ["Get"], ["1"]),
    ),
}


def parts(caller):
    """The head, the message and the end of a response, as far as they are bytes of a body."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in TRAILERS)
    match caller:
        case _ if caller is STREAM:
            metadata = {name: [value] for name, value in TRAILERS}
            return envelope(0, MESSAGE), envelope(2, json.dumps({"metadata": metadata}).encode())
        case _ if caller in (WEB, TEXT):
            return envelope(0, MESSAGE), envelope(0x80, f"grpc-status: 0\r\n{lines}".encode())
        case _ if caller is GRPC:
            return envelope(0, MESSAGE), b""
    return MESSAGE, b""


def respond(caller):
    """Responds over HTTP/2, with the trailers where the protocol has them."""
    message, end = parts(caller)
    body = base64.b64encode(message) + base64.b64encode(end) if caller is TEXT else message + end
    kind = "application/json" if caller is PLAIN else caller.content_type
    unary = [(f"trailer-{name}", value) for name, value in TRAILERS] if caller is UNARY else []

    def run(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(200, ("content-type", kind), *HEAD, *unary))
        trailers = {"grpc": [("grpc-status", "0"), *TRAILERS], "plain": TRAILERS}.get(caller.name)
        peer.data(stream.id, body, end=not trailers)
        if trailers:
            peer.headers(stream.id, trailers, end=True)

    return run


CONDITIONS = {"json": {"json": {"/old": 1}}, "code": {"code": "ok"}, "trailer": {"trailer": {"x-bad": "1"}}}


@pytest.fixture
def called(martlet, h2_recorder):
    """Makes a call through these rules."""

    def run(caller, *rules):
        text = {
            "listen": "127.0.0.1:0",
            "workers": 1,
            "upstream": h2_recorder(respond(caller)).url,
            "interceptors": [{"validate": {"rules": rules}}],
        }
        peer = martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items())).connect_h2()
        fields = caller.headers() | ({"te": "trailers"} if caller is GRPC else {})
        call = peer.open(h2_peer.request(PATH, "POST", *fields.items()))
        peer.data(call.id, caller.body, end=True)
        return peer.finish(call)

    return run


def values(fields, name):
    return [value.decode() for own, value in fields if own == name.encode()]


def check(call, caller, expected):
    assert tuple(values(call.fields, name) for name in ("x-a", "x-b", "x-c", "x-d")) == expected
    message, end = parts(caller)
    if caller is TEXT:
        assert _decoded(call.body) == message + end
    else:
        assert bytes(call.body) == message + end
    if caller in (GRPC, PLAIN):
        assert [values(call.trailers, name) for name, _ in TRAILERS] == [[value] for _, value in TRAILERS]
    if caller is UNARY:
        assert values(call.fields, "trailer-x-a") == ["trailer"]


def _decoded(text):
    """Base64 in pieces, each of which may be padded."""
    return b"".join(base64.b64decode(text[at : at + 4]) for at in range(0, len(text), 4))


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_a_change(called, caller, change, condition):
    rules, expected = CHANGES[change]
    if caller is PLAIN and "{method}" in json.dumps(rules):
        expected = (*expected[:2], [""], expected[3])
    # The head of plain HTTP is gone when its trailers come.
    holds = caller is not PLAIN or condition != "trailer"
    call = called(caller, {"when": CONDITIONS[condition], "replace": {"headers": rules}})
    check(call, caller, expected if holds else (["1"], ["1", "2"], [], []))


@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_a_rule_that_does_not_hold_changes_nothing(called, caller):
    rule = {"when": {"json": {"/old": 2}}, "replace": {"headers": {"set": {"x-a": "new"}, "remove": ["x-b"]}}}
    check(called(caller, rule), caller, (["1"], ["1", "2"], [], []))


@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_rules_change_one_after_the_other(called, caller):
    rules = [
        {"when": CONDITIONS[name], "replace": {"headers": {"add": {"x-c": name}}}, "continue": True} for name in ("json", "code", "json")
    ]
    check(called(caller, *rules), caller, (["1"], ["1", "2"], ["json", "code", "json"], []))
