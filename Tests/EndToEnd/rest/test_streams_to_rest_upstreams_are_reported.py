"""REST has no streams: `martlet check`, the daemon and a reload name the methods that end with `unimplemented`, wherever the types come from."""

import json

import pytest
from google.api import annotations_pb2
from google.protobuf import descriptor_pb2
from support.wait import eventually

STREAMS = "shop.v1.Api/Put, shop.v1.Api/List, shop.v1.Api/Chat"
WARNING = 'calls of {} end with unimplemented: upstream "api" speaks REST, which has no streams; route them to another upstream'


def descriptors():
    """A service with a method of each kind, of which each has a path, and one without a path."""
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop.v1", syntax="proto3")
    file.message_type.add(name="M")
    service = file.service.add(name="Api")
    for name, client, server in [("Get", False, False), ("Put", True, False), ("List", False, True), ("Chat", True, True)]:
        method = service.method.add(name=name, input_type=".shop.v1.M", output_type=".shop.v1.M")
        method.client_streaming, method.server_streaming = client, server
        method.options.Extensions[annotations_pb2.http].post = f"/v1/{name.lower()}"
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


@pytest.fixture
def written(tmp_path):
    """Writes a configuration, whose types are in a file unless others are given."""
    (tmp_path / "shop.binpb").write_bytes(descriptors())

    def write(speaks="rest", **more):
        text = {
            "listen": "127.0.0.1:0",
            "upstreams": {"api": {"url": "http://127.0.0.1:1", "speaks": speaks}, "rpc": {"url": "h2c://127.0.0.1:2", "speaks": "grpc"}},
            "types": {"files": [str(tmp_path / "shop.binpb")]},
            "interceptors": [],
        } | more
        (tmp_path / "martlet.yaml").write_text("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()))
        return tmp_path / "martlet.yaml"

    return write


API = {"upstream": "api"}
RPC = {"upstream": "rpc"}
# The form of a configuration, and the methods that are named.
REPORTED = {
    "a route": ({"routes": [API]}, STREAMS),
    "a list of what it speaks": ({"speaks": ["rest"], "routes": [API]}, STREAMS),
    "a service": ({"routes": [{"match": {"service": "shop.v1.Api"}} | API]}, STREAMS),
    "a stream of the caller": ({"routes": [{"match": {"method": "Put"}} | API]}, "shop.v1.Api/Put"),
    "a stream of the server": ({"routes": [{"match": {"method": "List"}} | API]}, "shop.v1.Api/List"),
    "streams of both": ({"routes": [{"match": {"method": ["Get", "Chat"]}} | API]}, "shop.v1.Api/Chat"),
    "a path": ({"routes": [{"match": {"path": "/shop.v1.Api/Put"}} | API]}, "shop.v1.Api/Put"),
    "a prefix of paths": ({"routes": [{"match": {"path": "/shop.v1.Api/"}} | API]}, STREAMS),
    "what an earlier route leaves": ({"routes": [{"match": {"method": ["Put", "List"]}} | RPC, API]}, "shop.v1.Api/Chat"),
    "an earlier route for some calls": ({"routes": [{"match": {"method": "Put", "header": {"x-a": "present"}}} | RPC, {"match": {"method": "Put"}} | API]}, "shop.v1.Api/Put"),
    "a protocol with streams": ({"routes": [{"match": {"protocol": ["grpc", "http"]}} | API, RPC]}, STREAMS),
    "a chain of its own": ({"chains": {"own": []}, "routes": [API | {"chain": "own"}]}, STREAMS),
    "an interceptor for some methods": ({"interceptors": [{"when": {"method": ["Put", "List"]}, "reject": {"code": "aborted"}}], "routes": [API]}, "shop.v1.Api/Chat"),
}
SILENT = {
    "another upstream": {"routes": [RPC]},
    "another protocol": {"speaks": "connect", "routes": [API]},
    "other protocols": {"speaks": ["connect", "grpc_web"], "routes": [API]},
    "the methods without streams": {"routes": [{"match": {"method": "Get"}} | API, RPC]},
    "all streams go elsewhere": {"routes": [{"match": {"method": ["Put", "List", "Chat"]}} | RPC, API]},
    "plain HTTP": {"routes": [{"match": {"protocol": "http"}} | API, RPC]},
    "unary Connect": {"routes": [{"match": {"protocol": ["connect_unary", "connect_get"]}} | API, RPC]},
    "a chain that responds": {"interceptors": [{"reject": {"code": "aborted"}}], "routes": [API]},
    "a mock": {"mocks": {"m": {}}, "interceptors": [{"mock": "m"}], "routes": [API]},
    "an earlier route for all calls": {"routes": [RPC, {"match": {"method": "Put"}} | API]},
    "another service": {"routes": [{"match": {"service": "shop.v1.Other"}} | API, RPC]},
}


def reported(text):
    return [line.partition(": calls of ")[2] for line in text.splitlines() if "no streams" in line]


@pytest.mark.parametrize("name", REPORTED)
def test_check_names_the_methods(command, written, name):
    options, methods = REPORTED[name]
    result = command("check", "-c", written(**options))
    assert result.code == 0
    assert reported(result.stdout.text + result.stderr.text) == [WARNING.format(methods).removeprefix("calls of ")]


@pytest.mark.parametrize("name", SILENT)
def test_check_is_silent(command, written, name):
    result = command("check", "-c", written(**SILENT[name]))
    assert (result.code, reported(result.stdout.text + result.stderr.text)) == (0, [])


@pytest.mark.parametrize("speaks", ["rest", ["rest"]], ids=str)
def test_the_one_upstream_of_a_file(command, written, speaks):
    upstreams = {"upstreams": {"default": {"url": "http://127.0.0.1:1", "speaks": speaks}}}
    expected = WARNING.format(STREAMS).replace('"api"', '"default"').removeprefix("calls of ")
    for routes in ({}, {"routes": [{}]}, {"routes": [{"upstream": "default"}]}):
        result = command("check", "-c", written(**upstreams, **routes))
        assert reported(result.stdout.text + result.stderr.text) == [expected]


def test_a_warning_has_its_place(command, written):
    file = written(routes=[{"match": {"method": "Put"}} | API, RPC])
    result = command("check", "-c", file)
    (line,) = [line for line in (result.stdout.text + result.stderr.text).splitlines() if "no streams" in line]
    assert f"{file}:5:" in line and "warning" in line


def test_the_daemon_and_a_reload_report_it(martlet, written):
    proxy = martlet(written(routes=[RPC]).read_text())
    assert "no streams" not in proxy.stderr.text
    proxy.reload(written(routes=[API]).read_text())
    proxy.stderr.wait(WARNING.format(STREAMS).replace("(", r"\("))


THINGS = "rest.v1.Things/Watch, rest.v1.Things/Export"


@pytest.mark.parametrize("files", [False, True], ids=["reflection", "reflection and files"])
def test_types_that_come_by_reflection(martlet, things, written, files, tmp_path):
    """They are not there when the file is checked: the daemon reports the methods as soon as it knows them."""
    types = {"reflection": {"upstream": "rpc"}} | ({"files": [str(tmp_path / "shop.binpb")]} if files else {})
    upstreams = {"api": {"url": "http://127.0.0.1:1", "speaks": "rest"}, "rpc": {"url": things.url, "speaks": "grpc"}}
    match = {"match": {"service": ["rest.v1.Things", "shop.v1.Api"]}}
    proxy = martlet(written(types=types, upstreams=upstreams, routes=[match | API, RPC]).read_text())
    eventually(lambda: proxy.admin("/readyz").status_code == 200, what="the types")
    (line,) = eventually(lambda: [line for line in proxy.stderr.text.splitlines() if "no streams" in line], what="the warning")
    named = line.partition("calls of ")[2].partition(" end with")[0]
    assert set(named.split(" and ")[0].split(", ")) <= set(f"{THINGS}, {STREAMS}".split(", "))
    assert ("rest.v1.Things/Watch" in named) or files
