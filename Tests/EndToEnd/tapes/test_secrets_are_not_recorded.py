"""What is to be kept out is not on the tape, and the upstream gets it nevertheless."""

import json

import pytest
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE

HEADERS = {"authorization": "Bearer SECRET1", "cookie": "id=SECRET2", "x-api-key": "SECRET3", "x-session": "SECRET4"}
REDACT = "{ redact: { headers: [x-session, seen-authorization], json: [/sentence, /user/password] } },"


def test_headers_and_messages(recorded, eliza, tape, caller):
    upstream = eliza.h2c_url if caller.protocol.name == "GRPC" else eliza.url
    proxy = recorded(upstream, before=REDACT)
    assert caller(proxy).say("SECRET5", headers=HEADERS) == "Eliza heard SECRET5"
    assert list(caller(proxy).converse(["SECRET6"])) == ["Eliza heard SECRET6"]
    say, converse = tape.calls(2)
    assert "SECRET" not in tape.text
    assert say["request"]["headers"] | dict.fromkeys(HEADERS, "***") == say["request"]["headers"]
    assert {"json": {"": {"equals": {"sentence": "***"}}}} in [step.get("expect") for step in say["script"]]
    assert {"json": {"sentence": "***"}} in [step.get("send") for step in converse["script"]]


def test_messages_that_cannot_be_looked_into(recorded, eliza, tape):
    proxy = recorded(eliza.url, before=REDACT, types=False)
    assert Client(proxy.url).say("SECRET") == "Eliza heard SECRET"
    call = tape.call()
    assert "SECRET" not in tape.text and "U0VDUkVU" not in tape.text
    assert call["incomplete"] == "a message that may not be shown"
    assert {"withheld": 8} in [step.get("expect") for step in call["script"]]


def test_a_connect_get(recorded, tape, grpc_service):
    from support.servers import grpc_service as service

    proxy = recorded(grpc_service().url, before=REDACT, types=False)
    with proxy.http() as client:
        client.get(f"/{service.SERVICE}/Unary", params={"connect": "v1", "encoding": "json", "message": '{"sentence":"SECRET"}'})
    call = tape.call()
    assert "SECRET" not in tape.text
    assert call["call"] == f"{service.SERVICE}/Unary"
    assert {"json": {"": {"equals": {"sentence": "***"}}}} in [step.get("expect") for step in call["script"]]


def test_plain_http(recorded, recorder, tape):
    upstream = recorder()
    proxy = recorded(upstream.url, before=REDACT)
    body = json.dumps({"user": {"password": "SECRET1"}})
    with proxy.http() as client:
        client.post("/login?password=SECRET2", content=body, headers={"content-type": "application/json"} | HEADERS)
        client.post("/login", content="password=SECRET3")
    assert b"SECRET1" in b"".join(request.body for request in upstream.requests)
    first, second = tape.calls(2)
    assert "SECRET" not in tape.text
    assert {"json": {"": {"equals": {"user": {"password": "***"}}}}} in [step.get("expect") for step in first["script"]]
    assert {"withheld": 16} in [step.get("expect") for step in second["script"]]


SCRUB = r", scrub: [ { pattern: '\d{16}', with: '****' }, { pattern: 'key-\w+' } ]"


def test_texts_are_scrubbed(recorded, eliza, tape):
    proxy = recorded(eliza.url, SCRUB)
    Client(proxy.url).say("card 1234567812345678 of key-abc", headers={"x-card": "1234567812345678"})
    # A server that reads all before it responds.
    after = ", { mock: { name: reader } }"
    more = "mocks: { reader: { rules: [ { when: { protocol: http }, respond: { body: read } } ], unmatched: next } }"
    proxy = recorded(eliza.url, SCRUB, after=after, more=more)
    with proxy.http() as client:
        client.post("/key-abc", content="1234567812345678")
        client.post("/x", content=b"\xff1234567812345678")
    # Each is written when it ends, by whichever worker has it.
    calls = tape.calls(3)
    say = next(call for call in calls if call["call"].endswith("/Say"))
    binary = next(call for call in calls if call["call"] == "POST /x")
    assert "12345678" not in tape.text and "key-abc" not in tape.text
    assert say["request"]["headers"]["x-card"] == "****"
    assert {"json": {"": {"equals": {"sentence": "card **** of ***"}}}} in [step.get("expect") for step in say["script"]]
    assert {"withheld": 17} in [step.get("expect") for step in binary["script"]]


@pytest.mark.parametrize("text, problem", [("pattern: '('", "missing closing parenthesis"), ("with: x", "pattern")])
def test_what_is_wrong_with_a_rule_is_told(command, tmp_path, text, problem):
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\ninterceptors: [ {{ record: {{ to: /tmp/x.yaml, scrub: [ {{ {text} }} ] }} }} ]\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, problem in result.stderr.text) == (78, True)


def test_credentials_in_urls_and_in_headers_with_telling_names(recorded, martlet, tape):
    upstream = martlet(
        """
        listen: 127.0.0.1:0
        mocks:
          m:
            rules: [ { respond: { status: 302, headers: { location: "https://app.example/cb?access_token=SECRETa&code=SECRETb&x=1", x-csrf-token: SECRETc } } } ]
        interceptors: [ { mock: m } ]
        """
    )
    proxy = recorded(upstream.url)
    with proxy.http() as client:
        response = client.get(
            "/a?%74oken=SECRETd;sid=SECRETe&q=1",
            headers={"referer": "https://a.example/?token=SECRETf", "x-auth-token": "SECRETg", "x-amz-security-token": "SECRETh", "x-goog-api-key": "SECRETi"},
        )
    assert "SECRETa" in response.headers["location"]
    call = tape.call()
    assert "SECRET" not in tape.text
    assert call["call"] == "GET /a?%74oken=***&q=1"
    assert "incomplete" not in call
