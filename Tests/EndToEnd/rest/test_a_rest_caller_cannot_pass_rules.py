"""Whoever uses a REST path meets the guards, routes and rules of the method, and holds up nobody else."""

import json
import time

import pytest
from support.wait import eventually

from rest.things import options

OF_CONNECT = {"connect-protocol-version": "1", "content-type": "application/json"}


@pytest.fixture
def guarded(martlet, things, schema, tmp_path):
    """Martlet with a chain, and the lines of its access log."""
    (tmp_path / "things.binpb").write_bytes(schema)
    log = tmp_path / "access.log"

    def start(chain="", listener=""):
        proxy = martlet(
            f"""
            listeners: [ {{ address: 127.0.0.1:0{listener} }} ]
            upstreams: {{ default: {{ url: "{things.url}", speaks: grpc }} }}
            interceptors: [ log: {{ to: {log} }}, metrics{chain and ', ' + chain} ]
            types: {options(tmp_path / "things.binpb")}
            """
        )
        return proxy, lambda count: eventually(
            lambda: len(lines := log.read_text().splitlines()) >= count and [json.loads(line) for line in lines],
            what="the lines",
        )

    return start


def test_errors_of_the_head_meet_guards_and_are_logged(guarded):
    proxy, lines = guarded(listener=", hosts: [good.example]")
    with proxy.http() as http:
        for target in ("/v1/things?colour=red", "/v1/things/lamp"):
            assert http.get(target, headers={"host": "evil.example"}).status_code == 421
        good = {"host": "good.example"}
        assert http.get("/v1/things?colour=red", headers=good).status_code == 400
        assert http.put("/v1/things", headers=good).status_code == 405
    logged = lines(2)
    assert [line["status"] for line in logged[-2:]] == [400, 405]
    assert [line["rest_path"] for line in logged[-2:]] == ["GET /v1/things", "GET /v1/things"]
    assert proxy.metrics().total("martlet_rpc_handled_total", protocol="rest") >= 2


def test_a_field_of_rpc_makes_no_other_call(guarded):
    proxy, _ = guarded("{ reject: { code: permission_denied }, when: { method: Create } }")
    with proxy.http() as http:
        assert http.post("/v1/things", json={}, headers=OF_CONNECT).status_code == 403
        query = "connect=v1&encoding=json&message=%7B%7D"
        assert http.get(f"/v1/things/lamp?{query}").status_code == 400


def test_a_web_page_may_ask_before_it_calls(guarded):
    chain = "{ respond: { status: 204, headers: { access-control-allow-origin: '*' } }, when: { path: /v1/things } }"
    proxy, _ = guarded(chain)
    with proxy.http() as http:
        response = http.options("/v1/things", headers={"access-control-request-method": "POST"})
        assert (response.status_code, response.headers["access-control-allow-origin"]) == (204, "*")


@pytest.mark.parametrize("version", [1, 2])
def test_responses_of_interceptors_stay_what_they_are(guarded, version):
    chain = ", ".join(
        f"{{ respond: {{ {response} }}, when: {{ method: {method} }} }}"
        for method, response in {
            "Watch": "body: maintenance",
            "Get": "status: 201, body: created",
            "Part": "status: 204",
            "Create": "json: { name: made }",
        }.items()
    )
    proxy, _ = guarded(chain)
    with proxy.http(http1=version == 1, http2=version == 2) as http:
        assert http.get("/v1/watch/1", timeout=5).text == "maintenance"
        created = http.get("/v1/things/lamp")
        assert (created.status_code, created.text) == (201, "created")
        empty = http.get("/v1/parts/lamp/tags")
        assert (empty.status_code, empty.content) == (204, b"")
        assert http.post("/v1/things").json() == {"name": "made"}
        assert http.get("/v1/things").json() == {}


def test_a_response_that_is_too_large_ends_the_call(guarded, things):
    proxy, lines = guarded(listener=", limits: { held_message: 64KiB }")
    things.size = 100_000
    with proxy.http() as http:
        response = http.get("/v1/raw/lamp")
        assert (response.status_code, response.json()["code"]) == (429, 8)
        assert http.get("/v1/things/lamp").json() == {"name": "lamp"}
    assert lines(2)[0]["code"] == "resource_exhausted"
    assert proxy.metrics().total("martlet_limit_hits_total", limit="held_message") == 1
    proxy.wait_for_rest()


def test_many_and_deep_parameters(guarded):
    proxy, _ = guarded(listener=", limits: { head: 256KiB }")

    def get(query):
        peer = proxy.connect()
        peer.send(f"GET /v1/things?{query} HTTP/1.1\r\nhost: a\r\n\r\n".encode())
        return peer.response()

    began = time.monotonic()
    assert len(json.loads(get("tags=&" * 20_000).body)["tags"]) == 20_000
    assert get("inner." * 90 + "name=x").status == 200
    for depth in (100, 101, 7_000, 30_000):
        assert get("inner." * depth + "name=x").status == 400
    # Not minutes; a debug build on a slow machine takes a few seconds.
    assert time.monotonic() - began < 20


def test_a_caller_who_waits_for_leave_gets_it(guarded):
    proxy, _ = guarded()
    peer = proxy.connect()
    head = b"POST /v1/things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 15\r\n"
    peer.send(head + b"expect: 100-continue\r\n\r\n")
    assert peer.head().startswith(b"HTTP/1.1 100 ")
    peer.send(b'{"name":"lamp"}')
    response = peer.response()
    assert (response.status, json.loads(response.body)) == (200, {"name": "lamp"})
