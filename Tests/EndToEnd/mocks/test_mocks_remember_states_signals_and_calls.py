"""What a mock remembers: states by keys, signals, how often rules applied, and the calls in its journal."""

import concurrent.futures
import json
import threading

import httpx
import pytest
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE

STATES = """
methods:
  Say:
    - state: { of: "{header:x-session}", becomes: paid }
      when: { json: { /sentence: pay } }
      respond: { json: { sentence: "thanks" } }
    - state: { of: "{header:x-session}", is: paid, becomes: shipped }
      when: { json: { /sentence: ship } }
      respond: { json: { sentence: "on its way" } }
    - state: { of: "{header:x-session}", is: shipped }
      when: { json: { /sentence: ship } }
      respond: { json: { sentence: "shipped already" } }
unmatched: unimplemented
"""


def say(proxy, sentence, path="Say", **headers):
    with proxy.http() as client:
        response = client.post(f"/{SERVICE}/{path}", json={"sentence": sentence}, headers=headers)
    return response.json().get("sentence") or response.json()["message"]


def journal(proxy, name="eliza"):
    return json.loads(proxy.admin(f"/mocks/{name}/calls").text)


def test_each_key_has_its_state(mocked):
    proxy = mocked(STATES, more="workers: 4")

    def session(number):
        me = {"x-session": f"session {number}"}
        assert "asks for the state paid, and it is start" in say(proxy, "ship", **me)
        return [say(proxy, word, **me) for word in ("pay", "ship", "ship", "pay", "ship")]

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for seen in pool.map(session, range(50)):
            assert seen == ["thanks", "on its way", "shipped already", "thanks", "on its way"]


def test_the_keys_that_came_first_are_removed_beyond_the_limit(mocked):
    proxy = mocked(STATES + "keys: 2\n")
    for name in "abc":
        say(proxy, "pay", **{"x-session": name})
    assert [say(proxy, "ship", **{"x-session": name}) for name in "cb"] == ["on its way"] * 2
    assert "the state paid, and it is start" in say(proxy, "ship", **{"x-session": "a"})


def test_counts_and_states_stay_through_a_reload_if_the_mock_does(mocked):
    options = STATES + "rules: [ { times: 1, respond: { json: { sentence: once } } } ]\n"
    proxy = mocked(options)
    say(proxy, "pay", **{"x-session": "a"})
    assert say(proxy, "x") == "once"
    text = (proxy.directory / "martlet.yaml").read_text()
    proxy.reload(text + "\nworkers: 1\n")
    assert say(proxy, "ship", **{"x-session": "a"}) == "on its way"
    assert "has applied as often as it may" in say(proxy, "x")
    assert journal(proxy)["calls"][0]["received"][0]["json"] == {"sentence": "pay"}
    proxy.reload(text.replace("on its way", "on the way"))
    assert say(proxy, "x") == "once"
    assert "the state paid, and it is start" in say(proxy, "ship", **{"x-session": "a"})


def test_reset_begins_anew(mocked):
    proxy = mocked(STATES + "rules: [ { times: 1, respond: { json: { sentence: once } } } ]\n")
    say(proxy, "pay", **{"x-session": "a"})
    assert say(proxy, "x") == "once"
    assert proxy.admin("/mocks/reset?mock=eliza", "POST").status_code == 200
    assert say(proxy, "x") == "once"
    assert "the state paid, and it is start" in say(proxy, "ship", **{"x-session": "a"})
    assert "did you mean" in proxy.admin("/mocks/reset?mock=elixa", "POST").text


# MARK: signals


def signal(proxy, name):
    response = proxy.admin(f"/mocks/signal?name={name}", "POST")
    assert response.status_code == 200, response.text
    return int(response.text.split()[0])


def test_a_step_waits_for_its_signal(mocked, caller):
    if caller.protocol.name != "GRPC":
        pytest.skip("one message after another needs a stream in both directions")
    proxy = mocked("methods: { Converse: [ { script: [ { send: { json: { sentence: a } } }, { until: go }, { send: { json: { sentence: b } } } ] } ] }")
    replies = iter(caller(proxy).converse(["x"]))
    assert next(replies) == "a"
    rest = []
    waiter = threading.Thread(target=lambda: rest.extend(replies))
    waiter.start()
    while signal(proxy, "go") == 0:
        pass
    waiter.join(10)
    assert rest == ["b"]


def test_a_signal_that_came_before_the_step_counts_and_one_before_the_call_does_not(mocked):
    proxy = mocked(
        """
        methods:
          Say: [ { script: [ { closed: true }, { wait: 300ms }, { until: go }, { send: { json: { sentence: went } } } ] } ]
        """
    )
    assert signal(proxy, "go") == 0
    with concurrent.futures.ThreadPoolExecutor() as pool:
        call = pool.submit(say, proxy, "x")
        while json.loads(proxy.admin("/mocks").text)["mocks"][0]["open"] == 0:
            pass
        assert signal(proxy, "go") == 0
        assert call.result(10) == "went"
        with proxy.http(timeout=0.6) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"/{SERVICE}/Say", json={})


def test_a_rule_raises_a_signal_for_calls_of_another(mocked):
    proxy = mocked(
        """
        methods:
          Say:
            - when: { json: { /sentence: go } }
              signal: gone
              respond: { json: { sentence: ok } }
            - script: [ { closed: true }, { until: gone }, { send: { json: { sentence: went } } } ]
        """,
        more="workers: 4",
    )
    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        waiting = [pool.submit(say, proxy, f"{number}") for number in range(50)]
        while json.loads(proxy.admin("/mocks").text)["mocks"][0]["open"] < 50:
            pass
        assert say(proxy, "go") == "ok"
        assert {call.result(10) for call in waiting} == {"went"}


def test_the_name_of_a_signal_must_be_known(mocked):
    proxy = mocked("methods: { Say: [ { script: [ { until: paid } ] } ] }")
    response = proxy.admin("/mocks/signal?name=payed", "POST")
    assert (response.status_code, response.text.strip()) == (404, 'no mock waits for "payed"; did you mean "paid"?')
    assert proxy.admin("/mocks/signal", "POST").status_code == 400


# MARK: the journal


def test_the_journal_has_the_messages_of_both_sides_in_their_order(mocked, caller):
    proxy = mocked(
        """
        methods:
          Converse: [ { script: [ { each: [ { send: { json: { sentence: "{json:/sentence}?" } } } ] }, { end: { code: aborted, message: enough } } ] } ]
        """,
    )
    with pytest.raises(Exception, match="enough"):
        list(caller(proxy).converse(["a", "b"], headers={"authorization": "Bearer secret", "x-who": "me"}))
    (call,) = journal(proxy)["calls"]
    assert call["request"]["call"] == f"{SERVICE}/Converse"
    assert (call["request"]["headers"]["authorization"], call["request"]["headers"]["x-who"]) == ("***", "me")
    assert [message["json"]["sentence"] for message in call["received"]] == ["a", "b"]
    assert [message["json"]["sentence"] for message in call["sent"]] == ["a?", "b?"]
    assert (call["code"], call["message"]) == ("aborted", "enough")
    assert 0 <= call["received"][0]["ms"] <= call["closed_ms"] <= call["ended_ms"]
    assert call["rule"]


def test_the_journal_says_what_lacks_and_who_has_left(mocked):
    proxy = mocked(
        """
        methods:
          Say:
            - { when: { header: { x-a: present } }, respond: { json: {} } }
            - { when: { json: { /sentence: wait } }, script: [ { closed: true }, { wait: 1h } ] }
        unmatched: unimplemented
        """
    )
    assert "asks for another value at /sentence" in say(proxy, "x")
    with proxy.http(timeout=0.3) as client, pytest.raises(httpx.ReadTimeout):
        client.post(f"/{SERVICE}/Say", json={"sentence": "wait"})
    while "canceled" not in journal(proxy)["calls"][1]:
        pass
    first, second = journal(proxy)["calls"]
    assert ("another value at /sentence" in first["unmatched"], first["code"]) == (True, "unimplemented")
    assert second["canceled"] is True and "code" not in second


def test_the_journal_is_consistent_under_parallel_calls_and_within_its_bytes(mocked):
    proxy = mocked("methods: { Say: [ { times: 400, respond: { echo: true } } ] }\njournal: 64KiB", more="workers: 4")

    def call(number):
        client = Client(proxy.url, "json")
        for step in range(50):
            client.say(f"{number} {step}")

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        list(pool.map(call, range(20)))
    (mock,) = json.loads(proxy.admin("/mocks").text)["mocks"]
    assert (mock["calls"], mock["open"], mock["rules"][0]["applied"]) == (1000, 0, 400)
    assert mock["journal_bytes"] <= 64 * 1024
    kept = journal(proxy)
    assert kept["removed"] + len(kept["calls"]) == 1000 and kept["removed"] > 0
    assert [entry["number"] for entry in kept["calls"]] == list(range(kept["removed"] + 1, 1001))
    assert all(entry["received"][0]["json"] == entry["sent"][0]["json"] for entry in kept["calls"] if entry.get("rule"))
    assert proxy.admin("/mocks/eliza/calls", "DELETE").status_code == 200
    assert journal(proxy) == {"mock": "eliza", "diff": False, "removed": 0, "calls": []}


def test_the_journal_cuts_what_is_long(mocked):
    proxy = mocked("methods: { Say: [ { respond: { echo: true } } ] }\njournal: 64KiB")
    say(proxy, "x" * 5000)
    (call,) = journal(proxy)["calls"]
    assert (call["received"][0]["truncated"], call["received"][0]["bytes"] > 5000) == (True, True)


def test_the_journal_keeps_out_what_is_secret(mocked):
    proxy = mocked(
        "methods: { Say: [ { respond: { echo: true } } ] }",
        interceptors="[ { redact: { json: [/sentence] } }, { mock: eliza } ]",
    )
    say(proxy, "the password")
    Client(proxy.url).say("the password")
    assert [call["received"][0]["json"]["sentence"] for call in journal(proxy)["calls"]] == ["***"] * 2
    assert "the password" not in proxy.admin("/mocks/eliza/calls").text


def test_a_mock_without_a_journal_keeps_no_calls(mocked):
    proxy = mocked("journal: 0\nmethods: { Say: [ { respond: { json: {} } } ] }")
    Client(proxy.url).say("x")
    assert journal(proxy)["calls"] == []


def test_calls_without_a_rule_and_plain_responses_are_in_the_journal(mocked):
    proxy = mocked("methods: { Say: [ { when: { header: { x-a: present } }, respond: { json: {} } } ] }")
    say_nothing = Client(proxy.url)
    say_nothing.say("x")
    (mock,) = json.loads(proxy.admin("/mocks").text)["mocks"]
    (call,) = journal(proxy)["calls"]
    assert (mock["unmatched"], call["code"], "another header x-a" in call["unmatched"]) == (1, "ok", True)


def test_a_plain_response_is_in_the_journal(martlet):
    proxy = martlet("listen: 127.0.0.1:0\nmocks: { m: { rules: [ { respond: { status: 503, body: gone } } ] } }\ninterceptors: [ { mock: m } ]\n")
    with proxy.http() as client:
        client.get("/a")
    (call,) = journal(proxy, "m")["calls"]
    assert (call["status"], call["sent"][0]["text"], "code" in call) == (503, "gone", False)
