"""However many calls need a token, on whichever worker, it is fetched once, and they wait for that fetch."""

import pytest

from support.concurrency import at_once
from support.servers.identity_provider import ENVIRONMENT
from tokens.token_callers import PROTOCOLS


def call_at_once(callers):
    return at_once(50, lambda number: callers[PROTOCOLS[number % len(PROTOCOLS)]].call())


@pytest.fixture
def provider(identity_provider):
    return identity_provider(latency=0.5)


def test_fifty_callers(martlet, provider, token_services, callers):
    services = token_services(provider)
    proxy = martlet(services.configuration({"oauth2": provider.oauth2()}), environment=ENVIRONMENT)
    outcomes = call_at_once(callers(proxy))
    assert [outcome for outcome in outcomes if outcome.code != "ok"] == []
    assert services.ledger.processed() == {outcome.call: 1 for outcome in outcomes}
    assert [fetch.result for fetch in provider.fetches()] == [200]
    assert proxy.metrics().total("martlet_credential_refresh_total", credential="auth") == 1
    assert call_at_once(callers(proxy)) and len(provider.fetches()) == 1  # and it is kept


def test_a_failure_reaches_all_of_them(martlet, provider, token_services, callers):
    provider.set(failure="500")
    services = token_services(provider)
    proxy = martlet(services.configuration({"oauth2": provider.oauth2()}), environment=ENVIRONMENT)
    assert {outcome.code for outcome in call_at_once(callers(proxy))} == {"unavailable"}
    assert services.ledger.processed() == {}
    # They wait for three seconds, with fetches after growing pauses.
    assert len(provider.fetches()) <= 5


def test_each_key_of_an_exchange_by_itself(martlet, provider, token_services, callers):
    provider.set(subjects={"ticket-0": "ann", "ticket-1": "bob"})
    services = token_services(provider)
    exchange = provider.oauth2(
        subject_token="{header:x-ticket}", subject_token_type="urn:ietf:params:oauth:token-type:access_token"
    )
    proxy = martlet(services.configuration({"exchange": exchange}), environment=ENVIRONMENT)
    caller = callers(proxy)["http"]
    outcomes = at_once(20, lambda number: caller.call(headers={"x-ticket": f"ticket-{number % 2}"}))
    assert {outcome.code for outcome in outcomes} == {"ok"}
    assert sorted(fetch.form["subject_token"] for fetch in provider.fetches("exchange")) == ["ticket-0", "ticket-1"]


def test_a_program_runs_once(martlet, provider, token_services, callers, tmp_path):
    (tmp_path / "token").write_text(provider.fetch()["access_token"])
    program = tmp_path / "fetch"
    program.write_text(f"#!/bin/sh\necho run >> {tmp_path}/runs\nsleep 0.5\ncat {tmp_path}/token\n")
    program.chmod(0o755)
    services = token_services(provider)
    proxy = martlet(services.configuration({"exec": {"command": [str(program)], "format": "text"}}))
    assert {outcome.code for outcome in call_at_once(callers(proxy))} == {"ok"}
    assert (tmp_path / "runs").read_text() == "run\n"


def test_the_admin_page_shows_the_credential(martlet, provider, token_services, callers):
    services = token_services(provider)
    proxy = martlet(services.configuration({"oauth2": provider.oauth2()}), environment=ENVIRONMENT)
    caller = callers(proxy)["http"]

    def credential():
        page = proxy.admin("/credentials")
        assert (page.status_code, page.headers["content-type"]) == (200, "application/json")
        (reported,) = page.json()["credentials"]
        assert (reported["name"], reported["kind"]) == ("auth", "oauth2")
        return reported

    assert credential()["state"] in ("none", "fetching", "valid")
    assert caller.call().code == "ok"
    assert credential()["state"] == "valid" and credential()["expires_at"] and not credential()["last_error"]
    ((_, expiry),) = proxy.metrics().select("martlet_credential_expiry_timestamp_seconds", credential="auth")
    assert abs(expiry - provider.expiries()[-1]) < 2
