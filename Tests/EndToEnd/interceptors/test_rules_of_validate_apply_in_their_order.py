"""The rules of `validate` apply in the order in which they are written, in every protocol and version of HTTP."""

import json
import threading

import grpc
import pytest
from interceptors import early_messages
from interceptors.early_messages import EarlyMessages

from support.protocol import RPCProtocol, envelope
from support.servers.grpc_service import SERVICE, descriptor_set
from support.wait import eventually

PATH = f"/{SERVICE}/Unary"
ASKED = b'{"sentence":"hello"}'
BUSY = b'{"sentence":"busy"}'
GOOD = b'{"sentence":"good"}'

UNARY = RPCProtocol("connect-unary", "application/json", ASKED)
STREAM = RPCProtocol("connect-stream", "application/connect+json", envelope(0, ASKED))
WEB = RPCProtocol("grpc-web", "application/grpc-web+json", envelope(0, ASKED))
PLAIN = RPCProtocol("plain", "text/plain", ASKED)
CALLERS = [UNARY, STREAM, WEB, PLAIN]
ENVELOPED = [STREAM, WEB]

ON_CODE = {"when": {"code": "unavailable"}, "retry": {"immediate": {}}}
ON_TRAILER = {"when": {"trailer": {"x-bad": "1"}}, "fail": {"code": "aborted"}}
ON_BUSY = {"when": {"json": {"/sentence": "busy"}}}
RETRIED = ON_BUSY | {"retry": {"immediate": {}}}
REPLACED = ON_BUSY | {"replace": {"json": {"sentence": "new!"}}}
MARKED = ON_BUSY | {"replace": {"headers": {"set": {"x-rule": "1"}}}}


def parts(caller, message, code=None):
    """The message of a response and its end, as they are on the wire."""
    match caller.content_type:
        case "application/connect+json":
            end = {"error": {"code": code}} if code else {}
            return envelope(0, message), envelope(2, json.dumps(end).encode())
        case "application/grpc-web+json":
            return envelope(0, message), envelope(0x80, b"grpc-status: %d\r\n" % (14 if code else 0))
    return message, b""


def response(caller, message, code=None):
    body = b"".join(parts(caller, message, code))
    kind = caller.content_type if caller in ENVELOPED else "application/json"
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind.encode(), len(body), body)


@pytest.fixture
def start(martlet):
    """Starts a daemon with these rules before an upstream."""

    def run(upstream, *rules, **more):
        validate = {"max_retries": 2, "retry": {"methods": [PATH[1:]], "allow_non_idempotent": True}, "rules": rules}
        text = {
            "listeners": [{"address": "127.0.0.1:0", "limits": more.pop("limits", {})}],
            "workers": 1,
            "upstream": upstream.url,
            "interceptors": [{"validate": validate | more.pop("validate", {})}],
        }
        return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in (text | more).items()))

    return run


def called(proxy, caller, version):
    with proxy.http(http1=version == 1, http2=version == 2) as http:
        return caller.call(http, PATH)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("caller", CALLERS, ids=str)
@pytest.mark.parametrize(
    "rules, text, attempts, marked",
    [
        ((ON_CODE, RETRIED), b"good", 2, False),
        ((ON_TRAILER, RETRIED), b"good", 2, False),
        ((ON_CODE, REPLACED), b"new!", 1, False),
        ((ON_TRAILER, ON_CODE, REPLACED), b"new!", 1, False),
        ((MARKED,), b"busy", 1, True),
        ((ON_CODE, MARKED), b"busy", 1, True),
        ((MARKED | {"continue": True}, REPLACED), b"new!", 1, True),
        ((ON_BUSY | {"next": {}}, ON_CODE, RETRIED), b"busy", 1, False),
    ],
    ids=["retry", "retry-trailer", "replace", "replace-third", "mark", "mark-second", "mark-replace", "next"],
)
def test_a_rule_behind_an_open_one_applies(start, recorder, caller, version, rules, text, attempts, marked):
    responses = iter([response(caller, BUSY), response(caller, GOOD)])
    upstream = recorder(lambda request: next(responses))
    reported = called(start(upstream, *rules), caller, version)
    assert (reported.status_code, "x-rule" in reported.headers) == (200, marked)
    assert len(upstream.requests) == attempts
    assert reported.content.count(b"sentence") == 1
    assert text in reported.content


@pytest.mark.parametrize("caller", ENVELOPED, ids=str)
def test_an_open_rule_that_holds_at_the_end_comes_before_later_ones(start, recorder, caller):
    responses = iter([response(caller, BUSY, "unavailable"), response(caller, GOOD)])
    reported = called(start(recorder(lambda request: next(responses)), ON_CODE, REPLACED), caller, 1)
    assert (b"good" in reported.content, reported.content.count(b"sentence")) == (True, 1)
    failing = ON_CODE | {"fail": {"code": "aborted"}}
    del failing["retry"]
    reported = called(start(recorder(response(caller, BUSY, "unavailable")), failing, REPLACED), caller, 1)
    assert b"sentence" not in reported.content
    assert b"aborted" in reported.content or b"grpc-status: 10" in reported.content


@pytest.mark.parametrize("caller", ENVELOPED, ids=str)
def test_a_message_beyond_the_limit_is_not_held(start, recorder, caller):
    large = b'{"sentence":"busy","more":"%s"}' % (b"m" * 20_000)
    proxy = start(recorder(response(caller, large)), ON_CODE, MARKED, limits={"held_bytes": "8KiB"})
    reported = called(proxy, caller, 1)
    assert reported.headers["x-rule"] == "1"
    assert proxy.metrics().total("martlet_limit_hits_total", limit="held_response") == 1


@pytest.mark.parametrize("caller", ENVELOPED, ids=str)
def test_a_stalled_upstream_delays_a_message_for_hold_only(start, recorder, caller):
    message, end = parts(caller, BUSY)
    finish = threading.Event()

    def stall(peer):
        peer.request()
        kind = caller.content_type.encode()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(message + end)))
        peer.send(message)
        assert finish.wait(30)
        peer.send(end)

    proxy = start(recorder(script=stall), ON_CODE, REPLACED, validate={"hold": "100ms"})
    try:
        with proxy.http() as http:
            with http.stream("POST", PATH, headers=caller.headers(), content=caller.body) as reported:
                pieces = reported.iter_raw()
                received = b""
                while b"new!" not in received:
                    received += next(pieces)
                assert proxy.metrics().total("martlet_limit_hits_total", limit="held_response") == 1
                finish.set()
                list(pieces)
    finally:
        finish.set()


def test_a_held_message_passes_a_reload(start, recorder):
    arrived, finish = threading.Event(), threading.Event()
    message, end = parts(WEB, BUSY)

    def stall(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc-web+json\r\n")
        peer.send(b"content-length: %d\r\n\r\n%s" % (len(message + end), message))
        arrived.set()
        assert finish.wait(30)
        peer.send(end)

    proxy = start(recorder(script=stall), ON_CODE, REPLACED, validate={"hold": "30s"})
    results = []
    thread = threading.Thread(target=lambda: results.append(called(proxy, WEB, 1)))
    thread.start()
    try:
        assert arrived.wait(30)
        eventually(lambda: proxy.metrics().total("martlet_interceptor_verdicts_total", verdict="suspend"))
        proxy.reload()
    finally:
        finish.set()
        thread.join(30)
    assert (b"new!" in results[0].content, results[0].content.count(b"sentence")) == (True, 1)


@pytest.fixture
def types(tmp_path):
    (tmp_path / "types.binpb").write_bytes(descriptor_set())
    return {"types": {"files": [str(tmp_path / "types.binpb")]}}


def test_a_unary_grpc_call_is_retried_although_its_message_came(start, running, grpc_channel, types):
    upstream = running(EarlyMessages())
    unmatched = {"when": {"json": {"/sentence": "other"}}, "fail": {}}
    proxy = start(upstream, unmatched, ON_CODE, **types)
    assert grpc_channel(proxy).unary(b"", timeout=10) == early_messages.GOOD
    assert (upstream.attempts, proxy.metrics().total("martlet_retries_total", result="sent")) == (2, 1)


def test_without_types_a_message_that_no_rule_is_for_passes(start, running, grpc_channel):
    upstream = running(EarlyMessages())
    proxy = start(upstream, ON_CODE)
    call = grpc_channel(proxy).unary.future(b"", timeout=10)
    assert (call.code(), upstream.attempts) == (grpc.StatusCode.UNAVAILABLE, 1)
    assert proxy.metrics().total("martlet_retries_total", result="delivered") == 1


@pytest.mark.parametrize("later", [REPLACED, RETRIED, MARKED], ids=["replace", "retry", "mark"])
def test_a_rule_on_the_code_comes_first_for_a_grpc_client(start, running, grpc_channel, types, later):
    upstream = running(EarlyMessages())
    assert grpc_channel(start(upstream, ON_CODE, later, **types)).unary(b"", timeout=10) == early_messages.GOOD
    assert upstream.attempts == 2


def test_a_rule_on_the_message_that_comes_first_decides_for_a_grpc_client(start, running, grpc_channel, types):
    upstream = running(EarlyMessages())
    call = grpc_channel(start(upstream, REPLACED, ON_CODE, **types)).unary.future(b"", timeout=10)
    assert (call.code(), upstream.attempts) == (grpc.StatusCode.UNAVAILABLE, 1)
