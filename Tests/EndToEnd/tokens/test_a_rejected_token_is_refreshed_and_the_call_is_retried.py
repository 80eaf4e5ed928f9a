"""If an upstream rejects a token, Martlet retries the call with a new one if it can, and the caller sees success."""

import json

import pytest

from support.concurrency import at_once
from support.servers.identity_provider import ENVIRONMENT
from tokens.token_callers import PROTOCOLS, WAYS, expected
from tokens.token_services import NO

RETRY_BUFFER = 64 << 10
# What stands in the way of a retry: the label of its metric, and what the log says.
TOO_LARGE = ("buffer", "the request is larger than limits.retry_buffer")
DELIVERED = ("delivered", "part of the response has already been sent")


class Setup:
    """A daemon that has a token, its provider, services and callers."""

    def __init__(self, martlet, provider, services, callers, **token):
        self.provider = provider
        self.ledger = services.ledger
        text = services.configuration({"oauth2": provider.oauth2()} | token)
        self.proxy = martlet(text, environment=ENVIRONMENT)
        self.callers = callers(self.proxy)
        assert [self.callers[name].call().code for name in PROTOCOLS] == ["ok"] * len(PROTOCOLS)
        assert len(provider.fetches()) == 1

    def check_skipped(self, problem):
        label, text = problem
        line = json.loads(self.proxy.stdout.wait('"code":"unauthenticated"').string)
        assert text in json.dumps(line["trace"]) and line["attempts"] == 1
        assert line["decided_by"] == "upstream"
        assert self.proxy.metrics().counted("martlet_retries_total", "result") == {label}


@pytest.fixture
def start(martlet, identity_provider, token_services, callers):
    def start(**token):
        provider = identity_provider()
        return Setup(martlet, provider, token_services(provider), callers, **token)

    return start


@pytest.mark.parametrize("name, kind", WAYS)
@pytest.mark.parametrize("rejection", ["early", "late"])
def test_retried(start, name, kind, rejection):
    setup = start()
    setup.provider.revoke()
    outcome = setup.callers[name].call(kind, headers={"x-rejection": rejection})
    assert (outcome.code, outcome.received, outcome.text) == ("ok", expected(kind), "")
    assert setup.ledger.of(outcome.call) == ["revoked", "processed"]
    assert len(setup.provider.fetches()) == 2
    assert setup.proxy.metrics().total("martlet_retries_total", reason="unauthenticated", result="sent") == 1
    setup.proxy.stdout.wait('"attempts":2')


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_body_just_below_the_limit(start, name):
    setup = start()
    setup.provider.revoke()
    text = "x" * (RETRY_BUFFER - 100)
    outcome = setup.callers[name].call(text=text)
    assert (outcome.code, outcome.received) == ("ok", [text])
    assert setup.ledger.of(outcome.call) == ["revoked", "processed"]


def test_one_refresh_for_all(start):
    setup = start()
    for fetches in (2, 3):
        setup.provider.set(latency=0.3)
        setup.provider.revoke()
        outcomes = at_once(40, lambda number: setup.callers[PROTOCOLS[number % 4]].call())
        assert [outcome for outcome in outcomes if outcome.code != "ok"] == []
        assert {tuple(setup.ledger.of(outcome.call))[-1] for outcome in outcomes} == {"processed"}
        assert all(setup.ledger.of(outcome.call).count("processed") == 1 for outcome in outcomes)
        assert all(len(setup.ledger.of(outcome.call)) <= 2 for outcome in outcomes)
        assert len(setup.provider.fetches()) == fetches


@pytest.mark.parametrize("name, kind", [*((name, "unary") for name in PROTOCOLS), ("connect", "converse")])
def test_a_body_above_the_limit(start, name, kind):
    setup = start()
    setup.provider.revoke()
    outcome = setup.callers[name].call(kind, text="x" * (RETRY_BUFFER + 10000))
    assert (outcome.code, outcome.received) == ("unauthenticated", [])
    assert NO in outcome.text  # the upstream's own words
    assert name != "http" or outcome.headers["www-authenticate"] == "Bearer"
    assert setup.ledger.of(outcome.call) == ["revoked"]
    setup.check_skipped(TOO_LARGE)
    assert setup.callers[name].call().code == "ok"  # later calls use the new token


@pytest.mark.parametrize("name, kind", [way for way in WAYS if way[1] in ("download", "converse")])
def test_a_message_that_has_been_delivered(start, name, kind):
    setup = start()
    outcome = setup.callers[name].call(kind, headers={"x-rejection": "after-one"})
    assert (outcome.code, outcome.received, outcome.text) == ("unauthenticated", expected(kind)[:1], NO)
    assert setup.ledger.of(outcome.call) == ["ended early"]
    setup.check_skipped(DELIVERED)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_token_that_is_never_accepted(name, martlet, identity_provider, token_services, callers):
    """One retry, then the upstream's response; and not every call fetches a token."""
    provider = identity_provider()
    services = token_services(provider)
    text = services.configuration({"oauth2": provider.oauth2(audience="others")})
    caller = callers(martlet(text, environment=ENVIRONMENT))[name]
    for _ in range(10):
        outcome = caller.call()
        assert outcome.code == "unauthenticated" and NO in outcome.text
        assert 1 <= len(services.ledger.of(outcome.call)) <= 2
    assert 2 <= len(provider.fetches()) <= 6


def test_a_provider_that_is_down(start):
    """Without a new token the upstream's response stands."""
    setup = start()
    setup.provider.revoke()
    setup.provider.die()
    outcome = setup.callers["grpc"].call()
    assert outcome.code in ("unauthenticated", "unavailable")
    assert setup.ledger.of(outcome.call) == ["revoked"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_it_can_be_turned_off(start, name):
    setup = start(retry=False)
    setup.provider.revoke()
    outcome = setup.callers[name].call()
    assert outcome.code == "unauthenticated" and setup.ledger.of(outcome.call) == ["revoked"]
    assert setup.proxy.metrics().total("martlet_retries_total", result="sent") == 0


def test_the_callers_own_token_is_left_alone(start):
    setup = start(caller="keep")
    own = setup.provider.fetch()["access_token"]
    setup.provider.revoke()
    fetches = len(setup.provider.fetches())
    outcome = setup.callers["http"].call(token=own)
    assert outcome.code == "unauthenticated" and setup.ledger.of(outcome.call) == ["revoked"]
    assert len(setup.provider.fetches()) == fetches
