"""A response of one message leaves when no rule of `validate` can retry it any more, if its types are known."""

import json

import grpc
import pytest
from interceptors import early_messages
from interceptors.early_messages import EarlyMessages

from support.protocol import RPCProtocol, envelope
from support.servers.grpc_service import SERVICE, descriptor_set
from support.wait import eventually

BUSY = b'{"sentence":"busy"}'
GOOD = b'{"sentence":"good"}'

UNARY = RPCProtocol("connect-unary", "application/json", b"{}")
STREAM = RPCProtocol("connect-stream", "application/connect+json", envelope(0, b"{}"))
WEB = RPCProtocol("grpc-web", "application/grpc-web+json", envelope(0, b"{}"))

CONDITIONS = {"code": {"code": "unavailable"}, "trailer": {"trailer": {"x-bad": "1"}}, "json": {"json": {"/sentence": "busy"}}}
# The method, and whether Martlet knows its types.
SHAPES = {"unary": ("Unary", True), "upload": ("Upload", True), "stream": ("Download", True), "unknown": ("Unary", False)}


@pytest.fixture
def start(martlet, tmp_path):
    """Starts a daemon that retries calls for which a condition holds, before an upstream."""

    def run(upstream, condition, has_types=True, limits=None):
        rules = [{"when": CONDITIONS[condition], "retry": {"immediate": {}}}]
        options = {"max_retries": 1, "retry": {"allow_non_idempotent": True}, "rules": rules}
        (tmp_path / "types.binpb").write_bytes(descriptor_set())
        text = {
            "listeners": [{"address": "127.0.0.1:0", "limits": limits or {}}],
            "upstream": upstream.url,
            "interceptors": [{"validate": options}],
        }
        if has_types:
            text["types"] = {"files": [str(tmp_path / "types.binpb")]}
        return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()))

    return run


def response(caller, message, condition=None):
    """A response over HTTP/1.1, for which the condition holds."""
    status, extra, code = 200, b"", 14 if condition == "code" else 0
    trailers = {"x-bad": ["1"]} if condition == "trailer" else {}
    match caller:
        case _ if caller is STREAM:
            end = {"metadata": trailers} | ({"error": {"code": "unavailable"}} if code else {})
            body = envelope(0, message) + envelope(2, json.dumps(end).encode())
        case _ if caller is WEB:
            lines = b"grpc-status: %d\r\n" % code + (b"x-bad: 1\r\n" if trailers else b"")
            body = envelope(0, message) + envelope(0x80, lines)
        case _:
            status, body = (503, b'{"code":"unavailable"}') if code else (200, message)
            extra = b"trailer-x-bad: 1\r\n" if trailers else b""
    kind = caller.content_type.encode()
    head = b"HTTP/1.1 %d -\r\ncontent-type: %s\r\n%scontent-length: %d\r\n\r\n" % (status, kind, extra, len(body))
    return head + body


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("caller", [UNARY, STREAM, WEB], ids=str)
def test_a_call_is_retried_while_its_response_waits(start, recorder, caller, condition, shape):
    method, has_types = SHAPES[shape]
    upstream = recorder(lambda request: response(caller, *((GOOD,) if len(upstream.requests) % 2 == 0 else (BUSY, condition))))
    proxy = start(upstream, condition, has_types)
    is_retried = caller is UNARY or condition == "json" or shape in ("unary", "upload")
    for version in (1, 2):
        upstream.requests.clear()
        with proxy.http(http1=version == 1, http2=version == 2) as http:
            reported = caller.call(http, f"/{SERVICE}/{method}")
        assert len(upstream.requests) == (2 if is_retried else 1), version
        assert (b"good" if is_retried else b"busy") in reported.content
        assert reported.content.count(b"sentence") == 1


@pytest.mark.parametrize("shape", ["unary", "stream", "unknown"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_call_of_a_grpc_client_is_retried_while_its_response_waits(start, running, grpc_channel, condition, shape):
    method, has_types = SHAPES[shape]
    upstream = running(EarlyMessages(condition))
    proxy = start(upstream, condition, has_types)
    channel = grpc_channel(proxy)
    # Without types, a message in Protobuf has no fields.
    is_retried = shape == "unary" or shape == "stream" and condition == "json"
    messages, code = outcome(channel.download if method == "Download" else channel.unary_in_parts)
    assert upstream.attempts == (2 if is_retried else 1)
    assert messages == [early_messages.GOOD if is_retried else early_messages.BUSY]
    assert code == ("UNAVAILABLE" if condition == "code" and not is_retried else "OK")


def test_an_attempt_that_is_retried_has_the_code_of_its_end(start, running, grpc_channel):
    proxy = start(running(EarlyMessages()), "code")
    assert grpc_channel(proxy).unary(b"", timeout=30) == early_messages.GOOD
    (call,) = eventually(lambda: proxy.admin("/calls/recent").json()["calls"], within=30)
    assert [attempt.get("code") for attempt in call["attempt_times"]] == ["unavailable", None]


def test_a_response_beyond_the_limit_passes_whole(start, running, grpc_channel):
    large = early_messages.message(b"m" * 1_000_000)
    upstream = running(EarlyMessages(message=large))
    proxy = start(upstream, "code", limits={"held_bytes": "64KiB"})
    assert outcome(grpc_channel(proxy).unary_in_parts) == ([large], "UNAVAILABLE")
    metrics = proxy.metrics()
    assert (upstream.attempts, metrics.total("martlet_limit_hits_total", limit="held_response")) == (1, 1)
    assert metrics.total("martlet_retries_total", result="delivered") == 1


def test_a_large_response_is_held_and_retried(start, running, grpc_channel):
    upstream = running(EarlyMessages(message=early_messages.message(b"m" * 1_000_000)))
    proxy = start(upstream, "code", limits={"held_bytes": "2MiB"})
    assert outcome(grpc_channel(proxy).unary_in_parts) == ([early_messages.GOOD], "OK")
    assert (upstream.attempts, proxy.metrics().total("martlet_limit_hits_total", limit="held_response")) == (2, 0)


def outcome(method):
    """The messages of a call with a response stream, and its code."""
    call, messages = method(b"", timeout=30), []
    try:
        messages += call
    except grpc.RpcError:
        pass
    return messages, call.code().name
