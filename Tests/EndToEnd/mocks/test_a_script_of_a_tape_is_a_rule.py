"""The script of a recorded call can be copied into a mock, whatever it has in it."""

import textwrap

import pytest
from support.eliza_callers import caller  # noqa: F401
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE

EXPECT = '- expect: { json: { "": { equals: {"sentence": "a"} } } }\n  at: 0ms\n- closed: true\n  at: 1ms\n'
SEND = '- send: { json: {"sentence": "b"} }\n'
# What stands on a tape, by what it is. The method is Say, and the caller sends `{"sentence": "a"}`.
FORMS = {
    "JSON": EXPECT + SEND + "- end: {}\n  at: 31250us\n",
    "JSON with its bytes": EXPECT.replace("} } } }", '} } }, base64: "CgFhGAE=" }') + '- send: { json: {"sentence": "b"}, base64: "CgFiGAE=" }\n- end: {}\n',
    "braces": EXPECT + '- send: { json: {"sentence": "{{b}}"} }\n- end: {}\n',
    "a head": EXPECT + '- headers: { x-a: "{{1}}", x-b: "2" }\n  at: 2ms\n' + SEND + "- end: {}\n",
    "trailers": EXPECT + SEND + '- end: { trailers: { x-cost: "1" } }\n',
    "no end": EXPECT + SEND,
    "an end with who ended": EXPECT + SEND + '- end: {}\n  by: "interceptor:x"\n  at: 3ms\n',
    "a message that was too long": '- expect: { cut: 70000 }\n- closed: true\n' + SEND + "- end: {}\n",
    "a message that was withheld": '- expect: { withheld: 12 }\n- closed: true\n' + SEND + "- end: {}\n",
    "any message": '- expect: {}\n- closed: true\n' + SEND,
}
ERRORS = {
    "an error": EXPECT + '- end: { code: not_found, message: "no {{a}}" }\n  by: "upstream"\n',
    "details": EXPECT + '- end: { code: not_found, message: "no {{a}}", details: [ { type: google.rpc.RetryInfo, base64: "CgIIAg==" } ] }\n',
}


@pytest.fixture
def ruled(mocked):
    """Starts Martlet with this script as the rule of Say."""

    def start(script, **options):
        return mocked("methods:\n  Say:\n    - script:\n" + textwrap.indent(script, "        "), **options)

    return start


@pytest.mark.parametrize("name", FORMS)
def test_recorded_messages(ruled, name):
    proxy = ruled(FORMS[name])
    for codec in ("proto", "json"):
        assert Client(proxy.url, codec).say("a").strip("{}") == "b"


@pytest.mark.parametrize("name", ERRORS)
def test_recorded_errors(ruled, name):
    with pytest.raises(Exception, match="no {a}"):
        Client(ruled(ERRORS[name]).url).say("a")


def test_the_bytes_beside_json_are_for_callers_in_protobuf(ruled):
    proxy = ruled(FORMS["JSON with its bytes"])
    with proxy.http() as client:
        response = client.post(f"/{SERVICE}/Say", content=b"\x0a\x01a", headers={"content-type": "application/proto"})
        assert response.content == b"\x0a\x01b\x18\x01"
        assert client.post(f"/{SERVICE}/Say", json={"sentence": "a"}).json() == {"sentence": "b"}


# A message that no type says anything of: the caller's body, the expectation, and what comes back.
OPAQUE = {
    "text": ("no json", 'text: "no json"', 'text: "{{no}} json"', b"{no} json"),
    "text of several lines": ("a\nb", 'text: "a\\nb"', 'text: "c\\nd"', b"c\nd"),
    "bytes": ("\x01\x02", 'base64: "AQI="', 'base64: "AwQ="', b"\x03\x04"),
    "no bytes": ("", 'text: ""', 'text: ""', b""),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_messages_without_a_type(martlet, name):
    body, expected, sent, response = OPAQUE[name]
    proxy = martlet(
        f"listen: 127.0.0.1:0\nmocks: {{ m: {{ methods: {{ Say: [ {{ script: [ {{ expect: {{ {expected} }} }}, {{ send: {{ {sent} }} }} ] }} ] }} }} }}\ninterceptors: [ {{ mock: m }} ]\n"
    )
    with proxy.http() as client:
        headers = {"content-type": "application/proto", "connect-protocol-version": "1"}
        assert client.post("/a.B/Say", content=body.encode(), headers=headers).content == response
        other = client.post("/a.B/Say", content=b"other", headers=headers)
        assert (other.status_code, other.json()["code"]) == (400, "failed_precondition")


PLAIN = {
    "text": ('respond: { status: 201, headers: { content-type: "text/plain", x-a: "{{1}}" }, body: "a {b}" }', 201, b"a {b}"),
    "bytes": ('respond: { status: 200, headers: {}, body_base64: "AQI=" }', 200, b"\x01\x02"),
    "no body": ('respond: { status: 204, headers: {} }', 204, b""),
    "a coding": ('respond: { status: 200, headers: { content-encoding: "pack" }, body_base64: "AQI=" }', 200, b"\x01\x02"),
    "an end by somebody": ('respond: { status: 503, headers: {}, body: "" }\n  by: "upstream"', 503, b""),
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("http2", [False, True], ids=["http1", "http2"])
def test_recorded_responses_of_plain_http(martlet, name, http2):
    step, status, body = PLAIN[name]
    script = textwrap.indent(f"- expect: {{ json: {{ '': {{ equals: {{ a: 1 }} }} }} }}\n  at: 0ms\n- closed: true\n- {step}\n  at: 2ms\n", "        ")
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks:\n  m:\n    rules:\n    - script:\n{script}interceptors: [ {{ mock: m }} ]\n")
    with proxy.http(http1=not http2, http2=http2) as client:
        response = client.post("/x", json={"a": 1}, headers={"accept-encoding": "pack"})
        assert (response.status_code, response.content) == (status, body)


@pytest.mark.parametrize("key", ["cut", "withheld"])
def test_a_message_that_was_not_recorded_cannot_be_sent(command, tmp_path, key):
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:0\nmocks: {{ m: {{ methods: {{ Say: [ {{ script: [ {{ send: {{ {key}: 9 }} }} ] }} ] }} }} }}\ninterceptors: [ {{ mock: m }} ]\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78
    assert f'the message was not recorded; write it as "json", "text" or "base64" in place of "{key}"' in result.stderr.text


@pytest.mark.parametrize("rule", ["{}", "{ methods: { Say: [ { respond: {} } ] } }", "{ methods: { Say: [ { respond: { headers: { x-a: b } } } ] } }"])
def test_an_empty_message_needs_no_types(martlet, caller, rule):
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks: {{ eliza: {rule} }}\ninterceptors: [ {{ mock: eliza }} ]\n")
    client = caller(proxy)
    assert client.say("hello") == ""
    assert client.listen(["a", "b"]) is not None
