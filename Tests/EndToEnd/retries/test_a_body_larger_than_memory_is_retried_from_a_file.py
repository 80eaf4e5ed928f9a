"""With `limits.spool`, a body larger than the retry buffer is retried byte by byte, and its file is gone afterwards."""

import hashlib
import json
import threading

import grpc
import pytest

from support.large_body import MIB, digest, envelopes, pieces
from support.wait import eventually

SIZE = 64 * MIB + 12345


def check_nothing_left(proxy):
    """No file is there any more, nor counted."""
    eventually(lambda: not proxy.spool_files(), what="the end of all files")
    metrics = proxy.metrics()
    assert metrics.total("martlet_spool_files") == metrics.total("martlet_spool_bytes") == 0


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("has_length", [False, True])
def test_after_a_status(spooling, body_server, upload, http2, has_length):
    upstream = body_server(503, 503, 200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE, http2=http2, has_length=has_length).result() == (digest(SIZE), 200)
    assert [(request.count, request.is_whole) for request in upstream.requests] == [(SIZE, True)] * 3
    assert proxy.metrics().total("martlet_retries_total", reason="rule", result="sent") == 2
    check_nothing_left(proxy)


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("count", [1, 100_000, 20 * MIB])
def test_in_the_middle_of_the_body(spooling, body_server, upload, count, http2):
    """The rest of the body comes while the retry is sent what came before."""
    upstream = body_server((count, 503), (2 * count, 503), 200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE, http2=http2).result() == (digest(SIZE), 200)
    assert upstream.requests[-1].count == SIZE
    check_nothing_left(proxy)


def test_while_the_caller_waits(spooling, body_server, upload):
    """What comes only after the retry has caught up goes behind what was kept."""
    upstream = body_server((8 * MIB, 503), 200)
    proxy = spooling(upstream.url)
    call = upload(proxy.url + "/up", SIZE, pause_at=10 * MIB)
    eventually(lambda: len(upstream.requests) == 2 and upstream.requests[1].count >= 9 * MIB, within=20)
    assert proxy.metrics().total("martlet_spool_files") == 1
    assert len(proxy.spool_files()) == 1
    call.go.set()
    assert call.result() == (digest(SIZE), 200)


@pytest.mark.parametrize("http2", [False, True])
def test_over_http_2_to_the_upstream(spooling, martlet, body_server, upload, http2):
    servers = body_server((3 * MIB, 503), 503, 200)
    between = martlet(upstream=servers.url)
    proxy = spooling(between.url.replace("http:", "h2c:"))
    assert upload(proxy.url + "/up", SIZE, http2=http2).result() == (digest(SIZE), 200)
    check_nothing_left(proxy)


def test_a_small_rest_needs_no_file(spooling, body_server, upload, spool):
    upstream = body_server(503, 200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", 150_000).result() == (digest(150_000), 200)
    assert "martlet-spool" not in proxy.thread_names()


@pytest.mark.parametrize("count", [None, 5 * MIB])
@pytest.mark.parametrize("http2", [False, True])
def test_with_a_new_token(spooling, body_server, upload, running, tmp_path, count, http2):
    """The upstream rejects the token, whose source has another one by then."""
    token = tmp_path / "token"
    token.write_text("old")
    script = tmp_path / "print-token"
    script.write_text(f"#!/bin/sh\ncat {token}\n")
    script.chmod(0o755)
    upstream = body_server((count, 200) if count else 200, 200, rejected=b"Bearer old")
    exec_token = {"exec": {"command": [str(script)]}, "allow_clear_text": True}
    proxy = spooling(upstream.url, interceptors=[{"token": exec_token}, "log"])
    call = upload(proxy.url + "/up", SIZE, http2=http2, pause_at=6 * MIB)
    eventually(lambda: upstream.requests and upstream.requests[0].count >= 1 * MIB, within=20)
    token.write_text("new")
    call.go.set()
    assert call.result() == (digest(SIZE), 200)
    assert [b"Bearer new" in request.head for request in upstream.requests] == [False, True]


def test_after_a_reset(spooling, body_server, upload):
    upstream = body_server((6 * MIB, "reset"), 200)
    rule = {"when": {"error": "reset"}, "retry": {"immediate": {}, "allow_non_idempotent": True}}
    proxy = spooling(upstream.url, rules=[rule])
    assert upload(proxy.url + "/up", SIZE).result() == (digest(SIZE), 200)
    check_nothing_left(proxy)


def test_at_another_address(spooling, body_server, upload):
    first, second = body_server(503), body_server(200)
    addresses = {"addresses": [server.url.removeprefix("http://") for server in (first, second)], "balance": "round_robin"}
    proxy = spooling(first.url, upstream=addresses)
    for _ in range(2):
        assert upload(proxy.url + "/up", SIZE).result() == (digest(SIZE), 200)
    assert len(first.requests) >= 1 and {request.count for request in second.requests} == {SIZE}


@pytest.mark.parametrize("type, make", [("application/proto", pieces), ("application/connect+proto", envelopes)])
@pytest.mark.parametrize("http2", [False, True])
def test_in_connect(spooling, body_server, upload, http2, type, make):
    upstream = body_server((7 * MIB, 503), 200)
    proxy = spooling(upstream.url)
    headers = ["-X", "POST", "-H", f"content-type: {type}", "-H", "connect-protocol-version: 1"]
    body, status = upload(proxy.url + "/shop.v1.Files/Put", SIZE, *headers, make=make, http2=http2).result()
    assert (body, status) == (digest(SIZE, make), 200)
    assert json.loads(proxy.stdout.wait('"attempts":2').string)["protocol"].startswith("connect")


def test_in_a_stream_of_grpc(spooling, grpc_service, grpc_channel):
    """The first attempt ends in the middle of the stream."""
    attempts = []

    def upload(requests, context):
        attempts.append(0)
        own = hashlib.sha1()
        for request in requests:
            own.update(request)
            attempts[-1] += 1
            if len(attempts) == 1 and attempts[0] == 100:
                context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
        return own.hexdigest().encode()

    rule = {"when": {"code": "unavailable"}, "retry": {"immediate": {}, "allow_non_idempotent": True}}
    proxy = spooling(grpc_service({"Upload": upload}).url, rules=[rule])
    channel = grpc_channel(proxy)
    assert channel.upload(pieces(SIZE), timeout=40) == digest(SIZE).encode()
    assert attempts == [100, -(-SIZE // len(next(pieces(SIZE))))]
    check_nothing_left(proxy)


def test_an_early_response_does_not_end_the_request(spooling, grpc_service, grpc_channel):
    """The head of the second response comes while the kept part of the stream is still being sent."""
    attempts = []
    seen = threading.Event()

    def converse(requests, context):
        attempts.append(0)
        if len(attempts) == 1:
            for _ in range(100):
                next(requests)
            context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
        yield b"begun"
        seen.wait(20)
        own = hashlib.sha1()
        for request in requests:
            own.update(request)
        yield own.hexdigest().encode()

    rule = {"when": {"code": "unavailable"}, "retry": {"immediate": {}, "allow_non_idempotent": True}}
    proxy = spooling(grpc_service({"Converse": converse}).url, rules=[rule])
    responses = grpc_channel(proxy).converse(pieces(SIZE), timeout=40)
    assert next(responses) == b"begun"
    seen.set()
    assert list(responses) == [digest(SIZE).encode()]
    check_nothing_left(proxy)
