"""A tape has the messages, the ends and the times of calls, whatever the caller speaks."""

import re
import stat
import textwrap
from contextlib import closing

import pytest
from connectrpc.errors import ConnectError
from ruamel.yaml import YAML
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE
from support.wait import eventually

MOCKS = textwrap.dedent(
    """
    mocks:
      eliza:
        methods:
          Say:
            - when: { json: { /sentence: fail } }
              respond:
                code: resource_exhausted
                message: "slow {{down}} ☂"
                details: [ { type: connectrpc.eliza.v1.SayResponse, json: { sentence: later } } ]
                trailers: { x-cost: "1" }
            - respond: { json: { sentence: "{{hi}} {json:/sentence}" }, headers: { x-by: "no" }, trailers: { x-cost: "2" } }
          Listen:
            - respond: { json: { sentence: "{json:/sentence}" } }
          Introduce:
            - outputs: [ { send: { json: { sentence: one } } }, { wait: 100ms }, { send: { json: { sentence: two } } } ]
          Converse:
            - script:
                - each: [ { send: { json: { sentence: "{json:/sentence}?" } } } ]
                - end: { code: aborted, message: enough }
      web:
        rules:
          - { when: { path: /image }, respond: { status: 201, headers: { content-type: image/png }, base64: "iVBOAAE=" } }
          - { when: { json: { /a: present } }, respond: { status: 202, json: { got: "{json:/a}" } } }
          - respond: { body: "hello {{you}}" }
    """
)
PROTOCOLS = {"CONNECT": ("connect_unary", "connect_stream"), "GRPC": ("grpc",) * 2, "GRPC_WEB": ("grpc_web",) * 2}


def start(recorded, mock="eliza", **options):
    return recorded(after=f", {{ mock: {mock} }}", more=MOCKS, **options)


def steps(call, *keys):
    """The values of steps of these kinds, in order."""
    return [(key, step[key]) for step in call["script"] for key in keys if key in step]


def ms(text):
    number, unit = re.fullmatch(r"(\d+)(ms|us)", text).groups()
    return int(number) / (1 if unit == "ms" else 1000)


def expected(sentence, key="sentence"):
    return ("expect", {"json": {"": {"equals": {key: sentence}}}})


def sent(sentence):
    return ("send", {"json": {"sentence": sentence}})


def test_unary_calls(recorded, caller, tape):
    client = caller(start(recorded))
    client.say("no", headers={"x-tenant": "1_000"})
    call = tape.call()
    assert call["call"] == f"{SERVICE}/Say"
    assert call["protocol"] == PROTOCOLS[caller.protocol.name][0]
    assert call["codec"] == caller.codec
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", call["started"])
    assert call["request"]["headers"]["x-tenant"] == "1_000"
    assert steps(call, "expect", "closed", "send", "end") == [
        expected("no"),
        ("closed", True),
        # Braces are doubled, as a mock has templates there.
        sent("{{hi}} no"),
        ("end", {"trailers": {"x-cost": "2"}}),
    ]
    assert dict(steps(call, "headers"))["headers"]["x-by"] == "no"
    times = [ms(step["at"]) for step in call["script"]]
    assert times == sorted(times) and times[-1] <= ms(call["took"]) < 5000
    assert "incomplete" not in call
    assert stat.S_IMODE(tape.path.stat().st_mode) == 0o600


def test_errors(recorded, caller, tape):
    client = caller(start(recorded))
    with pytest.raises(ConnectError):
        client.say("fail")
    assert steps(tape.call(), "expect", "send", "end") == [
        expected("fail"),
        (
            "end",
            {
                "code": "resource_exhausted",
                "message": "slow {{down}} ☂",
                "details": [{"type": "connectrpc.eliza.v1.SayResponse", "base64": "CgVsYXRlcg=="}],
                "trailers": {"x-cost": "1"},
            },
        ),
    ]


def test_streams(recorded, caller, tape):
    client = caller(start(recorded))
    assert client.listen(["a", "b"]) == "b"
    assert list(client.introduce("Bob")) == ["one", "two"]
    with pytest.raises(ConnectError, match="enough"):
        list(client.converse(["x", "y"]))
    listen, introduce, converse = tape.calls(3)
    assert steps(listen, "expect", "send", "end") == [expected("a"), expected("b"), sent("b"), ("end", {})]
    assert steps(introduce, "expect", "send", "end") == [expected("Bob", "name"), sent("one"), sent("two"), ("end", {})]
    first, second = (ms(step["at"]) for step in introduce["script"] if "send" in step)
    assert 95 <= second - first < 2000
    assert steps(converse, "expect") == [expected("x"), expected("y")]
    assert steps(converse, "send", "end") == [sent("x?"), sent("y?"), ("end", {"code": "aborted", "message": "enough"})]


@pytest.mark.parametrize("http2", [False, True])
def test_plain_http(recorded, tape, http2):
    proxy = start(recorded, "web")
    with proxy.http(http1=not http2, http2=http2) as client:
        assert client.get("/v1/movies?x=1&access_token=abc").text == "hello {you}"
        client.post("/v1/movies", json={"a": "é"})
        client.post("/image", content=b"\xff\0", headers={"content-type": "image/png"})
    get, post, image = tape.calls(3)
    assert get["call"] == "GET /v1/movies?x=1&access_token=***"
    assert "incomplete" not in get
    (respond,) = [value for _, value in steps(get, "respond")]
    assert (respond["status"], respond["body"]) == (200, "hello {you}")
    assert (post["call"], post["protocol"]) == ("POST /v1/movies", "http")
    assert steps(post, "expect", "closed") == [("expect", {"json": {"": {"equals": {"a": "é"}}}}), ("closed", True)]
    (respond,) = [value for _, value in steps(post, "respond")]
    assert (respond["status"], respond["headers"]["content-type"], respond["body"]) == (202, "application/json", '{"got":"é"}')
    assert steps(image, "expect") == [("expect", {"base64": "/wA="})]
    (respond,) = [value for _, value in steps(image, "respond")]
    assert (respond["status"], respond["headers"]["content-type"], respond["body_base64"]) == (201, "image/png", "iVBOAAE=")


def test_what_is_recorded_is_played_back(recorded, martlet, tape, caller, eliza_types):
    client = caller(start(recorded))
    client.say("hello")
    with pytest.raises(ConnectError):
        client.say("fail")
    list(client.introduce("Bob"))
    tape.calls(3)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        types: {{ files: [{eliza_types}] }}
        mocks: {{ eliza: {{ tape: {tape.path} }} }}
        interceptors: [ {{ mock: eliza }} ]
        """
    )
    client = caller(proxy)
    assert client.say("hello") == "{hi} hello"
    with pytest.raises(ConnectError, match="slow {down} ☂") as caught:
        client.say("fail")
    assert [item.message_bytes for item in caught.value.details] == [b"\n\x05later"]
    assert list(client.introduce("Bob")) == ["one", "two"]


def test_plain_http_is_played_back(recorded, martlet, tape):
    proxy = start(recorded, "web")
    with proxy.http() as client:
        client.post("/v1/movies", json={"a": 1})
        client.get("/image")
    tape.calls(2)
    played = martlet(f"listen: 127.0.0.1:0\nmocks: {{ web: {{ tape: {tape.path} }} }}\ninterceptors: [ {{ mock: web }} ]\n")
    with played.http() as client:
        response = client.post("/v1/movies", json={"a": 1})
        assert (response.status_code, response.json()) == (202, {"got": 1})
        assert client.get("/image").content == b"\x89PN\0\x01"


def test_messages_of_unknown_types_are_in_base64(recorded, eliza, tape):
    proxy = recorded(eliza.url, types=False)
    Client(proxy.url).say("hello")
    assert steps(tape.call(), "expect") == [("expect", {"base64": "CgVoZWxsbw=="})]


def test_fields_that_the_type_does_not_have_are_kept(recorded, eliza, tape):
    proxy = recorded(eliza.url)
    with proxy.http() as client:
        # Field 1 is the sentence, field 9 is not known.
        client.post(f"/{SERVICE}/Say", content=b"\n\2hiJ\1x", headers={"content-type": "application/proto"})
    assert steps(tape.call(), "expect") == [("expect", {"json": {"": {"equals": {"sentence": "hi"}}}, "base64": "CgJoaUoBeA=="})]


def test_a_call_that_the_caller_leaves(recorded, tape):
    proxy = recorded(
        after=", { mock: slow }", more="mocks: { slow: { methods: { Say: [ { respond: { json: {}, delay: 1m } } ] } } }"
    )
    with pytest.raises(ConnectError):
        Client(proxy.url).say("hello", timeout_ms=200)
    call = tape.call()
    assert call.get("canceled") or dict(steps(call, "end"))["end"]["code"] in ("deadline_exceeded", "canceled")
    assert steps(call, "expect") == [expected("hello")]


def test_a_call_that_hangs_up(recorded, tape):
    proxy = recorded(
        after=", { mock: slow }", more="mocks: { slow: { methods: { Say: [ { respond: { json: {}, delay: 1m } } ] } } }"
    )
    with closing(proxy.connect()) as peer:
        peer.send(
            f"POST /{SERVICE}/Say HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}".encode()
        )
        eventually(lambda: proxy.admin("/mocks/slow/calls").json()["calls"], what="the call")
    call = tape.call()
    assert call["canceled"] is True
    assert not steps(call, "end")


def test_an_error_without_a_response(recorded, tape, caller):
    proxy = recorded("h2c://127.0.0.1:1")
    with pytest.raises(ConnectError):
        caller(proxy).say("hello")
    (step,) = [step for step in tape.call()["script"] if "end" in step]
    assert (step["end"]["code"], step["by"]) == ("unavailable", "martlet")


def test_attempts_that_were_retried_are_not_recorded(recorded, tape, caller):
    rules = f"retry: {{ methods: [{SERVICE}/Say] }}, rules: [ {{ when: {{ code: unavailable }}, retry: {{ delayed: 1ms }} }} ]"
    mock = 'mocks: { eliza: { methods: { Say: [ { times: 1, respond: { code: unavailable, message: "the first" } }, { respond: { json: { sentence: ok } } } ] } } }'
    proxy = recorded(before=f"{{ validate: {{ max_retries: 3, {rules} }} }},", after=", { mock: eliza }", more=mock)
    assert caller(proxy).say("hello") == "ok"
    assert steps(tape.call(), "expect", "send", "end") == [expected("hello"), sent("ok"), ("end", {})]
    assert "the first" not in tape.text


ODD = ["no", "1_000", "0x1", "~", "", "2026-11-27", "a: b", "{x}", "\x7f\x85\u2028\ufeff", 'q"\\', "a\nb", "---", "😀", "1e5"]


@pytest.mark.parametrize("version", [(1, 1), (1, 2)])
def test_values_are_the_same_for_every_reader_of_yaml(recorded, tape, version):
    proxy = start(recorded, "web")
    value = {"texts": ODD, "numbers": [0, -1, 1.5, 1e30, 2.5e-7], "more": [None, True, False, {}, []]} | {text: text for text in ODD}
    with proxy.http() as client:
        client.post("/x", json=value, headers={"x-odd": "no", "x-date": "2026-11-27"})
    tape.calls(1)
    yaml = YAML(typ="safe", pure=True)
    yaml.version = version
    call = yaml.load(tape.text)
    assert call["script"][0]["expect"]["json"][""]["equals"] == value
    assert {name: call["request"]["headers"][name] for name in ("x-odd", "x-date")} == {"x-odd": "no", "x-date": "2026-11-27"}


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
def test_errors_of_plain_http_are_recorded_as_they_came(recorded, martlet, tape, status):
    upstream = martlet(
        f"listen: 127.0.0.1:0\nmocks: {{ m: {{ rules: [ {{ respond: {{ status: {status}, body: sorry }} }} ] }} }}\ninterceptors: [ {{ mock: m }} ]\n"
    )
    proxy = recorded(upstream.url)
    with proxy.http() as client:
        assert client.get("/a?token=secret").status_code == status
    tape.call()
    played = martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {tape.path} }} }}\ninterceptors: [ {{ mock: m }} ]\n")
    with played.http() as client:
        # Whatever was not to be shown counts as equal.
        response = client.get("/a?token=another")
    assert (response.status_code, response.text) == (status, "sorry")


def test_a_rejection_of_plain_http_is_recorded_as_an_error(recorded, tape):
    proxy = recorded(after=", { reject: { code: permission_denied, message: no } }")
    with proxy.http() as client:
        assert client.get("/a").status_code == 403
    assert [step for step in tape.call()["script"] if "end" in step][0]["end"] == {"code": "permission_denied", "message": "no"}
