"""One mock gives callers of every protocol, HTTP version and codec the same messages, errors and trailers."""

import time

import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.errors import ConnectError

RULES = """
methods:
  Say:
    - { when: { json: { /sentence: { regex: "^bye" } } }, times: 2, respond: { json: { sentence: "Bye!" } } }
    - when: { header: { x-fail: present } }
      respond:
        code: resource_exhausted
        message: "slow down, {json:/sentence} ☂"
        details: [ { type: connectrpc.eliza.v1.SayResponse, json: { sentence: later } } ]
        trailers: { x-cost: "1" }
    - respond: { json: { sentence: "You said {json:/sentence}" }, headers: { x-method: "{method}" }, trailers: { x-cost: "2" } }
  Converse:
    - script:
        - headers: { x-head: "123" }
        - send: { json: { sentence: welcome } }
        - expect: { json: { /sentence: { any: [hello, hi] } } }
        - each: [ { send: { json: { sentence: "{json:/sentence} {message.number}" } } } ]
        - end: { code: aborted, message: enough, trailers: { x-left: "0" } }
  Introduce:
    - outputs: [ { send: { json: { sentence: "I am {json:/name}" } } }, { send: { json: { sentence: "How are you?" } } } ]
  Listen:
    - respond: { json: { sentence: "{message.number} messages, the last is {json:/sentence}" } }
"""


def failure(of):
    with pytest.raises(ConnectError) as caught:
        of()
    return caught.value


def test_unary_calls(mocked, caller):
    client = caller(mocked(RULES))
    with ResponseMetadata() as metadata:
        assert client.say("hello") == "You said hello"
    assert metadata.headers["x-method"] == "Say"
    assert metadata.trailers["x-cost"] == "2"
    assert [client.say("bye now") for _ in range(3)] == ["Bye!", "Bye!", "You said bye now"]


def test_errors(mocked, caller):
    client = caller(mocked(RULES))
    error = failure(lambda: client.say("hello", headers={"x-fail": "1"}))
    assert (error.code, error.message) == (Code.RESOURCE_EXHAUSTED, "slow down, hello ☂")
    assert [(item.type_name, item.message_bytes) for item in error.details] == [("connectrpc.eliza.v1.SayResponse", b"\n\x05later")]


def test_streams(mocked, caller):
    proxy = mocked(RULES)
    client = caller(proxy)
    assert list(client.introduce("Bob")) == ["I am Bob", "How are you?"]
    assert client.listen(["a", "b", "c"]) == "3 messages, the last is c"
    got = []

    def converse(*sentences):
        for sentence in client.converse(sentences):
            got.append(sentence)

    error = failure(lambda: converse("hello", "one", "two"))
    assert (error.code, error.message, got) == (Code.ABORTED, "enough", ["welcome", "one 2", "two 3"])


def test_a_message_that_does_not_fit(mocked, caller):
    client = caller(mocked(RULES))
    error = failure(lambda: list(client.converse(["farewell"])))
    assert (error.code, error.message) == (Code.FAILED_PRECONDITION, "mock eliza: message 1 has another value at /sentence")
    error = failure(lambda: list(client.converse([])))
    assert (error.code, error.message) == (
        Code.FAILED_PRECONDITION,
        "mock eliza: the script expects a message, but the request is complete",
    )


def test_a_method_without_rules(mocked, caller):
    client = caller(mocked("methods: {}"))
    assert client.say("hello") == ""
    assert list(client.introduce("Bob")) == [""]
    client = caller(mocked("unmatched: unimplemented"))
    error = failure(lambda: client.say("hello"))
    assert (error.code, error.message) == (Code.UNIMPLEMENTED, "mock eliza: it has no rule for the method")


def test_a_delay(mocked, caller):
    client = caller(mocked("methods: { Say: [ { respond: { json: { sentence: late }, delay: 300ms } } ] }"))
    start = time.monotonic()
    assert client.say("hello") == "late"
    assert 0.3 <= time.monotonic() - start < 3


@pytest.mark.parametrize(
    "failing, words",
    [
        ("reset", "upstream eliza: the connection was closed before the response"),
        ("connect", "upstream eliza: cannot connect to 127.0.0.1:1: Connection refused"),
        ("timeout", "upstream eliza: no response within timeouts.attempt"),
        ("dns", "upstream eliza: no such host"),
    ],
)
def test_an_upstream_that_is_not_there(mocked, caller, failing, words):
    client = caller(mocked(f"methods: {{ Say: [ {{ respond: {{ fail: {failing} }} }} ] }}"))
    error = failure(lambda: client.say("hello"))
    code = Code.DEADLINE_EXCEEDED if failing == "timeout" else Code.UNAVAILABLE
    assert (error.code, error.message) == (code, words)
