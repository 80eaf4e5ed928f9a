"""A tape is played back call by call, in its order and rhythm or by what is asked, to callers of every protocol."""

import json
import textwrap

import pytest
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE

SAY = """
---
call: {service}/Say
protocol: connect
codec: json
started: 2026-11-27T04:00:00.123456Z
took: 34ms
request: {{ headers: {{ x-tenant: "a" }} }}
script:
  - expect: {{ json: {{ "": {{ equals: {{"sentence": "{request}"}} }} }} }}
    at: 0ms
  - closed: true
    at: 1ms
  - headers: {{ x-served-by: "b1" }}
    at: 30ms
  - send: {{ json: {{"sentence": "{response}"}} }}
    at: 31250us
  - end: {{ trailers: {{ x-cost: "1" }} }}
    at: 34ms
"""

CONVERSE = """
---
call: {service}/Converse
script:
  - expect: {{ json: {{ "": {{ equals: {{"sentence": "a"}} }} }} }}
    at: 0ms
  - send: {{ json: {{"sentence": "one"}} }}
    at: 100ms
  - expect: {{ json: {{ "": {{ equals: {{"sentence": "b"}} }} }} }}
    at: 110ms
  - closed: true
    at: 120ms
  - send: {{ json: {{"sentence": "two {{{{brace}}}}"}} }}
    at: 200ms
  - send: {{ json: {{"sentence": "three"}} }}
    at: 300ms
  - end: {{ code: aborted, message: "enough" }}
    at: 310ms
"""


def say(request, response):
    return SAY.format(service=SERVICE, request=request, response=response)


@pytest.fixture
def taped(martlet, eliza_types, tmp_path):
    """Starts Martlet with a mock of this tape."""

    def start(tape, options="", more="", unmatched=""):
        (tmp_path / "tape.yaml").write_text(tape)
        return martlet(
            f"""
            listen: 127.0.0.1:0
            types: {{ files: [{eliza_types}] }}
            mocks: {{ eliza: {{ tape: {tmp_path}/tape.yaml{options} }} }}
            interceptors: [ {{ mock: {{ name: eliza{unmatched} }} }} ]
            {more}
            """
        )

    return start


def error_of(proxy, sentence, **headers):
    with proxy.http() as client:
        return client.post(f"/{SERVICE}/Say", json={"sentence": sentence}, headers=headers).json()["message"]


def test_every_caller_gets_what_was_recorded(taped, caller):
    proxy = taped(say("hello", "hi") + CONVERSE.format(service=SERVICE))
    client = caller(proxy)
    assert client.say("hello") == "hi"
    seen = []
    with pytest.raises(Exception, match="enough"):
        for sentence in client.converse(["a", "b"]):
            seen.append(sentence)
    assert seen == ["one", "two {brace}", "three"]


def test_equal_requests_get_their_responses_in_order(taped):
    proxy = taped(say("hello", "first") + say("other", "another") + say("hello", "second"))
    client = Client(proxy.url)
    assert [client.say("hello"), client.say("hello"), client.say("other")] == ["first", "second", "another"]
    assert "the tape has played this call twice already" in error_of(proxy, "hello")
    assert "call 1 of the tape asks for another value at /sentence" in error_of(proxy, "what")


def test_the_last_of_equal_calls_may_be_repeated(taped):
    proxy = taped(say("hello", "first") + say("hello", "second"), ", repeat: true")
    client = Client(proxy.url)
    assert [client.say("hello") for _ in range(4)] == ["first", "second", "second", "second"]


def test_the_recorded_order_is_strict(taped):
    proxy = taped(say("a", "1") + say("b", "2"), ", order: recorded")
    client = Client(proxy.url)
    assert "call 1 of the tape asks for another value at /sentence" in error_of(proxy, "b")
    assert [client.say("a"), client.say("b")] == ["1", "2"]
    assert "all calls of the tape have been played" in error_of(proxy, "a")


def test_headers_and_places_that_count_or_do_not(taped):
    proxy = taped(say("hello", "hi"), ", match: { headers: [x-tenant], ignore: [/sentence] }, repeat: true")
    assert "another header x-tenant" in error_of(proxy, "hello", **{"x-tenant": "b"})
    client = Client(proxy.url)
    assert client.say("anything", headers={"x-tenant": "a"}) == "hi"


def test_what_was_not_to_be_shown_counts_as_equal(taped):
    proxy = taped(say("***", "hi"))
    assert Client(proxy.url).say("the password") == "hi"


@pytest.mark.waits
@pytest.mark.parametrize(("timing", "expected"), [("recorded", [100, 200, 300]), ("2x", [50, 100, 150]), ("none", [0, 0, 0])])
def test_the_rhythm(taped, timing, expected):
    proxy = taped(CONVERSE.format(service=SERVICE) * 5, f", timing: {timing}")
    client = Client(proxy.url, http=2)
    for _ in range(5):
        with pytest.raises(Exception, match="enough"):
            list(client.converse(["a", "b"]))
    # By the clock of the mock, and at its best: a machine that is busy lets processes wait for longer than that.
    calls = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    seen = [[message["ms"] for message in call["sent"]] for call in calls]
    assert all(time >= wanted for times in seen for time, wanted in zip(times, expected, strict=True)), seen
    late = min(max(time - wanted for time, wanted in zip(times, expected, strict=True)) for times in seen)
    assert late <= (20 if timing != "none" else 10), seen


def test_a_message_that_is_not_as_recorded_ends_the_call(taped):
    proxy = taped(CONVERSE.format(service=SERVICE))
    with pytest.raises(Exception, match="message 2 is not as recorded at /sentence"):
        list(Client(proxy.url).converse(["a", "x"]))


def test_a_recording_that_lacks_something_is_not_played(taped):
    proxy = taped(say("hello", "hi").replace("codec: json", 'incomplete: "a message of 70000 bytes"'))
    assert "call 1 of the tape cannot be played: a message of 70000 bytes" in error_of(proxy, "hello")


def test_a_tape_that_was_broken_off_is_played_up_to_there(taped):
    proxy = taped(say("hello", "hi") + say("more", "x")[:-140])
    assert "the last call of" in proxy.stderr.text
    assert Client(proxy.url).say("hello") == "hi"
    assert "call 1 of the tape asks for another value at /sentence" in error_of(proxy, "more")


def test_what_is_wrong_with_a_tape_has_its_place(command, tmp_path):
    (tmp_path / "tape.yaml").write_text(say("hello", "hi").replace("closed: true", "closd: true") + say("a", "b"))
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:0\nmocks: {{ eliza: {{ tape: {tmp_path}/tape.yaml, timing: 3 }} }}\ninterceptors: [ {{ mock: eliza }} ]\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78
    assert f'{tmp_path}/tape.yaml:12:5: unknown key "closd"; did you mean "closed"?' in result.stderr.text
    assert '"timing" cannot be "3"; write none, recorded, or a factor from 0.001x, such as 2x' in result.stderr.text


def test_other_calls_go_on_to_the_upstream(taped, eliza):
    proxy = taped(say("hello", "hi"), more=f"upstream: {eliza.url}", unmatched=", unmatched: next")
    client = Client(proxy.url)
    assert [client.say("hello"), client.say("hello"), client.say("x")] == ["hi", "Eliza heard hello", "Eliza heard x"]


def test_live_responses_are_compared_with_the_tape(taped, eliza, command, tmp_path):
    tape = say("same", "Eliza heard same") + say("new", "Eliza heard old") + CONVERSE.format(service=SERVICE)
    proxy = taped(tape, ", diff: true", more=f"upstream: {eliza.url}", unmatched=", unmatched: next")
    client = Client(proxy.url)
    assert [client.say("same"), client.say("new")] == ["Eliza heard same", "Eliza heard new"]
    assert list(client.converse(["a", "b"])) == ["Eliza heard a", "Eliza heard b"]
    same, new, converse = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert same["differences"] == []
    assert new["differences"] == ["message 1 is another at /sentence"]
    assert converse["differences"] == [
        "message 1 is another at /sentence",
        "message 2 is another at /sentence",
        "the response has 2 messages, and had 3",
        "the code is ok, and was aborted",
    ]
    (tmp_path / "verify.yaml").write_text("eliza: [ { differs: true, times: 2 }, { unplayed: true, times: never } ]\n")
    result = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")
    assert result.code == 0, result.stdout.text


def test_places_that_change_are_not_compared(taped, eliza):
    tape = say("same", "Eliza heard old") + say("a 4111 card", "Eliza heard a *** card").replace("a 4111 card", "a *** card")
    options = ", diff: true, match: { ignore: [/sentence] }"
    proxy = taped(say("same", "Eliza heard old"), options, more=f"upstream: {eliza.url}", unmatched=", unmatched: next")
    Client(proxy.url).say("same")
    (call,) = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert call["differences"] == []
    # What `scrub` has replaced stands for whatever was there.
    proxy = taped(tape, ", diff: true", more=f"upstream: {eliza.url}", unmatched=", unmatched: next")
    Client(proxy.url).say("a 4111 card")
    Client(proxy.url).say("a 4111 cart")
    played, other = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert (played["differences"], other["next"]) == ([], True)


def test_a_tape_that_is_to_be_recorded_may_be_missing(martlet, command, tmp_path, eliza):
    path = tmp_path / "new.yaml"
    text = (
        f"listen: 127.0.0.1:0\nupstream: {eliza.url}\nmocks: {{ eliza: {{ tape: {path}{{}} }} }}\n"
        f"interceptors: [ {{ mock: eliza }}, {{ record: {{ to: {path} }} }} ]\n"
    ).replace("{}", "%s")
    proxy = martlet(text.replace("{ mock: eliza }", "{ mock: { name: eliza, unmatched: next } }") % "")
    assert Client(proxy.url).say("hello") == "Eliza heard hello"
    (tmp_path / "missing.yaml").write_text((text % "").replace("new.yaml", "none.yaml"))
    result = command("check", "-c", tmp_path / "missing.yaml")
    assert (result.code, "No such file or directory" in result.stderr.text) == (78, True)


def test_a_codec_that_nobody_can_translate_is_named(taped):
    proxy = taped(say("hello", "hi").replace("codec: json", "codec: proto").replace('json: { "": { equals: { sentence: hello } } }', "base64: CgJoaQ=="))
    with proxy.http() as client:
        message = client.post(f"/{SERVICE}/Say", json={"sentence": "hi"}).json()["message"]
    assert "another" in message or "the codec proto, as Martlet does not know the types" in message


def test_calls_that_were_not_played_are_listed(taped, command, tmp_path):
    proxy = taped(say("hello", "hi") + say("never", "x"))
    Client(proxy.url).say("hello")
    assert json.loads(proxy.admin("/mocks/eliza/calls").text)["unplayed"] == [f"call 2, {SERVICE}/Say"]
    (tmp_path / "verify.yaml").write_text("eliza: [ { unplayed: true, times: never } ]\n")
    result = command("verify", tmp_path / "verify.yaml", "--admin", f"unix:{proxy.admin_socket}")
    assert (result.code, "expected no call, saw 1" in result.stdout.text) == (1, True)
    assert f"        call 2, {SERVICE}/Say\n" in result.stdout.text


def test_plain_http_is_played_back(martlet, tmp_path):
    (tmp_path / "tape.yaml").write_text(
        textwrap.dedent(
            """
            ---
            call: GET /v1/movies?page=1
            script:
              - closed: true
                at: 0ms
              - respond: { status: 200, headers: { content-type: "application/json" }, body: "[1, {}]" }
                at: 5ms
            ---
            call: POST /v1/movies
            script:
              - expect: { json: { "": { equals: {"title": "x"} } } }
                at: 0ms
              - closed: true
                at: 0ms
              - respond: { status: 201, headers: {}, body_base64: "AAE=" }
                at: 5ms
            """
        )
    )
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks: {{ movies: {{ tape: {tmp_path}/tape.yaml }} }}\ninterceptors: [ {{ mock: movies }} ]\n")
    with proxy.http() as client:
        response = client.get("/v1/movies?page=1")
        assert (response.json(), response.headers["content-type"]) == ([1, {}], "application/json")
        created = client.post("/v1/movies", json={"title": "x"})
        assert (created.status_code, created.content) == (201, b"\0\1")
        assert "the tape has no call of GET /v1/movies?page=2" in client.get("/v1/movies?page=2").json()["message"]


def test_what_cannot_be_played_is_passed_by_in_the_recorded_order(taped):
    broken = say("b", "2").replace("codec: json", 'incomplete: "a message of 70000 bytes"')
    proxy = taped(say("a", "1") + broken + say("c", "3"), ", order: recorded, repeat: true")
    client = Client(proxy.url)
    assert [client.say("a"), client.say("c"), client.say("c")] == ["1", "3", "3"]
    assert json.loads(proxy.admin("/mocks/eliza/calls").text)["unplayed"] == []


def test_an_error_that_is_as_recorded_is_no_difference(taped, eliza):
    """The error of unary Connect is the body of a response, and no message of the call."""
    upstream_error = f"""
---
call: {SERVICE}/Say
protocol: connect_unary
codec: json
script:
  - expect: {{ json: {{ "": {{ equals: {{"sentence": "fail"}} }} }} }}
    at: 0ms
  - closed: true
    at: 1ms
  - end: {{ code: aborted, message: "no" }}
    at: 2ms
...
"""
    upstream = taped(upstream_error, ", repeat: true")
    proxy = taped(upstream_error, ", diff: true", more=f"upstream: {upstream.url}", unmatched=", unmatched: next")
    with pytest.raises(Exception, match="no"):
        Client(proxy.url).say("fail")
    (call,) = json.loads(proxy.admin("/mocks/eliza/calls").text)["calls"]
    assert (call["differences"], call["code"]) == ([], "aborted")


def test_places_that_do_not_count_have_either_name(taped):
    tape = say("hello", "hi").replace('{"sentence": "hello"}', '{"sentence": "hello", "placedAt": "1"}')
    proxy = taped(tape, ", match: { ignore: [/placed_at] }", )
    with proxy.http() as client:
        # The types do not have it, so it is told to nobody who has types.
        assert client.post(f"/{SERVICE}/Say", json={"sentence": "hello"}).json() == {"sentence": "hi"}


def test_the_call_with_the_fewest_differences_is_named(martlet, tmp_path):
    def call(request):
        return f"---\ncall: a.B/Get\nprotocol: connect_unary\ncodec: json\nscript:\n  - expect: {{ json: {{ \"\": {{ equals: {request} }} }} }}\n    at: 0ms\n  - send: {{ json: {{}} }}\n    at: 0ms\n  - end: {{}}\n    at: 0ms\n...\n"

    (tmp_path / "t.yaml").write_text(call('{"id": 1, "a": 1, "b": 1}') + call('{"id": 2, "a": 2, "b": 1}') + call('{"id": 3}'))
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {tmp_path}/t.yaml, calls: [1, 2] }} }}\ninterceptors: [ {{ mock: m }} ]\n")
    with proxy.http() as client:
        message = client.post("/a.B/Get", json={"id": 2, "a": 2, "b": 2}).json()["message"]
        assert message == "mock m: call 2 of the tape asks for another value at /b"
        # Only some calls of the tape are played.
        assert client.post("/a.B/Get", json={"id": 3}).status_code == 501
        assert client.post("/a.B/Get", json={"id": 1, "a": 1, "b": 1}).status_code == 200
