"""The log of a call shows how long the connect and the TLS handshake of a new connection took."""

import json
import re
import socket

import pytest
from support.http1.recorder import OK
from support.wait import eventually

STEPS = {"dns_ms", "tcp_ms", "tls_ms", "http2_ms"}


@pytest.fixture
def logged(martlet, tmp_path):
    """Starts a daemon with a log, and a function that reads as many lines as there are calls."""

    def start(upstream, chain="", name="default"):
        log = tmp_path / "access.log"
        proxy = martlet(
            f"workers: 1\nlisten: 127.0.0.1:0\nupstreams:\n  {name}: {upstream}\n"
            f"interceptors:\n  - log: {{ to: {log} }}\n{chain}"
        )

        def lines(count):
            return eventually(lambda: log.exists() and len(found := log.read_text().splitlines()) >= count and [json.loads(line) for line in found])

        return proxy, lines

    return start


def keep(peer):
    while peer.request():
        peer.send(OK)


def test_a_new_connection_over_tls(logged, recorder, authority, command):
    ours = authority()
    upstream = recorder(script=keep, tls=ours.issue("localhost").server())
    proxy, lines = logged(f'{{ url: "https://localhost:{upstream.port}", tls: {{ ca: {ours.file} }} }}')
    with proxy.http() as http:
        for _ in range(2):
            assert http.get("/").status_code == 200
    first, second = (line["stages"] for line in lines(2))
    assert STEPS & first.keys() == {"tcp_ms", "tls_ms"}, first
    assert sum(first[step] for step in STEPS & first.keys()) <= first["connect_ms"] + 0.001
    # The second call has the connection of the first.
    assert not STEPS & second.keys(), second
    printed = command("calls", "-c", proxy.file).stdout.text
    assert re.findall(r"^  (connect|TLS) ", printed, re.MULTILINE) == ["connect", "TLS"], printed


def test_no_name_and_no_tls(logged, recorder):
    upstream = recorder(script=keep)
    proxy, lines = logged(upstream.url)
    with proxy.http() as http:
        http.get("/")
    (line,) = lines(1)
    assert STEPS & line["stages"].keys() == {"tcp_ms"}


def test_each_attempt_of_a_retried_call(logged, recorder, command):
    def fail_once(request):
        return OK if len(upstream.requests) > 1 else b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"

    upstream = recorder(fail_once)
    proxy, lines = logged(upstream.url, "  - validate: { max_retries: 2, rules: [ { when: { status: 503 }, retry: { delayed: 30ms } } ] }\n")
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    (line,) = lines(1)
    first, second = line["attempt_times"]
    assert (first["result"], first["status"], second["result"], second["status"]) == ("ok", 503, "ok", 200)
    assert {"tcp_ms"} == STEPS & first.keys() and not STEPS & second.keys()
    assert second["began_ms"] >= first["ended_ms"] + 29
    assert first["address"] == second["address"] == f"127.0.0.1:{upstream.port}"
    printed = command("calls", "-c", proxy.file).stdout.text
    assert re.findall(r"^  (?:(attempt \d|pause) .* ms(.*?)(?: 127.0.0.1:\d+)?)$", printed, re.MULTILINE) == [
        ("attempt 1", " HTTP 503"),
        ("pause", ""),
        ("attempt 2", " ok"),
    ], printed


def test_an_attempt_that_found_nobody(logged, command):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    proxy, lines = logged(f"http://127.0.0.1:{port}")
    with proxy.http() as http:
        assert http.get("/").status_code == 503
    (line,) = lines(1)
    assert "attempt_times" not in line and line["stages"]["tcp_ms"] > 0
