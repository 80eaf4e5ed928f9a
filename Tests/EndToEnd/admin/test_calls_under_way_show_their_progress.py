"""`/calls/active` and `martlet calls --active` show what a call is at, and how much of its bodies has passed."""

import json
import re
import socket
import threading

import pytest
from support.large_body import MIB, BodyServer, Upload, digest
from support.wait import eventually

LENGTH = 1 << 20


def active(proxy):
    return json.loads(proxy.admin("/calls/active").text)["calls"]


def only(proxy):
    calls = eventually(lambda: active(proxy))
    assert len(calls) == 1
    return calls[0]


@pytest.mark.parametrize("http2", [False, True])
def test_a_long_response(martlet, recorder, command, http2):
    steps = [threading.Event() for _ in range(3)]

    def script(peer):
        peer.request()
        steps[0].wait(10)
        peer.send(f"HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n".encode())
        for step in steps[1:]:
            peer.send(bytes(LENGTH // 4))
            step.wait(10)
        peer.send(bytes(LENGTH // 2))

    proxy = martlet(upstream=recorder(script=script).url)
    received = []

    def call():
        with proxy.http(http2=http2, http1=not http2) as client:
            received.append(len(client.get("/big?secret=1", headers={"host": "a"}).content))

    caller = threading.Thread(target=call)
    caller.start()
    eventually(lambda: only(proxy)["phase"] == "attempt")
    call = only(proxy)
    assert (call["phase"], call["upstream"], call["path"], call["response_bytes"]) == ("attempt", "default", "/big", 0)
    assert "secret" not in str(call) and "code" not in call
    shares = []
    for step in steps[:2]:
        before = only(proxy)["response_bytes"]
        step.set()
        eventually(lambda before=before: (found := active(proxy)) and found[0]["response_bytes"] >= before + LENGTH // 4)
        call = only(proxy)
        assert call["response_length"] == LENGTH and call["status"] == 200 and call["bytes_per_s"] > 0
        shares.append((call["response_bytes"], call["response_share"]))
    assert shares == [(LENGTH // 4, 0.25), (LENGTH // 2, 0.5)]
    result = command("calls", "--active", "-c", proxy.file)
    assert re.match(r"[0-9a-f]{6} attempt for ", result.stdout.text) and " http GET /big → default" in result.stdout.text
    assert "response " + "█" * 20 + "░" * 20 + f" 50 % of {LENGTH} bytes" in result.stdout.text
    steps[2].set()
    caller.join()
    assert received == [LENGTH]
    eventually(lambda: active(proxy) == [])


def test_a_long_request(martlet, recorder):
    done = threading.Event()
    proxy = martlet(upstream=recorder(script=lambda peer: peer.request() and done.wait(10)).url)
    with socket.create_connection(proxy.address) as connection:
        connection.sendall(f"POST /up HTTP/1.1\r\nhost: a\r\ncontent-length: {LENGTH}\r\n\r\n".encode() + bytes(1000))
        eventually(lambda: active(proxy) and active(proxy)[0]["request_bytes"] == 1000)
        assert only(proxy)["request_length"] == LENGTH and only(proxy)["request_share"] == 0
        connection.sendall(bytes(2000))
        eventually(lambda: active(proxy)[0]["request_bytes"] == 3000)
        assert only(proxy)["request_share"] == 0.002
        # All but a byte is not all.
        connection.sendall(bytes(LENGTH - 3001))
        eventually(lambda: active(proxy)[0]["request_bytes"] == LENGTH - 1)
        assert only(proxy)["request_share"] == 0.999
        connection.sendall(bytes(1))
        eventually(lambda: active(proxy)[0]["request_bytes"] == LENGTH)
        assert only(proxy)["request_share"] == 1
        done.set()
    eventually(lambda: active(proxy) == [])


def test_a_body_of_unknown_length(martlet, recorder):
    proxy = martlet(upstream=recorder(script=lambda peer: peer.request()).url)
    with socket.create_connection(proxy.address) as connection:
        connection.sendall(b"POST /up HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n")
        eventually(lambda: active(proxy) and active(proxy)[0]["request_bytes"] == 3)
        assert not {"request_share", "request_length", "response_share"} & set(only(proxy))


@pytest.mark.parametrize("http2", [False, True])
def test_a_request_that_is_retried_from_a_file(martlet, running, tmp_path, http2):
    """A retry takes nothing back of what has passed."""
    upstream = running(BodyServer((6 * MIB, 503), 200))
    limits = f"limits: {{ spool: {tmp_path} }}"
    rule = "{ when: { status: 503 }, retry: { immediate: {}, allow_non_idempotent: true } }"
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{upstream.url}', {limits} }} }}\n"
        f"interceptors: [ {{ validate: {{ max_retries: 1, rules: [ {rule} ] }} }} ]"
    )
    call = running(Upload(proxy.url + "/up", 16 * MIB, has_length=True, http2=http2, pause_at=8 * MIB))
    shares = []

    def is_retried():
        shares.append(only(proxy)["request_share"])
        return only(proxy)["attempts"] == 2

    eventually(is_retried, within=20)
    eventually(lambda: only(proxy)["request_bytes"] == 8 * MIB)
    assert only(proxy)["request_share"] == 0.5 and 7 * MIB < only(proxy)["spooled_bytes"] < 8 * MIB
    assert shares == sorted(shares)
    call.go.set()
    assert call.result() == (digest(16 * MIB), 200)


def test_what_a_call_waits_for(martlet, recorder):
    proxy = martlet(upstream=recorder().url, more="interceptors: [ { name: nap, fault: { delay: 5s } } ]")
    with socket.create_connection(proxy.address) as first, socket.create_connection(proxy.address) as second:
        first.sendall(b"GET /first HTTP/1.1\r\nhost: a\r\n\r\n")
        eventually(lambda: len(active(proxy)) == 1)
        second.sendall(b"GET /second HTTP/1.1\r\nhost: a\r\n\r\n")
        calls = eventually(lambda: len(found := active(proxy)) == 2 and found)
        # The oldest comes first, whichever worker has it.
        assert [call["path"] for call in calls] == ["/first", "/second"]
        assert {call["phase"] for call in calls} == {"waiting"}
        assert calls[0]["elapsed_ms"] >= calls[1]["elapsed_ms"]


def test_without_a_call(martlet, recorder, command):
    proxy = martlet(upstream=recorder().url)
    assert active(proxy) == []
    result = command("calls", "--active", "-c", proxy.file)
    assert (result.code, result.stdout.text) == (0, "")
    assert command("calls", "--active", "--code", "ok", "-c", proxy.file).code == 2
