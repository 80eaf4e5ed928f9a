"""`check` names what is wrong with the paths of a descriptor set; `types` and `explain` show them."""

import json

import pytest
from support.schemas import compiled
from support.wait import eventually

from rest.things import SCHEMAS, SERVICE

SOURCE = """
syntax = "proto3";
package t.v1;
import "google/api/annotations.proto";
message M { string name = 1; M inner = 2; repeated string tags = 3; map<string, string> labels = 4; }
service S {
  rpc One(M) returns (M) { option (google.api.http) = { %s }; }
  rpc Two(%sM) returns (M) { option (google.api.http) = { %s }; }
}
"""
OTHER = 'get: "/other"'

# The rules of two methods, and what is wrong with them.
FAULTS = {
    "the same path": (
        'get: "/v1/{name}"',
        'get: "/v1/{inner.name}"',
        "t.v1.S/One and t.v1.S/Two are called by the same path: GET /v1/{name} and GET /v1/{inner.name}",
    ),
    "the same path, added": (
        'get: "/a" additional_bindings { post: "/v1/*/x:y" }',
        'get: "/b" additional_bindings { post: "/v1/{name}/x:y" }',
        "t.v1.S/One and t.v1.S/Two are called by the same path: POST /v1/*/x:y and POST /v1/{name}/x:y",
    ),
    "no template": ('get: "v1"', OTHER, "t.v1.S/One cannot be called by GET v1: the path is not a valid template"),
    "no field": ('get: "/v1/{nam}"', OTHER, "t.v1.S/One cannot be called by GET /v1/{nam}: t.v1.M has no field nam"),
    "a field of no message": ('get: "/{name.x}"', OTHER, "t.v1.M has no field name.x"),
    "a list": ('get: "/v1/{tags}"', OTHER, "the field tags cannot stand in a path, as it is a list, a map or a message"),
    "a map": ('get: "/v1/{labels}"', OTHER, "the field labels cannot stand in a path"),
    "a message": ('get: "/v1/{inner}"', OTHER, "the field inner cannot stand in a path"),
    "no HTTP method": (
        'custom { kind: "A B" path: "/v1" }',
        OTHER,
        "t.v1.S/One cannot be called by A B /v1: the HTTP method is not valid",
    ),
    "no field for the body": ('post: "/v1" body: "item"', OTHER, "t.v1.M has no field item"),
    "no field for the response": ('get: "/v1" response_body: "item"', OTHER, "t.v1.M has no field item"),
}


def check(command, tmp_path, one, two, stream="", rest="t.v1.S"):
    (tmp_path / "t.proto").write_text(SOURCE % (one, stream, two))
    (tmp_path / "t.binpb").write_bytes(compiled(tmp_path, "t.proto"))
    file = tmp_path / "martlet.yaml"
    file.write_text(
        "listen: 127.0.0.1:1\n"
        'upstreams: { default: { url: "h2c://127.0.0.1:2", speaks: grpc } }\n'
        f"types: {{ files: [{tmp_path}/t.binpb], rest: [{rest}] }}\n"
    )
    return command("check", "-c", file)


@pytest.mark.parametrize("name", FAULTS)
def test_faults(command, tmp_path, name):
    one, two, words = FAULTS[name]
    checked = check(command, tmp_path, one, two)
    assert checked.code == 78
    assert words in checked.stderr.text
    assert ":3:" in checked.stderr.text


def test_a_stream_of_requests(command, tmp_path):
    checked = check(command, tmp_path, 'get: "/a"', 'post: "/b"', stream="stream ")
    assert checked.code == 78
    assert "t.v1.S/Two cannot be called by POST /b: it has a stream of requests" in checked.stderr.text


def test_an_unknown_service(command, tmp_path):
    checked = check(command, tmp_path, 'get: "/a"', 'get: "/b"', rest="t.v1.T")
    assert checked.code == 78
    assert 'no service is named "t.v1.T"; did you mean "t.v1.S"?' in checked.stderr.text


def test_a_service_without_paths(command, tmp_path):
    checked = check(command, tmp_path, "", "")
    assert checked.code == 78
    assert "no method of t.v1.S has a path; add the option google.api.http" in checked.stderr.text


def test_paths_that_differ(command, tmp_path):
    for two in ('post: "/v1/{name}"', 'get: "/v1/{name}:x"', 'get: "/v1/{name=a}"', 'get: "/v1/{name=**}"'):
        assert check(command, tmp_path, 'get: "/v1/{name}"', two).code == 0, two


@pytest.fixture
def file(schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)
    file = tmp_path / "martlet.yaml"
    file.write_text(
        "listen: 127.0.0.1:1\n"
        'upstreams: { default: { url: "h2c://127.0.0.1:2", speaks: grpc } }\n'
        f"types: {{ files: [{tmp_path}/things.binpb], rest: [{SERVICE}] }}\n"
    )
    return file


def test_types_lists_paths(command, file):
    listed = command("types", "-c", file).stdout.text
    assert "  Special     rest.v1.Thing → rest.v1.Thing\n    GET /v1/things/special\n" in listed
    assert "\n    GET /v1/{item.name=shelves/*/books/*}\n" in listed
    assert "\n    REPORT /v1/things\n" in listed
    assert (SCHEMAS / "things.proto").read_text().count("/v1/") == listed.count("/v1/")


def test_explain(command, file):
    explained = command("explain", "-c", file, "GET", "/v1/things/lamp").stdout.text
    assert "protocol  rest\n" in explained
    assert "\n  translated rest/json → grpc/proto\n  POST /rest.v1.Things/Get\n" in explained
    rejected = command("explain", "-c", file, "GET", "/v1/things?colour=red").stdout.text
    assert "response  by martlet\n  400\n" in rejected
    error = next(line for line in rejected.splitlines() if line.startswith('  {"code"'))
    assert json.loads(error)["code"] == 3
    sent = command("explain", "-c", file, "PUT", "/v1/things/lamp", "-H", "content-type: application/json", "-d", "[]")
    assert "rest.v1.Thing: not an object" in sent.stdout.text


def test_paths_come_by_reflection(martlet, things, command, tmp_path):
    proxy = martlet(
        f"""
        listen: unix:{tmp_path}/in.sock
        upstreams: {{ default: {{ url: "{things.url}", speaks: grpc }} }}
        types: {{ reflection: default, rest: [{SERVICE}] }}
        """
    )
    eventually(lambda: proxy.admin("/readyz").status_code == 200, what="the types")
    with proxy.http() as http:
        assert http.get("/v1/things/lamp").json() == {"name": "lamp"}
        proxy.reload()
        assert http.get("/v1/things/lamp").json() == {"name": "lamp"}
    for protocol in ("grpc", "grpc-web"):
        called = command("call", "-c", proxy.file, f"{SERVICE}/Get", "-d", '{"name": "a"}', "--protocol", protocol)
        assert (called.code, called.stdout.text) == (0, '{"name":"a"}')
    things.stop()
    called = command("call", "-c", proxy.file, f"{SERVICE}/Get", "-d", "{}", "--protocol", "grpc")
    assert called.code == 1 and "no types from upstream default: " in called.stderr.text
