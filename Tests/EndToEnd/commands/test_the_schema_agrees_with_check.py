"""The JSON Schema accepts what `martlet check` accepts, and rejects what a table of options forbids."""

import json
import re

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from support.martlet import ROOT, SHIPPED

# What a file must have; left out where a text brings its own.
BASIS = {"listen": "127.0.0.1:0", "upstream": "http://127.0.0.1:1"}

GOOD = {
    "a kind by its name alone": "interceptors: [log, metrics]",
    "a kind without options": "interceptors:\n  - log:\n  - metrics: {}",
    "a chain that is empty": "interceptors:\nchains: { a: , b: [] }",
    "text that looks like something else": "interceptors: [{ name: 7, respond: { body: 1.5, headers: { x: true } } }]",
    "numbers in quotes": 'workers: "4"\ninterceptors: [{ metrics: { methods: "10" } }]',
    "truth in quotes": 'listeners: [{ address: "127.0.0.1:1", allow_remote: "true" }]',
    "what is not a number": "workers: auto",
    "sections without a value": "drain:\nlisteners: [{ address: 127.0.0.1:0, timeouts: , limits: {} }]",
    "short forms": "admin: 127.0.0.1:1\nlisteners: [127.0.0.1:0]\nupstreams: { a: h2c://127.0.0.1:1 }",
    "several addresses": "listen: [127.0.0.1:0, unix:@a]",
    "durations": "drain: { min: 0s, max: none }\nupstreams: { a: { url: http://a, timeouts: { call: 250ms } } }",
    "sizes": "listeners: [{ address: 127.0.0.1:0, limits: { head: 4096, request_message: 4MiB, response_message: none } }]",
    "headers of a condition": "routes: [{ match: { header: { a: present, b: [c, 1], d: { regex: e }, f: { exact: [g] } } } }]",
    "callers of a condition": "routes: [{ match: { service: [a.B, a.C], peer: { uid: 0, gid: [1, 2] } } }]",
    "an unquoted version": "upstreams: { a: { url: https://a, tls: { minimum: 1.3 } } }",
    "going on without a token": "interceptors: [{ token: { file: /a, on_error: continue } }]",
    "a rejection without a token": "interceptors: [{ token: { file: /a, on_error: { code: internal } } }]",
    "any message": "interceptors: [{ respond: { json: [{ a: [null, 1] }] } }]",
}
BAD = {
    "an unknown key": "listn: 127.0.0.1:0",
    "an unknown key further down": "drain: { minimum: 1s }",
    "an unknown option of a kind": "interceptors: [{ metrics: { method: 1 } }]",
    "an unknown kind": "interceptors: [{ heders: {} }]",
    "an unknown kind by its name alone": "interceptors: [heders]",
    "two kinds in one item": "interceptors: [{ metrics: {}, log: {} }]",
    "an item without a kind": "interceptors: [{ name: a }]",
    "a chain that is none": "chains: { a: { log: {} } }",
    "a mapping for a string": "log_level: { a: b }",
    "a word that is none of the choice": "log_level: loud",
    "a number for a duration": "drain: { max: 30 }",
    "a duration that may not be zero": "upstreams: { a: { url: http://a, timeouts: { idle: 0s } } }",
    "a unit that there is not": "listeners: [{ address: 127.0.0.1:0, limits: { head: 64kB } }]",
    "a size beyond its bounds": "listeners: [{ address: 127.0.0.1:0, limits: { head: 1 } }]",
    "a number beyond its bounds": "workers: 65",
    "a fraction": "workers: 1.5",
    "something that is not true or false": "listeners: [{ address: 127.0.0.1:0, allow_remote: yes }]",
    "a mapping for a list": "listeners: { address: 127.0.0.1:0 }",
    "a list for a mapping": "upstreams: [http://127.0.0.1:1]",
    "an option that is missing": "interceptors: [{ reject: { message: a } }]",
    "a kind that needs options": "interceptors: [reject]",
    "none of a group": "interceptors: [{ token: { header: a } }]",
    "two of a group": "interceptors: [{ token: { file: /a, env: HOME } }]",
    "another word than the one": "interceptors: [{ token: { file: /a, on_error: go_on } }]",
    "a condition that asks nothing known": "interceptors: [{ when: { pth: /a }, log: {} }]",
    "a header of a condition without a value": "routes: [{ match: { header: { a: } } }]",
}


@pytest.fixture
def schema(command):
    return json.loads(command("schema").stdout.text)


@pytest.fixture
def errors_of(schema):
    """What the schema has against a text, which is read by YAML 1.2 as editors do."""
    validator = Draft202012Validator(schema)
    return lambda text: [error.message for error in validator.iter_errors(YAML(typ="safe", pure=True).load(text))]


@pytest.fixture
def is_good(command, tmp_path):
    """Whether `martlet check` accepts a text."""

    def check(text):
        (tmp_path / "martlet.yaml").write_text(text)
        result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
        assert result.code in (0, 78), result.stderr.text
        return result.code == 0

    return check


def whole(text):
    """The text with what a file must have."""
    missing = (f"{key}: {value}\n" for key, value in BASIS.items() if not re.search(f"^{key}(er)?s?:", text, re.MULTILINE))
    return "".join(missing) + text + "\n"


def subschemas(node):
    if isinstance(node, dict):
        yield node
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from subschemas(value)


def test_it_is_a_schema(schema):
    Draft202012Validator.check_schema(schema)


def test_defaults_and_examples_are_good_values(schema):
    stated = [each for each in subschemas(schema) if "description" in each]
    values = [(each, value) for each in stated for value in [*each.get("examples", []), each.get("default")]]
    assert len(stated) > 50
    for each, value in values:
        assert value is None or Draft202012Validator(each).is_valid(value), (value, each)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_every_shipped_file_is_valid(errors_of, file):
    assert errors_of(file.read_text()) == []


def test_every_setting_of_the_default_file_is_valid(errors_of):
    text = re.sub(r"^( *)#(?=\S|  )", r"\1", (ROOT / "etc/martlet.yaml").read_text(), flags=re.MULTILINE)
    assert "\nroutes:" in text and errors_of(text) == []


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_both_accept(errors_of, is_good, text):
    assert is_good(whole(text))
    assert errors_of(whole(text)) == []


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_both_reject(errors_of, is_good, text):
    assert not is_good(whole(text))
    assert errors_of(whole(text)) != []
