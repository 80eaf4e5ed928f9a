"""One line for each call: who called which method, its status, its durations and which part decided."""

import json
import re

from support import protocol
from support.http1.recorder import JSON
from support.wait import eventually

KEYS = {
    *["time", "call", "listener", "peer", "protocol", "service", "method", "http_method", "host", "path", "route"],
    *["upstream", "upstream_host", "code", "status", "request_bytes", "response_bytes", "duration_ms", "stages", "attempts"],
    "decided_by",
}


def lines(proxy, count):
    proxy.stdout.wait(r"^\{.*\}$", count=count)
    return [json.loads(line) for line in proxy.stdout]


def test_a_successful_call(martlet, recorder):
    upstream = recorder(response=JSON)
    proxy = martlet(upstream=upstream.url, more="interceptors: [{log: {}}]")
    with proxy.http() as http:
        protocol.CONNECT_UNARY_JSON.call(http, headers={"host": "a.example"})
    (line,) = lines(proxy, 1)
    assert set(line) == KEYS
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])
    assert re.fullmatch(r"[0-9a-f]{32}", line["call"])
    assert re.fullmatch(r"127\.0\.0\.1:\d+", line["peer"])
    expected = {
        "listener": proxy.addresses[0],
        "protocol": "connect_unary",
        "service": "connectrpc.eliza.v1.ElizaService",
        "method": "Say",
        "http_method": "POST",
        "host": "a.example",
        "upstream_host": f"127.0.0.1:{upstream.port}",
        "path": "/connectrpc.eliza.v1.ElizaService/Say",
        "upstream": "default",
        "code": "ok",
        "status": 200,
        "request_bytes": len(protocol.HELLO_JSON),
        "response_bytes": 2,
        "attempts": 1,
        "decided_by": "upstream",
    }
    assert {key: line[key] for key in expected} == expected
    assert set(line["stages"]) == {"chain_ms", "connect_ms", "tcp_ms", "first_byte_ms"}
    assert 0 < line["stages"]["first_byte_ms"] <= line["duration_ms"]


def test_the_deciding_part(martlet, recorder, tmp_path):
    upstream = recorder(response=b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n")
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - log: {{ to: {tmp_path}/access.log }}
          - log: {{}}
            name: again
          - name: gate
            when: {{ path: /closed }}
            reject: {{ code: permission_denied, message: "no\\n\\"way\\"" }}
        routes: [ {{ match: {{ path: [/closed, /open] }} }} ]
        """
    )
    with proxy.http() as http:
        for path in ("/closed", "/open", "/nowhere"):
            http.get(path)
    seen = {line["path"]: line for line in lines(proxy, 3)}
    assert (seen["/closed"]["code"], seen["/closed"]["status"]) == ("permission_denied", 403)
    assert seen["/closed"]["decided_by"] == "interceptor:gate"
    assert seen["/closed"]["message"] == 'no\n"way"'
    assert (seen["/closed"]["attempts"], seen["/closed"]["route"]) == (0, 0)
    assert seen["/closed"]["stages"] == {}  # it came to none of them
    assert (seen["/open"]["code"], seen["/open"]["decided_by"]) == ("unimplemented", "upstream")
    assert seen["/open"]["protocol"] == "http"
    log = tmp_path / "access.log"
    eventually(lambda: log.read_bytes().count(b"\n") == 3, what="the lines of the file")
    written = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line["call"] for line in seen.values()} == {line["call"] for line in written}


def test_each_protocol_has_its_name(martlet, recorder):
    proxy = martlet(upstream=recorder().url, more="interceptors: [{log: {}}]")
    with proxy.http() as http:
        for caller in protocol.ALL:
            caller.call(http)
    assert [line["protocol"] for line in lines(proxy, len(protocol.ALL))] == [
        *["connect_unary", "connect_unary", "connect_get", "connect_stream", "connect_stream"],
        *["grpc_web", "grpc_web_text", "http"],
    ]
