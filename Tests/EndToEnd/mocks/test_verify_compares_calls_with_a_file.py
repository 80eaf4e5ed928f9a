"""`martlet verify` compares what mocks have served with a file, and `martlet mocks init` writes a mock to begin with."""

import textwrap

import pytest
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE

RULES = """
methods:
  Say:
    - { when: { json: { /sentence: { regex: ^bye } } }, respond: { code: aborted, message: left } }
    - respond: { json: { sentence: hi } }
"""


@pytest.fixture
def verified(mocked, command, tmp_path):
    """Makes some calls, and compares them with expectations."""
    proxy = mocked(RULES)
    client = Client(proxy.url)
    for sentence in ("hello", "bye", "bye now"):
        try:
            client.say(sentence, headers={"x-who": "me"})
        except Exception as error:
            assert "left" in str(error)
    list(client.converse(["a", "b"]))

    def verify(text):
        (tmp_path / "verify.yaml").write_text(textwrap.dedent(text))
        return command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")

    return verify


HOLD = {
    "a method": "{ method: Say, times: 3 }",
    "several methods": "{ method: [Say, Converse], times: { at_least: 4, at_most: 4 } }",
    "a call": f"{{ call: {SERVICE}/Say, times: 3 }}",
    "a header": "{ header: { x-who: { regex: ^m } }, times: 3 }",
    "the first message": "{ json: { /sentence: { regex: ^bye } }, times: 2 }",
    "all messages": "{ messages: [ { /sentence: a }, { /sentence: b } ], times: 1 }",
    "a pattern of calls": '{ call: "*/Say", times: 3 }',
    "a protocol": "{ protocol: connect_unary, times: 3 }",
    "a code": "{ code: aborted, times: 2 }",
    "nothing went on": "{ next: true, times: never }",
    "never": "{ method: Listen, times: never }",
    "at least once": "{ method: Converse }",
    "nobody left": "{ canceled: true, times: never }",
    "nothing unmatched": "{ unmatched: true, method: Say, times: never }",
}


@pytest.mark.parametrize("name", HOLD)
def test_what_holds(verified, name):
    result = verified(f"eliza:\n  - {HOLD[name]}\n")
    assert (result.code, result.stdout.text.splitlines()[-1]) == (0, "1 expectation, 0 failed"), result.stdout.text
    assert result.stdout.text.startswith("ok    ")


def test_what_does_not_hold_says_what_came(verified):
    result = verified(
        """
        eliza:
          - { method: Say, times: 2 }
          - { method: Listen }
        """
    )
    assert result.code == 1
    lines = result.stdout.text.splitlines()
    assert lines[0].endswith("verify.yaml:3:5  eliza: Say: expected 2 calls, saw 3")
    assert lines[1].strip() == f'#1 {SERVICE}/Say {{"sentence":"hello"}}: ok'
    # Those that count are shown first, and all calls where none of the method came.
    assert lines[4].endswith("eliza: Listen: expected at least 1 call, saw 0")
    assert f'#4 {SERVICE}/Converse {{"sentence":"a"}} and 1 more: ok' in lines[8]
    assert lines[-1] == "2 expectations, 2 failed"


def test_a_wrong_file_and_an_unknown_mock(verified):
    wrong = verified("eliza: [ { metod: Say, times: often } ]")
    assert wrong.code == 78
    assert 'unknown key "metod"; did you mean "method"?' in wrong.stderr.text
    assert '"times" cannot be "often"' in wrong.stderr.text
    unknown = verified("elisa: [ { method: Say } ]")
    assert (unknown.code, 'no mock is named "elisa"; did you mean "eliza"?' in unknown.stderr.text) == (1, True)


def test_a_mock_to_begin_with_serves_every_method(martlet, command, eliza_types, tmp_path):
    types = f"types: {{ files: [{eliza_types}] }}\nlisten: 127.0.0.1:0\n"
    file = tmp_path / "types.yaml"
    file.write_text(types + "upstream: http://127.0.0.1:1\n")
    result = command("mocks", "init", "ElizaService", "-c", file)
    assert result.code == 0, result.stderr.text
    proxy = martlet(types + result.stdout.text + "\ninterceptors: [ { mock: eliza } ]\n")
    client = Client(proxy.url)
    assert client.say("x") == "sentence 0"
    assert list(client.converse(["x"])) == ["sentence 0"]
    assert list(client.introduce("x")) == ["sentence 0"]
    assert client.listen(["x"]) == "sentence 0"
    missing = command("mocks", "init", "Elisa", "-c", file)
    assert (missing.code, "no service is named" in missing.stderr.text) == (1, True)


def test_messages_are_invented(mocked):
    proxy = mocked("unmatched: fake\nmethods: { Listen: [ { respond: { fake: true } } ] }")
    client = Client(proxy.url)
    assert client.say("x").startswith("sentence ")
    assert client.listen(["x"]).startswith("sentence ")
