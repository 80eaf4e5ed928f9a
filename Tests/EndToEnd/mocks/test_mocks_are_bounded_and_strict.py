"""What callers and files send to a mock takes bounded memory and time, and mistakes are errors with a place."""

import json
import socket
import textwrap

import pytest
from support.servers.eliza import Client
from support.wait import eventually

MOCK = "listen: 127.0.0.1:0\n{more}\nmocks:\n  m:\n{options}\ninterceptors: [ {{ mock: m }} ]\n"


def configuration(options, more=""):
    return MOCK.format(options=textwrap.indent(textwrap.dedent(options).strip(), "    "), more=more)


def resident(proxy):
    """The memory of the daemon, in MiB."""
    with open(f"/proc/{proxy.pid}/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))


@pytest.mark.parametrize(
    "rule",
    ['{ respond: { code: not_found, message: "no order {json:/id}" } }', '{ state: { of: "{json:/id}", becomes: paid }, respond: { json: {} } }'],
)
def test_long_texts_of_callers_are_not_kept_without_a_bound(martlet, rule):
    proxy = martlet(configuration(f"methods: {{ Get: [ {rule} ] }}\njournal: 4MiB"))
    with proxy.http() as client:
        for number in range(150):
            client.post("/a.B/Get", json={"id": f"{number} " + "x" * 1_000_000})
    page = json.loads(proxy.admin("/mocks").text)["mocks"][0]
    assert page["journal_bytes"] <= 4 << 20
    assert resident(proxy) < 120


def test_empty_messages_of_a_stream_are_not_kept_without_a_bound(mocked):
    proxy = mocked("methods: { Converse: [ { when: { messages: [ { /sentence: a } ] }, respond: {} } ] }\nunmatched: unimplemented")
    with pytest.raises(Exception, match="messages that are shorter"):
        list(Client(proxy.url, http=2).converse([""] * 80_000))


@pytest.mark.waits
def test_a_call_that_waits_holds_no_parsed_message(martlet):
    proxy = martlet(configuration("methods: { Get: [ { respond: { delay: 1h } } ] }\njournal: 0B"))
    body = ("[" + ",".join(["[0]"] * 300_000) + "]").encode()
    head = f"POST /a.B/Get HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    callers = []

    def call(count):
        for _ in range(count):
            callers.append(socket.create_connection(proxy.address))
            callers[-1].sendall(head + body)
        eventually(lambda: json.loads(proxy.admin("/mocks").text)["mocks"][0]["rules"][0]["applied"] == len(callers), what="the calls")

    # Parsed, each is about 36 MiB.
    call(24)
    assert resident(proxy) < 400
    for caller in callers:
        caller.close()


TAPE = """
---
call: a.B/Get
protocol: connect_unary
codec: json
script:
  - expect: {{ json: {{ "": {{ equals: {request} }} }} }}
    at: 0ms
  - closed: true
    at: 0ms
  - send: {{ json: {response} }}
    at: 1ms
  - end: {{}}
    at: 1ms
...
"""


def test_a_tape_of_many_calls_and_large_messages_is_searched_quickly(martlet, tmp_path):
    large = {f"member {number}": number for number in range(4000)}
    calls = [TAPE.format(request=json.dumps({"id": number}), response=json.dumps({"n": number})) for number in range(3000)]
    calls.append(TAPE.format(request=json.dumps(large), response='{"n": "large"}'))
    (tmp_path / "tape.yaml").write_text("".join(calls))
    proxy = martlet(configuration(f"tape: {tmp_path}/tape.yaml\nrepeat: true"))
    start = proxy.cpu_seconds()
    with proxy.http() as client:
        assert client.post("/a.B/Get", json=large).json() == {"n": "large"}
        for number in (2999, 0, "7", 7.0):
            assert client.post("/a.B/Get", json={"id": number}).json() == {"n": int(number)}
        other = client.post("/a.B/Get", json=large | {"more": 1})
        assert (other.status_code, "asks for another value at" in other.json()["message"]) == (501, True)
    assert proxy.cpu_seconds() - start < 3


@pytest.mark.parametrize("timing", ["1e-300x", "1e-12x", "0x1p-1074x", "0x", "-1x", "1e9x", "nanx", "infx"])
def test_a_rhythm_that_makes_no_sense_is_an_error(command, tmp_path, timing):
    (tmp_path / "tape.yaml").write_text(TAPE.format(request="{}", response="{}").replace("at: 1ms", "at: 100h"))
    (tmp_path / "martlet.yaml").write_text(configuration(f"tape: {tmp_path}/tape.yaml\ntiming: {timing}"))
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, "write none, recorded, or a factor from 0.001x" in result.stderr.text) == (78, True)


def test_the_last_call_is_played_again_to_its_own_request_alone(martlet, tmp_path):
    (tmp_path / "tape.yaml").write_text(TAPE.format(request='{"id": 1}', response='{"n": 1}') + TAPE.format(request='{"id": 2}', response='{"n": 2}'))
    proxy = martlet(configuration(f"tape: {tmp_path}/tape.yaml\norder: recorded\nrepeat: true"))
    with proxy.http() as client:
        assert [client.post("/a.B/Get", json={"id": n}).json() for n in (1, 2, 2)] == [{"n": 1}, {"n": 2}, {"n": 2}]
        assert client.post("/a.B/Get", json={"id": 3}).status_code == 501
        assert client.get("/other").status_code == 501


def test_secrets_of_a_query_are_in_no_error_journal_or_log(martlet, tmp_path):
    (tmp_path / "tape.yaml").write_text(TAPE.format(request="{}", response="{}"))
    proxy = martlet(configuration(f"tape: {tmp_path}/tape.yaml"))
    with proxy.http() as client:
        response = client.get("/x?access_token=SECRET1&%74oken=SECRET2;sid=SECRET3&a=b")
    assert "the tape has no call of GET /x?access_token=***&%74oken=***&a=b" in response.json()["message"]
    for path in ("/mocks/m/calls", "/calls/recent"):
        assert "SECRET" not in proxy.admin(path).text


@pytest.mark.parametrize(
    ("when", "value", "matches"),
    [
        ("{ above: 3, below: 9 }", 5, True),
        ("{ above: 3, below: 9 }", 9, False),
        ("{ not: a, regex: ^b }", "b", True),
        ("{ equals: { not: a } }", {"not": "a"}, True),
        ("{ x: 1, y: 2 }", {"y": 2, "x": "1"}, True),
    ],
)
def test_conditions_together_and_values_that_look_like_conditions(martlet, when, value, matches):
    proxy = martlet(configuration(f"methods: {{ Get: [ {{ when: {{ json: {{ /a: {when} }} }}, respond: {{ json: {{ ok: true }} }} }} ] }}"))
    with proxy.http() as client:
        assert (client.post("/a.B/Get", json={"a": value}).json() == {"ok": True}) == matches


MISTAKES = {
    "when: { json: { /a: { above: abc } } }": '"above" cannot be "abc"; write a number',
    "when: { json: { /a: { length: 1.5 } } }": '"length" cannot be "1.5"; write a count such as 2',
    "when: { json: { /a: { any: paid } } }": '"any" cannot be "paid"; write a list',
    "when: { json: { /a: { contain: a } } }": 'unknown condition "contain"; did you mean "contains"?; write { equals: … } for a value',
    "when: { json: { /a: { Regex: a, above: 3 } } }": 'unknown condition "Regex"',
    "when: { messages: [ a ] }": 'the conditions of a message cannot be "a"',
    "when: { template: '/t/{id' }": '"template" has "{id"; write a name such as {id} for a whole segment',
    "respond: { json: { a: '{path:nope}' } }": 'no part of the path is named "nope"; add it to "template" of the rule',
    "script: [ { reset: false } ]": '"reset" cannot be false; write true, or remove it',
    "script: [ { closed: false } ]": '"closed" cannot be false; write true, or remove it',
    "respond: { echo: false }": '"echo" cannot be false; write true, or remove it',
    "respond: { fail: reset, code: aborted }": '"fail" and "code" cannot be set together; write only one of them',
    "respond: { raw: { text: a }, json: {} }": '"raw" and "json" cannot be set together; write only one of them',
}


@pytest.mark.parametrize("rule", MISTAKES)
def test_what_cannot_work_is_an_error(command, tmp_path, rule):
    (tmp_path / "martlet.yaml").write_text(configuration(f"rules: [ {{ {rule} }} ]"))
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, MISTAKES[rule] in result.stderr.text) == (78, True), result.stderr.text
    assert "martlet.yaml:5:" in result.stderr.text


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ("unmatched: fake", '"unmatched: fake" needs the types of messages; add "types"'),
        ("rules: [ { respond: { fake: true } } ]", '"fake" needs the types of messages; add "types"'),
        ("rules: [ { respond: { code: aborted, details: [ { type: a.B, json: {} } ] } } ]", "the detail a.B needs the types of messages"),
    ],
)
def test_what_needs_types_is_a_warning_without_them(command, tmp_path, options, warning):
    (tmp_path / "martlet.yaml").write_text(configuration(options))
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, warning in result.stderr.text + result.stdout.text) == (0, True)


def test_a_mistake_in_the_last_call_of_a_tape_has_its_place(command, tmp_path):
    call = TAPE.format(request="{}", response="{}")
    (tmp_path / "martlet.yaml").write_text(configuration(f"tape: {tmp_path}/tape.yaml"))
    for text, place in ((call + call.replace("closed: true", "closd: true"), "tape.yaml:24:5"), ("hello: world\n...\n", "tape.yaml:1:1")):
        (tmp_path / "tape.yaml").write_text(text)
        result = command("check", "-c", tmp_path / "martlet.yaml")
        assert (result.code, place in result.stderr.text) == (78, True), result.stderr.text


def test_verify_does_not_say_what_nobody_knows(martlet, command, tmp_path):
    proxy = martlet(configuration("rules: [ { respond: { json: {} } } ]\njournal: 4KiB"))
    with proxy.http() as client:
        client.post("/a.B/Delete", json={})
        for _ in range(50):
            client.post("/a.B/Get", json={})
    (tmp_path / "verify.yaml").write_text("m: [ { method: Delete, times: never }, { method: Get, times: { at_least: 2 } }, { differs: true, times: never } ]\n")
    result = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")
    lines = result.stdout.text.splitlines()
    assert result.code == 1
    assert "m: Delete: nobody knows, as the journal has removed" in lines[0]
    assert lines[1].startswith("ok    ")
    assert lines[2].endswith('m: differs: nobody knows, as the mock has no "diff"')
    (tmp_path / "wrong.yaml").write_text("m: [ { header: x }, { messages: [ a ] }, { times: { at_least: 5, at_most: 1 } }, { call: Get }, { method: a.B/Get } ]\n")
    wrong = command("verify", tmp_path / "wrong.yaml", "--admin", f"unix:{proxy.admin_socket}")
    assert wrong.code == 78
    for problem in ('"header" cannot be "x"', 'the conditions of a message cannot be "a"', "at_most is below at_least; swap them", '"call" cannot be "Get"', 'a method cannot be "a.B/Get"'):
        assert problem in wrong.stderr.text
