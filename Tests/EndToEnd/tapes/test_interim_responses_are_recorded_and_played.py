"""Interim responses of an upstream are on the tape before its response, and are played back to both HTTP versions."""

import pytest
from support.http2 import h2_peer

INTERIM = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </{a}.css>; rel=preload\r\nset-cookie: s=secret\r\ndate: x\r\n\r\n"
LINK = "</{a}.css>; rel=preload"
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok"


def interim(call):
    """The interim responses of a recorded call, and whether they come before what follows."""
    keys = [next(key for key in step if key != "at") for step in call["script"]]
    steps = [step["interim"] for step in call["script"] if "interim" in step]
    later = [keys.index(key) for key in ("headers", "send", "respond", "end") if key in keys]
    return steps, all(index < min(later) for index, key in enumerate(keys) if key == "interim")


def play(martlet, tape):
    return martlet(f"listen: 127.0.0.1:0\nmocks: {{ played: {{ tape: {tape.path}, repeat: true }} }}\ninterceptors: [ {{ mock: played }} ]\n")


def test_plain_http(martlet, recorded, recorder, tape):
    caller = recorded(recorder(response=INTERIM + WHOLE).url, types=False).connect()
    caller.send(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
    assert caller.response().body == b"ok"
    steps, are_first = interim(tape.call())
    assert steps == [{"status": 100}, {"status": 103, "headers": {"link": "</{{a}}.css>; rel=preload", "set-cookie": "***"}}]
    assert are_first
    proxy = play(martlet, tape)
    caller = proxy.connect()
    caller.send(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
    response = caller.response()
    assert (response.status, response.body, [status for status, _ in response.informational]) == (200, b"ok", [100, 103])
    assert ("link", LINK) in response.informational[1][1]
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.request("/a"), end=True))
    assert (call.status, call.body) == (200, b"ok")
    assert [dict(head)[b":status"] for head in call.informational] == [b"100", b"103"]
    assert dict(call.informational[1])[b"link"] == LINK.encode()


def test_grpc(martlet, recorded, h2_recorder, tape):
    def response(peer, stream):
        peer.headers(stream.id, [(":status", "103"), ("link", LINK)])
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc+json"), ("x-a", "b")))
        peer.data(stream.id, b"\0\0\0\0\2{}")
        peer.headers(stream.id, [("grpc-status", "0")], end=True)

    def say(proxy):
        caller = proxy.connect_h2()
        stream = caller.open(h2_peer.request("/a.B/C", "POST", ("content-type", "application/grpc+json"), ("te", "trailers")))
        caller.data(stream.id, b"\0\0\0\0\2{}", end=True)
        call = caller.finish(stream)
        return [dict(head)[b"link"] for head in call.informational], call.body, call.grpc()

    expected = ([LINK.encode()], b"\0\0\0\0\2{}", "0")
    assert say(recorded(f"{h2_recorder(response).url}", types=False)) == expected
    steps, are_first = interim(tape.call())
    assert (steps, are_first) == ([{"status": 103, "headers": {"link": "</{{a}}.css>; rel=preload"}}], True)
    assert say(play(martlet, tape)) == expected


@pytest.mark.parametrize("condition, rest", [("status: 503", b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"), ("error: malformed", b"HTTP/1.1 ?\r\n\r\n")])
def test_those_of_an_earlier_attempt_are_not_on_the_tape(recorded, recorder, tape, condition, rest):
    hint = b"HTTP/1.1 103 Early Hints\r\nlink: <first>\r\n\r\n"
    responses = iter(
        [
            hint + rest,
            b"HTTP/1.1 103 Early Hints\r\nlink: <second>\r\n\r\n" + WHOLE,
        ]
    )
    retry = "{ validate: { max_retries: 1, rules: [ { when: { %s }, retry: { immediate: {} } } ] } }," % condition
    caller = recorded(recorder(response=lambda _: next(responses)).url, before=retry, types=False).connect()
    caller.send(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
    assert caller.response().body == b"ok"
    steps, _ = interim(tape.call())
    assert [step["headers"]["link"] for step in steps] == ["<second>"]


def test_the_rhythm_is_recorded(martlet, tape):
    tape.path.write_text(
        """---
call: "GET /a"
protocol: http
script:
  - closed: true
    at: 0ms
  - interim: { status: 103, headers: { link: "</a>" } }
    at: 0ms
  - respond: { status: 200, headers: {}, body: ok }
    at: 20s
...
"""
    )
    caller = martlet(
        f"listen: 127.0.0.1:0\nmocks: {{ played: {{ tape: {tape.path}, timing: recorded }} }}\ninterceptors: [ {{ mock: played }} ]\n"
    ).connect()
    caller.send(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
    assert caller.receive().endswith(b"link: </a>\r\n\r\n")


def test_the_continue_of_martlet_is_not_on_the_tape(recorded, recorder, tape):
    # The recorder holds nothing, but `message` does, so that Martlet asks for the body itself.
    before = "{ limit: { message: 1MiB } },"
    caller = recorded(recorder(response=WHOLE).url, before=before, types=False).connect()
    caller.send(b"POST /a.B/C HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\nexpect: 100-continue\r\n\r\n")
    assert caller.receive().startswith(b"HTTP/1.1 100 Continue\r\n")
    caller.send(b"{}")
    assert caller.response().status == 200
    assert interim(tape.call())[0] == []


@pytest.mark.parametrize("status", [800, 999])
def test_a_tape_with_an_odd_status_is_played(martlet, recorded, recorder, tape, status):
    response = WHOLE.replace(b"200 OK", b"%d Odd" % status)
    caller = recorded(recorder(response=response).url, types=False).connect()
    for proxy in (None, play):
        if proxy:
            tape.call()
            caller = play(martlet, tape).connect()
        caller.send(b"GET /a HTTP/1.1\r\nhost: a\r\n\r\n")
        assert caller.response().status == status
