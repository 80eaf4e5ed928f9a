"""Examples/OwnInterceptor: a separate package adds a kind, and its program serves, checks and describes it."""

import json
import re
import subprocess

import grpc
import pytest

from support.http1.recorder import JSON
from support.martlet import ROOT

# The build is a part of the first test.
pytestmark = [pytest.mark.alone, pytest.mark.timeout(240)]

EXAMPLE = ROOT / "Examples/OwnInterceptor"
TENANT = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - tenant: {{ tenants: {{ acme: gold, globex: {{ plan: basic, messages: 2 }} }} }}
"""
BAD = """\
listen: 127.0.0.1:0
interceptors:
  - tenant:
      header: grpc-tenant
      trace: "{nothing}"
      tenants:
        Acme: gold
        globex: { plan: basic, messages: none }
  - respond: {}
"""
# line: the column, and part of the message
WRONG = {4: (15, "grpc-tenant"), 5: (14, "{nothing}"), 7: (9, "small letters"), 8: (42, '"none"')}


@pytest.fixture(scope="session")
def own_binary():
    """The example's program, built as its README says."""
    # A plan that is kept does not know of files that Martlet has got since.
    command = ["swift", "build", "-j", "2", "--disable-build-manifest-caching", "--package-path", EXAMPLE]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=220)
    assert built.returncode == 0, built.stdout
    return EXAMPLE / ".build/debug/own-martlet"


@pytest.fixture
def own_martlet(martlet, own_binary):
    """Starts the program before an upstream."""
    return lambda upstream: martlet(TENANT.format(url=upstream.url), binary=own_binary)


def rejected(call):
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code()


def test_a_grpc_call_of_a_tenant(own_martlet, grpc_service, grpc_channel):
    seen = {}

    def unary(request, context):
        seen.update(context.invocation_metadata())
        return request

    channel = grpc_channel(own_martlet(grpc_service({"Unary": unary})))
    response, call = channel.unary.with_call(b"hello", metadata=[("x-tenant", "ACME")], timeout=5)
    assert response == b"hello"
    assert (seen["x-tenant"], seen["x-plan"]) == ("acme", "gold")
    assert re.fullmatch("[0-9a-f]{32}", seen["x-trace"])
    assert dict(call.trailing_metadata())["x-messages"] == "1"


def test_a_grpc_call_of_an_unknown_tenant(own_martlet, grpc_service, grpc_channel):
    calls = []
    channel = grpc_channel(own_martlet(grpc_service({"Unary": lambda request, context: calls.append(request)})))
    assert rejected(lambda: channel.unary(b"", timeout=5)) == grpc.StatusCode.UNAUTHENTICATED
    stranger = [("x-tenant", "initech")]
    assert rejected(lambda: channel.unary(b"", metadata=stranger, timeout=5)) == grpc.StatusCode.PERMISSION_DENIED
    assert calls == []


def test_the_messages_of_each_call_are_counted_by_themselves(own_martlet, grpc_service, grpc_channel):
    channel = grpc_channel(own_martlet(grpc_service()))
    tenant = [("x-tenant", "globex")]
    for _ in range(2):
        response, call = channel.upload.with_call(iter([b"1", b"2"]), metadata=tenant, timeout=5)
        assert (response, dict(call.trailing_metadata())["x-messages"]) == (b"12", "2")
    too_many = rejected(lambda: channel.upload(iter([b"1", b"2", b"3"]), metadata=tenant, timeout=5))
    assert too_many == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_a_connect_call(own_martlet, recorder):
    upstream = recorder(response=JSON)
    with own_martlet(upstream).http() as client:
        response = client.post("/a.B/C", json={}, headers={"x-tenant": "ACME"})
        assert (response.status_code, response.json(), response.headers["trailer-x-messages"]) == (200, {}, "1")
        (request,) = upstream.requests
        assert (request.header("x-tenant"), request.header("x-plan")) == ("acme", "gold")
        response = client.post("/a.B/C", json={})
        assert (response.status_code, response.json()["code"]) == (401, "unauthenticated")
    assert len(upstream.requests) == 1


def test_check_reads_its_options(command, own_binary, tmp_path):
    (tmp_path / "martlet.yaml").write_text(BAD)
    result = command("check", "-c", "martlet.yaml", binary=own_binary, cwd=tmp_path)
    assert result.code == 78
    found = [re.fullmatch(r"martlet\.yaml:(\d+):(\d+): (.+)", line) for line in result.stderr]
    assert [(int(match[1]), int(match[2])) for match in found] == [(line, WRONG[line][0]) for line in WRONG]
    assert all(WRONG[int(match[1])][1] in match[3] for match in found), result.stderr.text


def test_its_own_file_is_good(command, own_binary):
    assert command("check", "-c", EXAMPLE / "martlet.yaml", binary=own_binary).code == 0


def test_schema_and_reference_know_the_kind(command, own_binary):
    schema = json.loads(command("schema", binary=own_binary).stdout.text)
    kinds = [item["properties"] for item in schema["$defs"]["interceptor"]["anyOf"] if "properties" in item]
    tenants = [kind["tenant"]["properties"] for kind in kinds if "tenant" in kind]
    assert tenants and tenants[0]["header"]["default"] == "x-tenant"
    reference = list(command("reference", binary=own_binary).stdout)
    assert "### `tenant`" in reference
    assert any(line.startswith("| `messages` | number from 1 to 1000000 | `1000` |") for line in reference)
