"""Responses of plain HTTP that come in parts, break off, or say a wrong length; and conditions on the HTTP method."""

import json
import socket

import httpx
import pytest
from support.servers.eliza_messages import SERVICE

HTTP = {1: {}, 2: {"http1": False, "http2": True}}

STUBS = """
listen: 127.0.0.1:0
{more}
mocks:
  things:
    {options}
    rules: {rules}
interceptors: [ {{ mock: things }} ]
"""


@pytest.fixture
def stubbed(martlet):
    def start(rules, options="", more=""):
        return martlet(STUBS.format(rules=rules, options=options, more=more))

    return start


def raw(proxy, path="/", method="GET"):
    """All bytes of a response."""
    with socket.create_connection(proxy.address) as connection:
        connection.settimeout(10)
        connection.sendall(f"{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".encode())
        received = b""
        while part := connection.recv(65536):
            received += part
        return received


@pytest.mark.parametrize("http", [1, 2])
def test_the_parts_of_a_response_come_one_after_the_other(stubbed, http):
    proxy = stubbed(
        """
        [ { script: [
            { headers: { content-type: text/event-stream, x-a: "{query:name}" }, status: 206 },
            { send: { text: "data: 1\\n\\n" } }, { until: go }, { send: { text: "data: {path}\\n\\n" } } ] } ]
        """
    )
    with proxy.http(**HTTP[http]) as client, client.stream("GET", "/events?x=1&name=a%20b") as response:
        assert (response.status_code, response.headers["content-type"], response.headers["x-a"]) == (206, "text/event-stream", "a b")
        pieces = response.iter_raw()
        assert next(pieces) == b"data: 1\n\n"
        proxy.admin("/mocks/signal?name=go", method="POST")
        assert b"".join(pieces) == b"data: /events\n\n"


@pytest.mark.parametrize("http", [1, 2])
@pytest.mark.parametrize("end", ["reset: true", "end: { code: unavailable }"])
def test_a_response_breaks_off(stubbed, http, end):
    proxy = stubbed(f"[ {{ script: [ {{ send: {{ text: begun }} }}, {{ wait: 1ms }}, {{ {end} }} ] }} ]")
    with proxy.http(**HTTP[http]) as client, pytest.raises(httpx.TransportError):
        client.get("/")


def test_a_script_without_messages_is_an_empty_response_or_an_error(stubbed):
    proxy = stubbed(
        "[ { when: { path: /a }, script: [ { closed: true } ] }, { script: [ { end: { code: not_found, message: nothing } } ] } ]"
    )
    with proxy.http() as client:
        assert (client.get("/a").status_code, client.get("/a").content) == (200, b"")
        response = client.get("/b")
        assert (response.status_code, response.json()) == (404, {"code": "not_found", "message": "nothing"})


def test_a_part_may_have_something_of_the_body(stubbed):
    proxy = stubbed('[ { script: [ { send: { json: { id: "{json:/id}" } } }, { send: { text: " {body}" } } ] } ]')
    with proxy.http() as client:
        response = client.post("/", content='{"id":7}')
        assert (response.text, response.headers["content-type"]) == ('{"id":7} {"id":7}', "application/json")


def test_a_message_of_a_stream_waits_for_what_it_has_in_it(mocked):
    from support.servers.eliza import Client

    proxy = mocked('methods: { Converse: [ { script: [ { send: { json: { sentence: "hello {json:/sentence}" } } }, { closed: true } ] } ] }')
    assert list(Client(proxy.url, http=2).converse(["Bob", "b"])) == ["hello Bob"]


def test_raw_responses_say_any_length(stubbed):
    proxy = stubbed(
        """
        [ { when: { path: /right }, respond: { raw: { headers: { content-length: "3" }, text: tea } } },
          { when: { path: /long }, respond: { raw: { headers: { content-length: "5" }, text: tea } } } ]
        """
    )
    right = raw(proxy, "/right")
    assert b"content-length: 3\r\n" in right.lower() and b"chunked" not in right and right.endswith(b"\r\n\r\ntea")
    long = raw(proxy, "/long")
    assert b"content-length: 5\r\n" in long.lower() and long.endswith(b"\r\n\r\ntea")


def test_rules_ask_for_the_http_method(stubbed):
    proxy = stubbed(
        """
        [ { when: { http_method: [GET, HEAD], path: /a }, respond: { body: got } },
          { when: { http_method: delete, path: /a }, respond: { status: 204 } } ]
        """
    )
    with proxy.http() as client:
        assert (client.get("/a").text, client.delete("/a").status_code, client.head("/a").status_code) == ("got", 204, 200)
        # The rule with the right path is nearer than one that has another.
        assert client.put("/a").json()["message"].endswith("the rule at 8:11 asks for another HTTP method")
        assert client.get("/b").json()["message"].endswith("asks for another path")


def test_routes_ask_for_the_http_method(martlet):
    proxy = martlet(
        """
        listen: 127.0.0.1:0
        routes:
          - { match: { http_method: GET }, chain: reads }
          - { chain: writes }
        chains:
          reads: [ { respond: { body: read } } ]
          writes: [ { respond: { body: written } } ]
        """
    )
    with proxy.http() as client:
        assert [client.request(method, "/a").text for method in ("GET", "POST", "PUT")] == ["read", "written", "written"]


def test_a_condition_on_no_http_method_is_an_error(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(
        'listen: 127.0.0.1:0\nmocks: { a: { rules: [ { when: { http_method: "GET /" }, respond: { body: "{qery:a}" } } ] } }\ninterceptors: [ { mock: a } ]\n'
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78
    assert '"http_method" cannot be "GET /"; write a method of HTTP, such as GET' in result.stderr.text
    assert "{qery:a} is unknown; did you mean query:NAME?" in result.stderr.text or "{qery:a} is unknown" in result.stderr.text


def test_calls_that_go_on_are_in_the_journal(stubbed, command, tmp_path, eliza):
    proxy = stubbed("[ { when: { path: /a }, respond: { body: here } } ]", "unmatched: next", f"upstream: {eliza.url}")
    from support.servers.eliza import Client

    with proxy.http() as client:
        assert client.get("/a").text == "here"
        missing = client.get("/b").status_code
    assert Client(proxy.url).say("hello") == "Eliza heard hello"
    page = json.loads(proxy.admin("/mocks/things/calls").text)
    first, plain, rpc = page["calls"]
    assert "next" not in first and plain["next"] is True and rpc["next"] is True
    assert (plain["status"], rpc["code"], "asks for another path" in rpc["unmatched"]) == (missing, "ok", True)
    overview = json.loads(proxy.admin("/mocks").text)["mocks"][0]
    assert (overview["calls"], overview["unmatched"], overview["open"]) == (3, 2, 0)
    (tmp_path / "verify.yaml").write_text(
        f'things: [ {{ next: true, times: 2 }}, {{ call: "{SERVICE}/*", next: true, protocol: connect_unary, code: ok, times: 1 }},'
        f" {{ status: {missing}, times: 1 }}, {{ next: true, times: never }} ]\n"
    )
    result = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")
    lines = result.stdout.text.splitlines()
    assert [line[:4] for line in lines[:4]] == ["ok  ", "ok  ", "ok  ", "FAIL"], result.stdout.text
    assert lines[3].endswith("things: next: expected no call, saw 2")


def test_an_attempt_that_goes_on_ends_when_the_next_one_begins(martlet, eliza):
    """Retries behind a mock that lets calls go on leave no call open."""
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {eliza.url}
        mocks: {{ things: {{ unmatched: next, methods: {{}} }} }}
        interceptors:
          - validate:
              max_retries: 2
              retry: {{ methods: [{SERVICE}/Say] }}
              rules: [ {{ when: {{ code: ok }}, retry: {{ delayed: 1ms }} }} ]
          - {{ mock: things }}
        """
    )
    with proxy.http() as client:
        client.post(f"/{SERVICE}/Say", json={"sentence": "a"})
    page = json.loads(proxy.admin("/mocks").text)["mocks"][0]
    assert page["open"] == 0
    calls = json.loads(proxy.admin("/mocks/things/calls").text)["calls"]
    assert all(call.get("failed") == "the call was retried" for call in calls[:-1])


def test_the_messages_of_calls_that_go_on_are_in_the_journal(mocked, eliza, command, tmp_path):
    from support.servers.eliza import Client

    proxy = mocked(
        "methods: { Listen: [ { when: { json: { /sentence: nobody } }, respond: {} } ] }",
        more=f"upstreams: {{ default: {{ url: {eliza.url}, speaks: connect }} }}",
        interceptors="[ { mock: { name: eliza, unmatched: next } } ]",
    )
    client = Client(proxy.url, http=2)
    assert client.say("hello") == "Eliza heard hello"
    assert list(client.converse(["a", "b"])) == ["Eliza heard a", "Eliza heard b"]
    client.listen(["x", "y"])
    say, converse, listen = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert [[message["json"]["sentence"] for message in say[side]] for side in ("received", "sent")] == [["hello"], ["Eliza heard hello"]]
    assert [message["json"]["sentence"] for message in converse["received"]] == ["a", "b"]
    assert [message["json"]["sentence"] for message in converse["sent"]] == ["Eliza heard a", "Eliza heard b"]
    assert [message["json"]["sentence"] for message in listen["received"]] == ["x", "y"]
    assert "closed_ms" in say
    (tmp_path / "verify.yaml").write_text(
        "eliza: [ { method: Say, json: { /sentence: hello }, next: true, times: 1 }, { method: Say, json: { /sentence: hello }, times: never } ]\n"
    )
    result = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")
    lines = result.stdout.text.splitlines()
    assert [line[:4] for line in lines[:2]] == ["ok  ", "FAIL"]
    # What counts is shown, and nothing else.
    assert f'#1 {SERVICE}/Say {{"sentence":"hello"}}: ok' in lines[2] and lines[3].startswith("1 expectation") or len(lines) == 4


def test_a_call_that_is_not_of_its_type_goes_on_where_others_do(mocked, eliza):
    proxy = mocked(
        "methods: { Say: [ { when: { json: { /sentence: a } }, respond: {} } ] }",
        more=f"upstreams: {{ default: {{ url: {eliza.url}, speaks: connect }} }}",
        interceptors="[ { mock: { name: eliza, unmatched: next } } ]",
    )
    with proxy.http() as client:
        client.post(f"/{SERVICE}/Say", json={"sentense": "a"})
    (call,) = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert call["next"] is True and "for messages of its type" in call["unmatched"]


def test_bodies_of_plain_http_are_readable_in_the_journal(stubbed):
    upstream = stubbed("[ { respond: { body: read } } ]")
    proxy = stubbed(
        '[ { when: { path: /a }, respond: { body: "sorry" } }, { when: { path: /b }, respond: { json: { a: 1 } } } ]',
        "unmatched: next",
        f"upstream: {upstream.url}",
    )
    with proxy.http() as client:
        client.post("/a", content="hello")
        client.post("/b", json={"b": 2})
        client.post("/c", json={"c": 3})
    texts, values, passed = json.loads(proxy.admin("/mocks/things/calls").text)["calls"]
    assert (texts["received"][0]["text"], texts["sent"][0]["text"]) == ("hello", "sorry")
    assert (values["received"][0]["json"], values["sent"][0]["json"]) == ({"b": 2}, {"a": 1})
    assert passed["received"][0]["json"] == {"c": 3} and passed["next"] is True
    assert passed["sent"][0]["text"] == "read"
