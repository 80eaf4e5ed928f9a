"""Whatever responds in this process responds to callers of REST paths, as to callers of Connect with JSON."""

import json
import textwrap

import pytest
from support.servers.http_api import response

from rest.things import SERVICE, options

MOCKS = """
mocks:
  things:
    service: rest.v1.Things
    methods:
      Get:
        - when: { json: { /name: { regex: "^echo" } } }
          respond: { echo: true }
        - when: { json: { /item/name: present } }
          respond: { json: { item: { name: "{json:/item/name}!", count: "{json:/item/count}" } } }
        - when: { json: { /count: { above: 9 } } }
          respond: { json: { name: many, tags: ["{json:/tags/0}", "{json:/tags/1}"] } }
        - when: { json: { /since: present } }
          respond: { json: { since: "{json:/since}", nick: "{json:/nick}" } }
        - when: { json: { /name: gone }, header: { x-why: present } }
          respond: { code: not_found, message: "no {json:/name}, {header:x-why}" }
        - when: { json: { /name: later } }
          respond:
            code: unavailable
            message: later
            trailers: { x-cost: "7" }
            details: [ { type: google.rpc.RetryInfo, json: { retry_delay: 2s } }, { type: a.B, base64: CAE= } ]
        - when: { json: { /name: broken } }
          respond: { fail: connect }
        - when: { json: { /name: raw } }
          respond: { raw: { status: 418, headers: { content-type: text/plain }, text: "a teapot" } }
        - when: { json: { /name: rawness } }
          respond: { raw: { status: 200, headers: { content-type: text/plain }, text: "tea" } }
        - when: { json: { /name: faked } }
          respond: { fake: true }
        - respond: { json: { name: "{json:/name}", is_on: true } }
      Create: [ { when: { json: { /labels/k: v } }, respond: { json: { labels: { seen: "{json:/labels/k}" } } } } ]
      Update: [ { respond: { json: { name: "{json:/name}", count: 3, item: { name: "{json:/item/name}" } } } } ]
      Part: [ { respond: { json: { item: { name: "{json:/item/name}?" }, tags: [a, "t{json:/name}"] } } } ]
      Download: [ { respond: { json: { content_type: image/x-test, data: AAEC } } } ]
      Upload: [ { respond: { json: { name: "{json:/contentType}", data: "{json:/data}" } } } ]
      Watch:
        - outputs:
            - send: { json: { name: "{json:/name}", count: 1 } }
            - send: { json: { count: 2 } }
            - end: { code: data_loss, message: "after {json:/count}" }
      Text: [ { respond: { echo: true } } ]
interceptors: [ { mock: things } ]
"""

# A request; then the status and the JSON of the response.
MOCKED = {
    "a field of the path": ("GET /v1/things/lamp", 200, {"name": "lamp", "isOn": True}),
    "an escaped field of the path": ("GET /v1/things/a%20b%22", 200, {"name": 'a b"', "isOn": True}),
    "the message as it is": ("GET /v1/things/echo?count=2&tags=a", 200, {"name": "echo", "count": "2", "tags": ["a"]}),
    "a field within a field": ("GET /v1/shelves/1/books/2?item.count=4", 200, {"item": {"name": "shelves/1/books/2!", "count": "4"}}),
    "a number and a list": ("GET /v1/things/x?count=10&tags=a&tags=b", 200, {"name": "many", "tags": ["a", "b"]}),
    "well-known types": (
        "GET /v1/times/2026-01-02T03:04:05Z/Bo/aGk=",
        200,
        {"since": "2026-01-02T03:04:05Z", "nick": "Bo"},
    ),
    "parts of well-known types": ("GET /v1/things/x?since.seconds=1&nick.value=Al", 200, {"since": "1970-01-01T00:00:01Z", "nick": "Al"}),
    "a body": ('POST /v1/things {"labels":{"k":"v"}}', 200, {"labels": {"seen": "v"}}),
    "a body without a rule": ('POST /v1/things {"labels":{"k":"w"}}', 200, {}),
    "a body with an unknown member": ('POST /v1/things {"colour":1}', 400, {"code": 3, "message": 'rest.v1.Thing: no field "colour"'}),
    "a body that is no object": ("POST /v1/things [1]", 400, {"code": 3, "message": "rest.v1.Thing: not an object"}),
    "a body that is no JSON": ('POST /v1/things {"name":', 400, {"code": 3, "message": "rest.v1.Thing: the JSON ends too early at /name"}),
    "a body and a path": ('PATCH /v1/things/lamp {"name":"i"}', 200, {"name": "lamp", "count": "3", "item": {"name": "i"}}),
    "a part of the response": ("GET /v1/parts/lamp", 200, {"name": "lamp?"}),
    "a list in the response": ("GET /v1/parts/lamp/tags", 200, ["a", "tlamp"]),
    "a default in the response": ("GET /v1/parts/lamp/is_on", 200, False),
    "a message with a form of its own": ('POST /v1/text "x"', 200, "x"),
    "an error": ("GET /v1/things/later", 503, {
        "code": 14,
        "message": "later",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"},
            {"@type": "type.googleapis.com/a.B", "value": "CAE="},
        ],
    }),
    "a method without rules": ("DELETE /v1/things/lamp", 200, {}),
}


def request(http, line, **headers):
    method, target, *body = line.split(" ", 2)
    content = body[0] if body else None
    return http.request(method, target, content=content, headers=headers | ({"content-type": "application/json"} if body else {}))


@pytest.fixture
def types(schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)
    return options(tmp_path / "things.binpb")


@pytest.fixture
def mocked(martlet, types):
    return martlet(f"listen: 127.0.0.1:0\ntypes: {types}\n{MOCKS}")


@pytest.mark.parametrize("version", [1, 2], ids=["HTTP/1.1", "HTTP/2"])
def test_a_mock(mocked, version):
    with mocked.http(http1=version == 1, http2=version == 2) as http:
        for name, (line, status, value) in MOCKED.items():
            found = request(http, line)
            assert (name, found.status_code) == (name, status), found.text
            assert found.headers["content-type"] == "application/json"
            assert found.json() == value, name


def test_a_mock_fails_and_invents(mocked):
    with mocked.http() as http:
        gone = request(http, "GET /v1/things/gone", **{"x-why": "sold"})
        assert (gone.status_code, gone.json()) == (404, {"code": 5, "message": "no gone, sold"})
        broken = request(http, "GET /v1/things/broken")
        assert (broken.status_code, broken.json()["code"]) == (503, 14)
        for _ in range(10):
            faked = request(http, "GET /v1/things/faked")
            assert (faked.status_code, len(faked.json()["tags"])) == (200, 2), faked.text


def test_a_mock_sends_raw_bytes(mocked):
    with mocked.http() as http:
        for name, status, text in (("raw", 418, "a teapot"), ("rawness", 200, "tea")):
            found = request(http, f"GET /v1/things/{name}")
            assert (found.status_code, found.headers["content-type"], found.text) == (status, "text/plain", text)


def test_a_mock_sends_streams_and_bodies_of_any_type(mocked):
    error = {"error": {"code": 15, "message": "after 3"}}
    with mocked.http() as http:
        found = http.get("/v1/watch/3?name=a")
        assert found.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line) for line in found.text.splitlines()] == [{"name": "a", "count": "1"}, {"count": "2"}, error]
        events = http.get("/v1/watch/3", headers={"accept": "text/event-stream"}).text.split("\n\n")
        assert json.loads(events[0].removeprefix("data: ")) == {"count": "1"}
        assert json.loads(events[2].removeprefix("event: error\ndata: ")) == error
        body = http.get("/v1/raw/x")
        assert (body.content, body.headers["content-type"]) == (b"\0\1\2", "image/x-test")
        sent = http.post("/v1/raw", content=b"\0\1", headers={"content-type": "text/x"}).json()
        assert sent == {"name": "text/x", "data": "AAE="}


def test_a_mock_says_the_same_to_connect(mocked):
    with mocked.http() as http:
        for message in ({"name": "lamp"}, {"name": "echo", "count": "2"}, {"item": {"name": "i", "count": "4"}}):
            said = http.post(f"/{SERVICE}/Get", json=message).json()
            query = "&".join(f"{name}={value}" for name, value in {"count": message.get("count")}.items() if value)
            if "item" not in message:
                assert http.get(f"/v1/things/{message['name']}?{query}").json() == said
            assert said == http.post(f"/{SERVICE}/Get", json=message, headers={"connect-protocol-version": "1"}).json()


def test_the_journal_has_json(mocked):
    with mocked.http() as http:
        http.get("/v1/things/lamp?count=2")
    (recorded,) = mocked.admin("/mocks/things/calls").json()["calls"]
    assert recorded["received"][0]["json"] == {"name": "lamp", "count": "2"}


TAPE = f"""
---
call: {SERVICE}/Get
protocol: connect
codec: json
started: 2026-11-27T04:00:00.123456Z
took: 34ms
script:
  - expect: {{ json: {{ "": {{ equals: {{"name": "lamp"}} }} }} }}
    at: 0ms
  - closed: true
    at: 1ms
  - send: {{ json: {{"name": "played"}} }}
    at: 2ms
  - end: {{ trailers: {{ x-cost: "1" }} }}
    at: 3ms
"""


def test_a_tape(martlet, types, tmp_path):
    (tmp_path / "tape.yaml").write_text(TAPE)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        types: {types}
        mocks: {{ m: {{ tape: {tmp_path}/tape.yaml, repeat: true }} }}
        interceptors: [ {{ mock: m }} ]
        """
    )
    with proxy.http() as http:
        found = http.get("/v1/things/lamp")
        assert (found.json(), found.headers["trailer-x-cost"]) == ({"name": "played"}, "1")
        assert http.get("/v1/things/bell").status_code == 501


# A response of an HTTP API; then the status and the JSON that the caller of the path `/v1/things/lamp?count=2` gets.
RESULTS = {
    "a message": (response(200, {"name": "x", "count": 5}), 200, {"name": "x", "count": "5"}),
    "by the names of the definition": (response(200, {"is_on": True}), 200, {"isOn": True}),
    "members that no field has": (response(200, {"name": "x", "more": {"a": [1]}}), 200, {"name": "x"}),
    "members further down": (response(200, {"item": {"name": "x", "more": 1}}), 200, {"item": {"name": "x"}}),
    "an unknown value of an enumeration": (response(200, {"name": "x", "color": "GREEN"}), 200, {"name": "x"}),
    "defaults": (response(200, {"name": "", "count": 0, "tags": []}), 200, {}),
    "a null": (response(200, {"name": None, "tags": ["a"]}), 200, {"tags": ["a"]}),
    "nothing": (response(204, b"", None), 200, {}),
    "a value of another type": (response(200, {"count": "many"}), 500, "rest.v1.Thing: \"many\" is not a value of the type int64 at /count"),
    "no object": (response(200, [1]), 500, "rest.v1.Thing: not an object"),
    "no JSON": (response(200, b'{"name":'), 500, "call get: the response is not valid JSON"),
    "an error": (response(404, {"message": "no lamp"}), 404, "no lamp"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_named_call(martlet, recorder, types, name):
    bytes_of_it, status, value = RESULTS[name]
    api = recorder(response=bytes_of_it)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        types: {types}
        calls:
          get:
            url: "{api.url}/api/{{name}}?count={{count}}"
            parameters: {{ name: {{ required: true }}, count: {{ default: "0" }} }}
        interceptors: [ {{ call: get }} ]
        """
    )
    with proxy.http() as http:
        rest = http.get("/v1/things/lamp?count=2")
        connect = http.post(f"/{SERVICE}/Get", json={"name": "lamp", "count": 2})
    assert [request.target for request in api.requests] == ["/api/lamp?count=2"] * 2
    assert (rest.status_code, connect.status_code) == (status, status), rest.text
    if status == 200:
        assert rest.json() == connect.json() == value
    else:
        assert value in rest.json()["message"] and rest.json()["message"] == connect.json()["message"]


def test_interceptors_that_respond(martlet, types):
    chain = """
        interceptors:
          - when: { method: Get }
            message: { on: response, set: { /nick: "{header:x-nick}" } }
          - when: { method: Get }
            respond: { json: { name: mine, count: 4 } }
          - when: { method: Create }
            reject: { code: permission_denied, message: closed }
          - when: { method: Delete }
            fault: { code: aborted, message: oops }
          - respond: { json: { count: 1 } }
        """
    proxy = martlet(f"listen: 127.0.0.1:0\ntypes: {types}\n{textwrap.dedent(chain)}")
    with proxy.http() as http:
        assert http.get("/v1/things/lamp").json()["name"] == "mine"
        assert http.post("/v1/things", json={}).json() == {"code": 7, "message": "closed"}
        assert http.delete("/v1/things/lamp").json() == {"code": 10, "message": "oops"}
        assert http.get("/v1/parts/lamp/is_on").json() is False


TESTS = """
config: martlet.yaml
tests:
  - name: a path
    call: { http: GET /v1/things/lamp?count=2 }
    expect: { status: 200, response: { json: { /name: lamp, /isOn: true } } }
  - name: a body
    call: { http: POST /v1/things, headers: { content-type: application/json }, json: { labels: { k: v } } }
    expect: { status: 200, response: { json: { /labels/seen: v } } }
  - name: an error
    call: { http: GET /v1/things/later }
    expect: { status: 503, response: { json: { /code: 14, /details/0/retryDelay: 2s } } }
  - name: a list
    call: { http: GET /v1/parts/lamp/tags }
    expect: { status: 200, response: { json: { /1: tlamp } } }
"""


def test_the_same_offline(command, types, tmp_path):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\ntypes: {types}\n{MOCKS}")
    (tmp_path / "t.tests.yaml").write_text(TESTS)
    ran = command("test", tmp_path / "t.tests.yaml")
    assert (ran.code, "4 tests, 0 failed" in ran.stdout.text) == (0, True), ran.stdout.text
