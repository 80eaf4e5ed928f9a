"""While no token is available, calls fail as unavailable in their protocol, and Martlet asks the provider less and less often."""

import time

import pytest

from support.concurrency import Traffic, at_once
from support.servers.identity_provider import ENVIRONMENT
from support.wait import eventually
from tokens.token_callers import PROTOCOLS, WAYS


@pytest.fixture
def start(martlet, identity_provider, token_services, callers):
    """Starts a daemon whose provider fails; returns both, the services and the callers."""

    def start(failure, timeout="2s", **settings):
        provider = identity_provider(**settings)
        provider.set(failure=failure)
        services = token_services(provider)
        proxy = martlet(services.configuration({"oauth2": provider.oauth2(timeout=timeout)}), environment=ENVIRONMENT)
        return proxy, provider, services, callers(proxy)

    return start


def gaps(fetches):
    return [after.at - before.at for before, after in zip(fetches, fetches[1:])]


@pytest.mark.waits
@pytest.mark.parametrize("name, kind", WAYS)
def test_in_each_protocol(start, name, kind):
    proxy, _, services, callers = start("refuse")
    outcome = callers[name].call(kind)
    assert (outcome.code, outcome.received) == ("unavailable", [])
    assert outcome.text
    assert services.ledger.of(outcome.call) == []
    proxy.stdout.wait('"decided_by":"interceptor:auth"')


@pytest.mark.waits
@pytest.mark.parametrize("failure", ["500", "503", "json", "hang"])
def test_two_hundred_calls(start, running, failure):
    proxy, provider, services, callers = start(failure, timeout="200ms")
    traffic = running(Traffic([lambda name=name: callers[name].call() for name in PROTOCOLS * 2], pause=0.05))
    traffic.wait_for_calls(200)
    fetches = provider.wait_for_fetches(4, within=20)
    traffic.stop()
    assert {timed.outcome.code for timed in traffic.calls} == {"unavailable"}
    # No call waits longer than the two seconds that calls wait for a token.
    waits = sorted(timed.ended - timed.began for timed in traffic.calls)
    assert waits[len(waits) * 9 // 10] < 3 and waits[-1] < 6, waits[-20:]
    assert services.ledger.processed() == {}
    lasted = fetches[-1].at - fetches[0].at
    assert len(fetches) <= 6 + lasted and len(fetches) < len(traffic.calls) / 10
    assert gaps(fetches)[-1] > gaps(fetches)[0]
    (credential,) = proxy.admin("/credentials").json()["credentials"]
    assert credential["state"] in ("failed", "fetching") and credential["last_error"]
    refreshes = proxy.metrics().select("martlet_credential_refresh_total", credential="auth")
    assert len(fetches) <= sum(value for _, value in refreshes) + 1
    provider.revive()
    eventually(lambda: callers["grpc"].call().code == "ok", within=20, what="a call after the provider's return")
    assert {callers[name].call().code for name in PROTOCOLS} == {"ok"}


def test_retry_after_is_respected(start, running):
    _, provider, _, callers = start("429", retry_after="3")
    traffic = running(Traffic([callers["http"].call]))
    fetches = provider.wait_for_fetches(2, within=20)
    traffic.stop()
    assert gaps(fetches)[0] >= 2.9
    assert {timed.outcome.code for timed in traffic.calls} == {"unavailable"}


@pytest.mark.waits
@pytest.mark.parametrize("name", PROTOCOLS[:3])
def test_deadlines_are_kept(start, name):
    """Calls with a short deadline do not wait for a fetch, and it continues for the others."""
    _, provider, _, callers = start("hang", timeout="5s")
    caller = callers[name]

    def call(number):
        began = time.monotonic()
        return caller.call(timeout=0.3), time.monotonic() - began

    ended = at_once(10, call)
    assert {outcome.code for outcome, _ in ended} == {"deadline_exceeded"}
    assert max(lasted for _, lasted in ended) < 1.5
    assert len(provider.fetches()) == 1


def test_calls_wait_for_a_slow_provider(start):
    _, provider, services, callers = start(None, latency=1)
    outcomes = at_once(10, lambda number: callers["connect"].call(timeout=0.3 if number < 5 else 10))
    assert [outcome.code for outcome in outcomes] == ["deadline_exceeded"] * 5 + ["ok"] * 5
    assert len(provider.fetches()) == 1 and len(services.ledger.processed()) == 5
