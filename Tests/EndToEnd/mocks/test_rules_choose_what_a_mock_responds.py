"""The first rule of a mock that a call fulfills is for it, and calls without one go where `unmatched` says."""

import concurrent.futures

import pytest
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE


def say(proxy, sentence="hello", **headers):
    with proxy.http() as client:
        return client.post(f"/{SERVICE}/Say", json={"sentence": sentence}, headers=headers)


CONDITIONS = {
    "present": ("present", ["", "x"], []),
    "a value": ("hello", ["hello"], ["Hello", ""]),
    "not": ("{ not: hello }", ["x"], ["hello"]),
    "any": ('{ any: [a, { regex: "^b" }] }', ["a", "bc"], ["cb", ""]),
    "regex": ('{ regex: "^b.d$" }', ["bad"], ["bd", "abad"]),
    "contains": ("{ contains: ell }", ["hello"], ["help"]),
    "length": ("{ length: 2 }", ["ab", "é☂"], ["a", "abc"]),
    "above": ("{ above: 3 }", ["4", "3.5"], ["3", "x", ""]),
    "below": ("{ below: 3 }", ["-1", "2.9"], ["3", "x"]),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_on_the_message(martlet, name):
    test, good, bad = CONDITIONS[name]
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        mocks:
          eliza:
            methods: {{ Say: [ {{ when: {{ json: {{ /sentence: {test} }} }}, respond: {{ json: {{ sentence: yes }} }} }} ] }}
            unmatched: unimplemented
        interceptors: [ {{ mock: eliza }} ]
        """
    )
    for sentence in good:
        assert say(proxy, sentence).json() == {"sentence": "yes"}, sentence
    for sentence in bad:
        assert say(proxy, sentence).json()["code"] == "unimplemented", sentence
        assert "asks for another value at /sentence" in say(proxy, sentence).json()["message"]


def test_what_is_unmatched_goes_on_to_the_upstream(mocked, eliza):
    proxy = mocked(
        'methods: { Say: [ { when: { json: { /sentence: { regex: "^mock" } } }, respond: { json: { sentence: mocked } } } ] }',
        more=f"upstream: {eliza.url}",
        interceptors="[ { mock: { name: eliza, unmatched: next } }, { headers: { request: { set: { x-behind: '1' } } } } ]",
    )
    client = Client(proxy.url)
    assert client.say("mock me") == "mocked"
    assert client.say("real") == "Eliza heard real"
    assert list(client.converse(["a", "b"])) == ["Eliza heard a", "Eliza heard b"]
    # A request without any message waits for none.
    with proxy.http() as plain:
        assert plain.post(f"/{SERVICE}/Say", content=b"", headers={"content-type": "application/proto"}).status_code == 200


def test_the_real_thing_by_one_line_and_a_reload(mocked, eliza):
    options = "methods: { Say: [ { respond: { json: { sentence: mocked } } } ] }"
    proxy = mocked(options, more=f"upstream: {eliza.url}")
    client = Client(proxy.url)
    assert client.say("hello") == "mocked"
    text = (proxy.directory / "martlet.yaml").read_text()
    proxy.reload(text.replace("interceptors: [ { mock: eliza } ]", "interceptors: []"))
    assert client.say("hello") == "Eliza heard hello"
    proxy.reload(text)
    assert client.say("hello") == "mocked"


def test_rules_that_apply_so_many_times_do_so_in_all_workers_together(mocked):
    proxy = mocked(
        "methods: { Say: [ { times: 7, respond: { json: { sentence: few } } }, { respond: { json: { sentence: many } } } ] }",
        more="workers: 4",
    )
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: say(proxy).json()["sentence"], range(200)))
    assert (found.count("few"), found.count("many")) == (7, 193)


def test_plain_http(martlet):
    proxy = martlet(
        """
        listen: 127.0.0.1:0
        mocks:
          files:
            rules:
              - { when: { path: /a }, respond: { body: "A {header:x-who}", headers: { content-type: text/plain } } }
              - { when: { path: /gone/ }, respond: { status: 410, body: gone } }
              - { when: { path: /json, json: { /a: 1 } }, respond: { body: one } }
              - { when: { path: /late }, script: [ { wait: 1ms }, { send: { text: sent } } ] }
              - { when: { path: /broken }, script: [ { end: { code: not_found, message: lost } } ] }
        interceptors: [ { mock: files } ]
        """
    )
    with proxy.http() as client:
        response = client.get("/a", headers={"x-who": "me"})
        assert (response.status_code, response.text, response.headers["content-type"]) == (200, "A me", "text/plain")
        assert (client.post("/gone/x", content=b"x").status_code, client.get("/gone/y").text) == (410, "gone")
        assert client.post("/json", json={"a": 1}).text == "one"
        assert client.post("/json", json={"a": 2}).status_code == 501
        assert (client.get("/late").text, client.get("/broken").json()) == ("sent", {"code": "not_found", "message": "lost"})
        other = client.get("/other")
        assert (other.status_code, other.json()["message"]) == (501, "mock files: the rule at 6:9 asks for another path")


def test_interceptors_before_a_mock_see_its_calls_and_those_behind_do_not(mocked):
    proxy = mocked(
        "methods: { Say: [ { respond: { json: { sentence: mocked } } } ] }",
        interceptors="""
          - headers: { response: { set: { x-before: "1" } } }
          - mock: eliza
          - reject: { code: unavailable }
          """,
    )
    response = say(proxy)
    assert (response.json(), response.headers["x-before"]) == ({"sentence": "mocked"}, "1")
    metrics = proxy.metrics()
    assert metrics.total("martlet_upstream_attempts_total", upstream="eliza", result="ok") == 1


@pytest.mark.parametrize(
    "text, words",
    [
        ("interceptors: [ { mock: elisa } ]", 'no mock is named "elisa"; did you mean "eliza"?'),
        ("interceptors: [ { mock: eliza } ]\nmocks: { eliza: { methods: { Say: x } } }", "the rules of a method cannot be"),
        (
            "interceptors: [ { mock: eliza } ]\nmocks: { eliza: { methods: { Say: [ { respond: {}, script: [] } ] } } }",
            '"respond" and "script" cannot be set together',
        ),
        (
            'interceptors: [ { mock: eliza } ]\nmocks: { eliza: { rules: [ { when: { json: { /a: { regex: "(" } } } } ] } }',
            "missing closing parenthesis",
        ),
        ("interceptors: [ { mock: eliza } ]\nmocks: { eliza: { rules: [ { respond: { json: '{foo}' } } ] } }", "{foo} is unknown"),
        ("interceptors: [ { mock: eliza } ]\nmocks: { eliza: { rule: [] } }", 'unknown key "rule"; did you mean'),
        ("interceptors: [ { mock: eliza } ]\nmocks: { eliza: { rules: [ { script: [ { wait: 1s, reset: true } ] } ] } }", "cannot be set together"),
    ],
)
def test_mistakes(command, tmp_path, text, words):
    file = tmp_path / "mock.yaml"
    more = "" if "mocks:" in text else "\nmocks: { eliza: {} }"
    file.write_text(f"listen: 127.0.0.1:0\n{text}{more}\n")
    result = command("check", "-c", file)
    assert result.code == 78
    assert words in result.stderr.text


def test_many_rules_that_ask_for_different_values_in_one_place(martlet):
    rules = [f"{{ when: {{ json: {{ /id: {value} }} }}, respond: {{ json: {{ rule: {number} }} }} }}" for number, value in enumerate([*range(2000), '"7"', "true", "null", "a b"])]
    own = [
        "{ when: { json: { /id: 5 }, header: { x-first: present } }, respond: { json: { rule: first } } }",
        *rules,
        "{ when: { json: { /id: { above: 5000 } } }, respond: { json: { rule: above } } }",
        "{ when: { json: { /id: 3, /more: present } }, respond: { json: { rule: never } } }",
    ]
    proxy = martlet(
        f"listen: 127.0.0.1:0\nmocks: {{ many: {{ unmatched: unimplemented, methods: {{ Get: [ {', '.join(own)} ] }} }} }}\n"
        "interceptors: [ { mock: many } ]\n"
    )
    found = {0: 0, 5: 5, 1999: 1999, "7": 7, True: 2001, None: 2002, "a b": 2003, 6000: "above", 7.0: 7}
    with proxy.http() as client:
        for value, rule in found.items():
            assert client.post("/a.B/Get", json={"id": value}).json() == {"rule": rule}, value
        assert client.post("/a.B/Get", json={"id": 5}, headers={"x-first": "1"}).json() == {"rule": "first"}
        assert client.post("/a.B/Get", json={"id": 3, "more": 1}).json() == {"rule": 3}
        for other in ({"id": 2000}, {"id": "8 "}, {"id": [1]}, {}):
            message = client.post("/a.B/Get", json=other).json()["message"]
            assert message.endswith("asks for another value at /id"), message


@pytest.mark.parametrize("unmatched", ["unimplemented", "next"])
def test_conditions_on_all_messages_of_a_stream(mocked, eliza, unmatched, caller):
    rules = """
    methods:
      Listen:
        - { when: { messages: [ { /sentence: a }, { /sentence: { regex: ^b } } ] }, respond: { json: { sentence: two } } }
        - { when: { json: { /sentence: a }, messages: [ {}, {}, {} ] }, respond: { json: { sentence: three } } }
    """
    proxy = mocked(
        rules,
        more=f"upstreams: {{ default: {{ url: {eliza.url}, speaks: connect }} }}",
        interceptors=f"[ {{ mock: {{ name: eliza, unmatched: {unmatched} }} }} ]",
    )
    client = caller(proxy)
    assert client.listen(["a", "bc"]) == "two"
    assert client.listen(["a", "x", "y"]) == "three"
    if unmatched == "next":
        assert client.listen(["a", "x"])
    else:
        with pytest.raises(Exception, match="asks for another value at /sentence of message 2"):
            client.listen(["a", "x"])
        with pytest.raises(Exception, match="asks for 2 messages"):
            client.listen(["b", "x", "y"])


def test_messages_that_are_too_long_to_be_compared_end_the_call(mocked):
    proxy = mocked("methods: { Listen: [ { when: { messages: [ {}, {}, {} ] }, respond: { json: {} } } ] }\nunmatched: unimplemented")
    with pytest.raises(Exception, match="asks for messages that are shorter"):
        Client(proxy.url).listen(["x" * 2_000_000] * 3)


def test_a_script_beside_a_rule_for_all_messages_is_an_error(command, tmp_path):
    file = tmp_path / "mock.yaml"
    file.write_text(
        "listen: 127.0.0.1:0\nmocks:\n  m:\n    methods:\n      Listen:\n        - when: { messages: [ {} ] }\n        - script: [ { expect: {} } ]\n"
        "interceptors: [ { mock: m } ]\n"
    )
    result = command("check", "-c", file)
    assert (result.code, "mock.yaml:7:11: another rule of the method waits for all" in result.stderr.text) == (78, True)
