"""What a mock makes of the types: invalid messages, its own mistakes, numbers in quotes, details without types."""

import base64
import json

import pytest
from support.servers.eliza_messages import SERVICE

JSON_ONLY = """
listen: 127.0.0.1:0
{more}
mocks:
  orders:
    {options}
    rules: {rules}
interceptors: [ {{ mock: orders }} ]
"""


@pytest.fixture
def untyped(martlet):
    def start(rules, options="", more="", **arguments):
        return martlet(JSON_ONLY.format(rules=rules, options=options, more=more), **arguments)

    return start


def post(proxy, path, body, **headers):
    with proxy.http() as client:
        return client.post(path, json=body, headers=headers)


@pytest.mark.parametrize("sent", [5, "5"])
@pytest.mark.parametrize("asked", ["5", '"5"', "{ equals: 5 }", '{ any: [ 4, 5 ] }', "{ not: 6 }"])
def test_numbers_count_by_their_worth(untyped, sent, asked):
    proxy = untyped(f"[ {{ when: {{ json: {{ /id: {asked} }} }}, respond: {{ json: {{ ok: true }} }} }}, {{ respond: {{ json: {{ ok: false }} }} }} ]")
    assert post(proxy, "/a.B/C", {"id": sent}).json() == {"ok": True}
    assert post(proxy, "/a.B/C", {"id": 6}).json() == {"ok": False}


def test_numbers_count_by_their_worth_among_many_rules(untyped):
    rules = ", ".join(f"{{ when: {{ json: {{ /id: {i} }} }}, respond: {{ json: {{ n: {i} }} }} }}" for i in range(40))
    proxy = untyped(f"[ {rules} ]")
    assert [post(proxy, "/a.B/C", {"id": value}).json()["n"] for value in (7, "7", 39, "39")] == [7, 7, 39, 39]


def test_details_of_google_rpc_need_no_types(untyped):
    proxy = untyped(
        '[ { respond: { code: resource_exhausted, message: slow, details: ['
        " { type: google.rpc.RetryInfo, json: { retryDelay: 2s } },"
        " { type: google.rpc.ErrorInfo, json: { reason: BUSY, metadata: { zone: a } } },"
        ' { type: google.rpc.BadRequest, json: { fieldViolations: [ { field: id, description: "order {json:/id}" } ] } } ] } } ]'
    )
    details = post(proxy, "/a.B/C", {"id": 7}).json()["details"]
    from google.rpc import error_details_pb2 as known

    retry, info, bad = [
        getattr(known, one["type"].split(".")[-1]).FromString(base64.b64decode(one["value"] + "==")) for one in details
    ]
    assert (retry.retry_delay.seconds, info.reason, dict(info.metadata)) == (2, "BUSY", {"zone": "a"})
    assert [(one.field, one.description) for one in bad.field_violations] == [("id", "order 7")]


def test_every_detail_of_google_rpc_is_as_it_is_defined(untyped):
    from google.protobuf import json_format
    from google.rpc import error_details_pb2 as known

    values = {
        "ErrorInfo": known.ErrorInfo(reason="a", domain="b", metadata={"c": "d"}),
        "DebugInfo": known.DebugInfo(stack_entries=["a", "b"], detail="c"),
        "QuotaFailure": known.QuotaFailure(
            violations=[
                known.QuotaFailure.Violation(
                    subject="a",
                    description="b",
                    **{
                        key: value
                        for key, value in {
                            "api_service": "c",
                            "quota_metric": "d",
                            "quota_id": "e",
                            "quota_dimensions": {"f": "g"},
                            "quota_value": 7,
                            "future_quota_value": 8,
                        }.items()
                        if key in known.QuotaFailure.Violation.DESCRIPTOR.fields_by_name
                    },
                )
            ]
        ),
        "PreconditionFailure": known.PreconditionFailure(
            violations=[known.PreconditionFailure.Violation(type="a", subject="b", description="c")]
        ),
        "RequestInfo": known.RequestInfo(request_id="a", serving_data="b"),
        "ResourceInfo": known.ResourceInfo(resource_type="a", resource_name="b", owner="c", description="d"),
        "Help": known.Help(links=[known.Help.Link(description="a", url="b")]),
        "LocalizedMessage": known.LocalizedMessage(locale="a", message="b"),
    }
    texts = [
        f"{{ type: google.rpc.{name}, json: {json.dumps(json_format.MessageToDict(value))} }}" for name, value in values.items()
    ]
    proxy = untyped(f"[ {{ respond: {{ code: aborted, details: [ {', '.join(texts)} ] }} }} ]")
    details = post(proxy, "/a.B/C", {}).json()["details"]
    read = {
        one["type"].split(".")[-1]: getattr(known, one["type"].split(".")[-1]).FromString(base64.b64decode(one["value"] + "=="))
        for one in details
    }
    assert read == values


@pytest.mark.parametrize("unmatched", ["empty", "unimplemented"])
@pytest.mark.parametrize("rule", ["respond: { json: { sentence: a } }", "script: [ { expect: { json: { /sentence: present } } } ]"])
def test_a_request_that_is_not_of_its_type_is_an_invalid_argument(mocked, unmatched, rule):
    proxy = mocked(f"unmatched: {unmatched}\nmethods: {{ Say: [ {{ {rule} }} ] }}")
    response = post(proxy, f"/{SERVICE}/Say", {"sentense": "a"})
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")
    assert response.json()["message"].startswith("message 1 of the request is not valid for its type: ")


MISTAKES = {
    "an unknown detail": (
        "methods: { Say: [ { respond: { code: aborted, details: [ { type: google.rpc.RetryInf, json: {} } ] } } ] }",
        "the type google.rpc.RetryInf of a detail is unknown; did you mean google.rpc.RetryInfo?",
        78,
    ),
    "two messages": (
        "methods: { Say: [ { outputs: [ { send: { json: {} } }, { send: { json: {} } } ] } ] }",
        "the response has 2 messages, but the call is unary; write one",
        0,
    ),
    "plain HTTP of a service": (
        "rules: [ { when: { url: /a }, respond: { body: a } } ]",
        'plain HTTP is of no service, and passes by the mock; write the rule in a mock without "service"',
        0,
    ),
    "rules that never apply": (
        "methods: { Say: [ { respond: { json: {} } }, { respond: { json: {} } } ] }",
        'the rules behind this one never apply; move it to the end, or add "when"',
        0,
    ),
    "a state that nobody leaves": (
        "methods: { Say: [ { state: { is: payed }, respond: { json: {} } }, { state: { becomes: paid }, respond: { json: {} } } ] }",
        'no rule leaves the state "payed"; did you mean "paid"?',
        0,
    ),
    "a method": ("methods: { Sey: [] }", 'has no method "Sey"; did you mean Say?', 0),
    "a place": ("methods: { Say: [ { when: { json: { /sentense: a } } } ] }", "no message has /sentense; did you mean /sentence?", 0),
    "a place of a script": (
        "methods: { Converse: [ { script: [ { expect: { json: { /sentense: a } } } ] } ] }",
        "no message has /sentense; did you mean /sentence?",
        0,
    ),
    "a message": ("methods: { Say: [ { respond: { json: { sentense: a } } } ] }", "the message is not valid: ", 78),
    "a message with templates": ('methods: { Say: [ { respond: { json: { sentence: "{now}", x: 1 } } } ] }', "the message is not valid: ", 78),
    "a message of a stream": ("methods: { Converse: [ { outputs: [ { send: { json: { sentence: 7 } } } ] } ] }", "the message is not valid: ", 78),
    "a detail": (
        "methods: { Say: [ { respond: { code: aborted, details: [ { type: google.rpc.RetryInfo, json: { delay: 2s } } ] } } ] }",
        "the detail is not valid: google.rpc.RetryInfo",
        78,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_check_finds_what_the_types_do_not_have(command, eliza_types, tmp_path, mistake):
    options, text, exit_code = MISTAKES[mistake]
    path = tmp_path / "martlet.yaml"
    path.write_text(
        f"listen: 127.0.0.1:0\nmocks:\n  eliza:\n    service: {SERVICE}\n    {options}\n"
        f"interceptors: [ {{ mock: eliza }} ]\ntypes: {{ files: [{eliza_types}] }}\n"
    )
    result = command("check", "--config", path)
    assert text in result.stdout.text + result.stderr.text
    assert result.code == exit_code


def test_json_callers_get_the_json_of_protobuf(mocked):
    """Defaults are left out, and names are those of ProtoJSON, whatever the file writes."""
    proxy = mocked('methods: { Say: [ { when: { json: { /sentence: a } }, respond: { json: { sentence: "" } } }, { respond: { json: { sentence: "{json:/none}" } } } ] }')
    assert post(proxy, f"/{SERVICE}/Say", {"sentence": "a"}).json() == {}
    assert post(proxy, f"/{SERVICE}/Say", {"sentence": "b"}).json() == {}
