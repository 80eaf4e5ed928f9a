"""A distinct value is put into each place that a credential may have in a call, and no output of Martlet has any of them."""

import base64
import json
from urllib.parse import quote

import grpc
import pytest
from support import protocol
from support.servers.otlp_receiver import OTLPReceiver
from support.wait import eventually

# The values of header fields, by their names.
FIELDS = {
    "authorization": "Bearer {}",
    "proxy-authorization": "Basic {}",
    "cookie": "id={}; theme=dark",
    "x-api-key": "{}",
    "x-auth-token": "{}",
    "x-auth-bin": "{}",
    "x-amz-security-token": "{}",
    "x-csrf-token": "{}",
    "x-ssn": "{}",
    "referer": "https://user:{}@shop.example/a?b=c",
    "x-original-url": "/login?access_token={}#id",
    "x-forwarded-uri": "/go?to=https%3A%2F%2Fh%2F%3Fcode%3D{}",
    "x-fragment": "https://shop.example/cb#access_token={}",
    "x-forwarded-user": "Bearer {}",
    "x-grant": "eyJhbGciOiJub25lIn0.{}.c2ln",
}
FORM = ["password", "client_secret", "refresh_token", "code", "assertion", "user[passwd]"]
PARAMETERS = ["access_token", "token", "key", "api_key", "X-Amz-Signature", "code", "password", "t%6Fken"]
RESPONSE_FIELDS = {
    "set-cookie": "id={}; secure",
    "x-auth-token": "{}",
    "location": "https://user:{}@shop.example/cb",
    "content-location": "/cb?code={}",
    "refresh": "0; url=/cb?token={}",
    "link": "<https://shop.example/cb?api_key={}>; rel=next",
    "trailer-x-session-id": "{}",
}
LOGGED = ", ".join(FIELDS)


class Honey:
    """Distinct values by their places."""

    def __init__(self):
        self.values = {}

    def __call__(self, place):
        return self.values.setdefault(place, f"h0ney{len(self.values):03}pot9")

    def found(self, text):
        return sorted(place for place, value in self.values.items() if any(each in text for each in spellings(value)))


def spellings(value):
    yield from (value, value.encode().hex())
    for offset in range(3):
        yield base64.b64encode(b"\0" * offset + value.encode()).decode()[4 if offset else 0 :].rstrip("=")[:-2]


@pytest.fixture
def honey():
    return Honey()


def failing(honey):
    """An upstream whose errors repeat what it got, in each protocol."""

    def respond(request):
        got = [request.header(name) or "" for name in ("authorization", "x-api-key", "x-ssn", "x-upstream-token", "x-program-key", "cookie")]
        words = f"cannot accept {' or '.join(got)} with {request.target}"
        fields = "".join(f"{name}: {value.format(honey(f'response {name}'))}\r\n" for name, value in RESPONSE_FIELDS.items())
        kind = request.header("content-type") or ""
        if kind.startswith("application/grpc"):
            fields += f"grpc-status: 10\r\ngrpc-message: {quote(words, safe=' ')}\r\n"
            fields += f"grpc-status-details-bin: {base64.b64encode(words.encode()).decode()}\r\n"
            return f"HTTP/1.1 200 OK\r\n{fields}content-type: {kind}\r\ncontent-length: 0\r\n\r\n".encode()
        body = json.dumps({"code": "aborted", "message": words}) if kind not in ("", "text/plain", "application/x-www-form-urlencoded") or "connect=v1" in request.target else "no"
        if kind.startswith("application/connect"):
            body = protocol.envelope(2, json.dumps({"error": {"code": "aborted", "message": words}}).encode()).decode("latin1")
            return f"HTTP/1.1 200 OK\r\n{fields}content-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode("latin1")
        return f"HTTP/1.1 409 No\r\n{fields}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()

    return respond


@pytest.fixture
def receiver():
    made = OTLPReceiver()
    yield made
    made.stop()


@pytest.fixture
def start(martlet, recorder, receiver, honey, tmp_path):
    def start(speaks="same"):
        upstream = recorder(failing(honey))
        (tmp_path / "token").write_text(honey("token of a file"))
        (tmp_path / "program").write_text(f"#!/bin/sh\necho {honey('token of a program')}\n")
        (tmp_path / "program").chmod(0o700)
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            log_level: debug
            upstreams:
              default: {{ url: "{upstream.url}", speaks: {speaks}, defaults: {{ headers: {{ x-key-token: "{{env:KEY}}" }} }} }}
            telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}
            mocks:
              spy:
                methods:
                  Mocked: [ {{ respond: {{ code: not_found, message: "{MOCKED}" }} }} ]
                  Unary: [ {{ respond: {{ code: not_found, message: "no {{header:x-api-key}}" }} }} ]
            interceptors:
              - log: {{ headers: [{LOGGED}] }}
              - trace: {{ sample: "1", attributes: {{ a: "{{header:authorization}}", b: "{{header:referer}}" }} }}
              - redact: {{ headers: [x-ssn], json: [/note] }}
              - {{ name: file, token: {{ file: {tmp_path}/token, header: x-upstream-token }} }}
              - {{ name: program, token: {{ exec: {{ command: {tmp_path}/program }}, header: x-program-key }} }}
              - record: {{ to: {tmp_path}/tape.yaml }}
              - mock: {{ name: spy, unmatched: next }}
            """,
            environment={"KEY": honey("default of the upstream")},
        )
        return proxy, upstream

    return start


MOCKED = "no {json:/note} or {body} or {header:x-api-key} or {header:referer} or {query:token}"


def request_fields(honey):
    return {name: value.format(honey(f"request {name}")) for name, value in FIELDS.items()}


def metadata(honey):
    return [(name, value.encode() if name.endswith("-bin") else value) for name, value in request_fields(honey).items()]


def form(honey):
    return {"user": "ann"} | {name: honey(f"form {name}") for name in FORM}


def query(honey):
    return "&".join(f"{name}={honey(f'query {name}')}" for name in PARAMETERS)


CALLERS = [
    protocol.CONNECT_UNARY_JSON,
    protocol.CONNECT_UNARY_PROTO,
    protocol.CONNECT_STREAM_JSON,
    protocol.GRPC_WEB,
    protocol.GRPC_WEB_TEXT,
    protocol.PLAIN,
]


def call_all(proxy, honey):
    """Makes calls in each protocol, and returns their number."""
    fields, count = request_fields(honey), 0
    plain = {name: value for name, value in fields.items() if name != "x-auth-bin"}
    for versions in ({"http1": True, "http2": False}, {"http1": False, "http2": True}):
        with proxy.http(timeout=20, **versions) as http:
            for caller in CALLERS:
                caller.call(http, headers=fields)
                count += 1
            http.get(f"/page?{query(honey)}", headers=plain)
            http.get(f"/go/https://user:{honey('path')}@h/", headers=plain)
            message = quote(json.dumps({"note": honey("connect get")}))
            http.get(f"{protocol.SAY}?connect=v1&encoding=json&message={message}", headers=plain)
            http.post("/a.B/Mocked?token=" + honey("query of a mock"), json={"note": honey("mocked note")}, headers=fields)
            http.post(protocol.SAY, json={"note": honey("note")}, headers=fields)
            http.post("/login", data=form(honey), headers=plain)
            count += 6
    return count


def outputs(proxy, seen, tmp_path, command, receiver):
    """The text of each output, by its name."""
    ids = {event["call"] for event in seen.events if "call" in event}
    views = [f"view={view}&with={tool}" for view in ("caller", "upstream") for tool in ("curl", "buf")]
    (tmp_path / "old.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n")
    pages = ["/", "/calls/recent", "/calls/active", "/mocks", "/mocks/spy/calls", "/metrics", "/config", "/status", "/upstreams", "/credentials"]
    (tmp_path / "verify.yaml").write_text("spy: [ { method: Mocked, times: 99 }, { method: Say } ]\n")
    diff = command("diff", tmp_path / "old.yaml", tmp_path / "martlet.yaml")
    admin = ("--admin", f"unix:{proxy.admin_socket}")
    return {page: proxy.admin(page).text for page in pages} | {
        "log": proxy.stdout.text,
        "stderr": proxy.stderr.text,
        "tap": json.dumps(seen.events),
        "tape": (tmp_path / "tape.yaml").read_text(),
        "repeat": "".join(proxy.admin(f"/calls/{call}/curl?{view}").text for call in ids for view in views),
        "verify": command("verify", tmp_path / "verify.yaml", *admin).stdout.text,
        "calls": command("calls", *admin).stdout.text,
        "diff": diff.stdout.text + diff.stderr.text,
        "spans": "".join(f"{span.attributes} {span.events} {span.message}" for span in receiver.spans),
    }


@pytest.mark.parametrize("speaks", ["same", "connect"])
def test_no_output_shows_a_credential(start, honey, tap, command, receiver, tmp_path, speaks, grpc_channel):
    proxy, upstream = start(speaks)
    seen = tap(proxy, messages="true", rate="10000/s")
    count = call_all(proxy, honey)
    with pytest.raises(grpc.RpcError, match=honey("request x-api-key")):
        grpc_channel(proxy).unary(b"", metadata=metadata(honey), timeout=20)
    count += 1
    seen.until("end", count)
    proxy.stdout.wait('"decided_by"', count=count)
    eventually(lambda: len(receiver.spans) >= count, what="spans")
    eventually(lambda: (tmp_path / "tape.yaml").read_text().count("\n...\n") >= count // 2, what="recorded calls")
    # The upstream gets all of it.
    sent = upstream.bytes.decode("latin1")
    assert {"request authorization", "query token", "token of a file", "token of a program", "default of the upstream", "form password"} <= set(honey.found(sent))
    leaks = {name: found for name, text in outputs(proxy, seen, tmp_path, command, receiver).items() if (found := honey.found(text))}
    assert not leaks, json.dumps(leaks)


def test_explain(command, honey, tmp_path):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n")
    options = [word for name, value in request_fields(honey).items() if name != "x-ssn" for word in ("-H", f"{name}: {value}")]
    result = command("explain", "-c", tmp_path / "martlet.yaml", "GET", f"/page?{query(honey)}", *options)
    assert result.code == 0, result.stderr.text
    assert honey.found(result.stdout.text + result.stderr.text) == []


def test_a_report_of_tests(command, honey, tmp_path):
    fields = {name: value for name, value in request_fields(honey).items() if name not in ("x-ssn", "x-auth-bin")}
    wrong = dict.fromkeys(fields, "another value")
    (tmp_path / "martlet.yaml").write_text(
        f"""
listen: 127.0.0.1:0
upstream: http://127.0.0.1:9
interceptors:
  - redact: {{ json: [/note] }}
  - headers: {{ request: {{ set: {json.dumps(fields)} }} }}
"""
    )
    respond = {"json": {"note": honey("note of a response")}}
    test = {
        "name": "a test that fails",
        "given": {"upstreams": {"default": {"mock": {"rules": [{"respond": respond}]}}}},
        "call": {"method": "a.B/Say", "json": {"note": honey("note of a test")}},
        "expect": {"request": {"headers": wrong, "json": {"/note": "x"}}, "response": {"json": {"/note": "y"}}},
    }
    (tmp_path / "a.tests.yaml").write_text(json.dumps({"config": "martlet.yaml", "tests": [test]}))
    for format in ((), ("-o", "json")):
        result = command("test", tmp_path / "a.tests.yaml", *format)
        assert result.code == 1, result.stderr.text
        assert honey.found(result.stdout.text + result.stderr.text) == []
        assert "request.headers.authorization" in result.stdout.text and "note" in result.stdout.text, result.stdout.text


def test_the_search_finds_a_value_that_is_there(honey):
    value = honey("place")
    for text in [value, value.encode().hex(), *(base64.b64encode(b"a" * n + value.encode()).decode() for n in range(3))]:
        assert honey.found(f"x {text} x") == ["place"], text
