"""A distinct value is put into each place that a credential may have in a call, and no output of Martlet has any of them."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import quote

import grpc
import pytest
from support import protocol
from support.honey import FIELDS, TRAILERS, Honey, RepeatingUpstream, with_sentence
from support.http2 import h2_peer
from support.schemas import compiled
from support.servers.otlp_receiver import OTLPReceiver
from support.wait import eventually

LOGGED = ", ".join(FIELDS)


@pytest.fixture
def honey():
    return Honey()


@pytest.fixture
def receiver():
    made = OTLPReceiver()
    yield made
    made.stop()


@pytest.fixture
def start(martlet, recorder, h2_recorder, receiver, honey, tmp_path):
    def start(speaks, version, typed):
        repeating = RepeatingUpstream(honey)
        upstream = recorder(repeating.http1) if version == 1 else h2_recorder(repeating.http2)
        (tmp_path / "eliza.binpb").write_bytes(compiled(Path(__file__).parents[1] / "support/servers", "eliza.proto"))
        (tmp_path / "token").write_text(honey("token of a file"))
        (tmp_path / "program").write_text(f"#!/bin/sh\necho {honey('token of a program')}\n")
        (tmp_path / "program").chmod(0o700)
        types = f"types: {{ files: {tmp_path}/eliza.binpb }}" if typed else ""
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            log_level: debug
            upstreams:
              default: {{ url: "{upstream.url}", speaks: {speaks}, defaults: {{ headers: {{ x-key-token: "{{env:KEY}}" }} }} }}
            telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}
            {types}
            mocks:
              spy:
                methods:
                  Mocked: [ {{ respond: {{ code: not_found, message: "{MOCKED}" }} }} ]
            interceptors:
              - log: {{ headers: [{LOGGED}] }}
              - trace: {{ sample: "1", attributes: {{ a: "{{header:authorization}}", b: "{{header:referer}}" }} }}
              - redact: {{ headers: [x-ssn], json: [/note, /sentence] }}
              - {{ name: file, token: {{ file: {tmp_path}/token, header: x-upstream-token }} }}
              - {{ name: program, token: {{ exec: {{ command: {tmp_path}/program }}, header: x-program-key }} }}
              - {{ when: {{ path: /never }}, name: other, token: {{ env: OTHER }} }}
              - when: {{ path: /never }}
                name: client
                token: {{ oauth2: {{ token_url: http://127.0.0.1:9/, client_id: c, client_secret: {{ env: CLIENT_SECRET }} }} }}
              - record: {{ to: {tmp_path}/tape.yaml }}
              - mock: {{ name: spy, unmatched: next }}
            """,
            environment={
                "KEY": honey("default of the upstream"),
                "OTHER": honey("token of another interceptor"),
                "CLIENT_SECRET": honey("client secret"),
            },
        )
        return proxy, upstream

    return start


MOCKED = "no {json:/note} or {body} or {header:x-api-key} or {header:referer} or {query:token}"


def request_fields(honey):
    return honey.fields("request", FIELDS)


def metadata(honey):
    return [(name, value.encode() if name.endswith("-bin") else value) for name, value in request_fields(honey).items()]


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
                with_sentence(caller, honey(f"sentence of {caller}")).call(http, headers=fields)
                count += 1
            http.get(f"/page?{honey.query()}", headers=plain)
            http.get(f"/go/https://user:{honey('path')}@h/", headers=plain)
            message = quote(json.dumps({"sentence": honey("connect get")}))
            http.get(f"{protocol.SAY}?connect=v1&encoding=json&message={message}", headers=plain)
            http.post("/a.B/Mocked?token=" + honey("query of a mock"), json={"note": honey("mocked note")}, headers=fields)
            http.post(protocol.SAY, json={"sentence": honey("note")}, headers=fields)
            http.post("/login", data=honey.form("form"), headers=plain)
            parts = {"content-type": "multipart/form-data; boundary=b1"}
            http.post("/login", content=honey.parts("part"), headers=plain | parts)
            http.get("/form", headers=plain)
            http.get("/parts", headers=plain)
            count += 9
    return count + call_with_trailers(proxy, honey)


def call_with_trailers(proxy, honey):
    trailers = honey.fields("request trailer", TRAILERS)
    lines = "".join(f"{name}: {value}\r\n" for name, value in trailers.items())
    caller = proxy.connect()
    caller.send(f"POST /trailers HTTP/1.1\r\nhost: a\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{lines}\r\n".encode())
    assert caller.response("POST").status >= 400
    peer = proxy.connect_h2()
    stream = peer.open(h2_peer.request("/trailers", "POST", ("te", "trailers")))
    peer.data(stream.id, b"{}")
    peer.headers(stream.id, list(trailers.items()), end=True)
    peer.finish(stream)
    return 2


def pages(proxy):
    """The admin pages that show something at once."""
    listed = set(re.findall(r"GET +(/[a-z/]*)(?=[ \n])", proxy.admin("/").text)) - {"/tap"}
    assert {"/calls/recent", "/calls/active", "/metrics", "/config", "/status", "/upstreams", "/credentials", "/mocks"} <= listed
    return listed | {"/", "/mocks/spy/calls"}


def outputs(proxy, seen, tmp_path, command, receiver):
    """The text of each output, by its name."""
    ids = {event["call"] for event in seen.events if "call" in event}
    views = [f"view={view}&with={tool}" for view in ("caller", "upstream") for tool in ("curl", "grpcurl", "buf")]
    (tmp_path / "old.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n")
    (tmp_path / "verify.yaml").write_text("spy: [ { method: Mocked, times: 99 }, { method: Say } ]\n")
    diff = command("diff", tmp_path / "old.yaml", tmp_path / "martlet.yaml")
    admin = ("--admin", f"unix:{proxy.admin_socket}")
    return {page: proxy.admin(page).text for page in pages(proxy)} | {
        "log": proxy.stdout.text,
        "stderr": proxy.stderr.text,
        "tap": json.dumps(seen.events),
        "tape": (tmp_path / "tape.yaml").read_text(),
        "repeat": "".join(proxy.admin(f"/calls/{call}/curl?{view}").text for call in ids for view in views),
        "verify": command("verify", tmp_path / "verify.yaml", *admin).stdout.text,
        "calls": command("calls", *admin).stdout.text,
        "status": command("status", *admin).stdout.text,
        "diff": diff.stdout.text + diff.stderr.text,
        "spans": "".join(f"{span.name} {span.attributes} {span.events} {span.message}" for span in receiver.spans),
        "metrics": "".join(str(metric) for snapshot in receiver.snapshots for metric in snapshot.values()),
    }


# What shows calls with their errors: something of them is masked there.
OF_CALLS = ["log", "tap", "tape", "repeat", "calls", "verify", "spans", "/calls/recent", "/mocks/spy/calls"]
SENT = ["request authorization", "token of a file", "token of a program", "default of the upstream", "note"]
SENT_PLAIN = ["query token", "form password", "part password", "request trailer x-auth-token"]


@pytest.mark.parametrize(
    "speaks, version, typed",
    [("same", 1, False), ("same", 2, False), ("same", 2, True), ("connect", 1, True), ("grpc", 2, True)],
)
def test_no_output_shows_a_credential(start, honey, tap, command, receiver, tmp_path, speaks, version, typed, grpc_channel):
    proxy, upstream = start(speaks, version, typed)
    seen = tap(proxy, messages="true", rate="10000/s")
    count = call_all(proxy, honey)
    channel = grpc_channel(proxy)
    with pytest.raises(grpc.RpcError):
        channel.unary(b"", metadata=metadata(honey), timeout=20)
    count += 1
    seen.until("end", count)
    proxy.stdout.wait('"decided_by"|"code"', count=count)
    eventually(lambda: len(receiver.spans) >= count, what="spans")
    eventually(lambda: (tmp_path / "tape.yaml").read_text().count("\n...\n") >= count // 2, what="recorded calls")
    # The upstream gets all of it; one of gRPC gets no plain HTTP.
    streams = [] if version == 1 else [(stream.fields, bytes(stream.body), stream.trailers) for stream in upstream.streams]
    sent = upstream.bytes.decode("latin1") if version == 1 else str(streams)
    assert {*SENT, *([] if speaks == "grpc" else SENT_PLAIN)} <= set(honey.found(sent))
    shown = outputs(proxy, seen, tmp_path, command, receiver)
    leaks = {name: found for name, text in shown.items() if (found := honey.found(text))}
    assert not leaks, json.dumps(leaks)
    assert [name for name in OF_CALLS if "***" not in shown[name]] == []


@pytest.mark.parametrize("version", [1, 2])
def test_callers_get_everything(start, honey, version):
    proxy, _ = start("same", version, True)
    fields = request_fields(honey)
    with proxy.http(timeout=20) as http:
        caller = with_sentence(protocol.CONNECT_UNARY_JSON, honey("sentence"))
        error = caller.call(http, headers=fields).json()
        form = http.get("/form").text
        parts = http.get("/parts").text
    places = ["client secret", "default of the upstream", "request authorization", "request x-ssn", "sentence", "token of a file"]
    assert set(places) <= set(honey.found(error["message"]))
    assert set(places) <= set(honey.found(base64.b64decode(error["details"][0]["value"] + "==").decode()))
    assert "response form password" in honey.found(form) and "response part password" in honey.found(parts)


def test_explain(command, honey, tmp_path):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n")
    options = [word for name, value in request_fields(honey).items() if name != "x-ssn" for word in ("-H", f"{name}: {value}")]
    result = command("explain", "-c", tmp_path / "martlet.yaml", "GET", f"/page?{honey.query()}", *options)
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
