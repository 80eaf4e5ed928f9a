"""If the upstream rejects a token from a file, Martlet reads the file again before the call ends, however the file was changed."""

import os
import time

import pytest

from support.concurrency import Traffic
from support.servers.identity_provider import ENVIRONMENT
from tokens.token_callers import PROTOCOLS
from tokens.token_file import Renamed, Rewritten, Swapped


class Linked(Renamed):
    """Written through a second name of the same file, in a directory that Martlet does not watch."""

    def begin(self, value):
        super().begin(value)
        self.other = self.directory.parent / "other"
        os.link(self.path, self.other)

    def change(self, value):
        self.other.write_text(value)


@pytest.fixture
def start(martlet, identity_provider, token_services, callers, tmp_path):
    def start(kind):
        provider = identity_provider()
        services = token_services(provider)
        file = kind(tmp_path / "secrets", provider.fetch()["access_token"])
        proxy = martlet(services.configuration({"file": str(file.path)}), environment=ENVIRONMENT)
        return provider, services, file, proxy, callers(proxy)

    return start


@pytest.mark.parametrize("kind", [Linked, Rewritten, Renamed, Swapped])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_call_that_is_rejected_gets_the_new_token(start, kind, name):
    provider, services, file, proxy, each = start(kind)
    assert each[name].call().code == "ok"
    for count in range(1, 4):
        provider.revoke()
        file.change(provider.fetch()["access_token"])
        outcome = each[name].call()
        assert outcome.code == "ok", outcome
        assert services.ledger.of(outcome.call) in (["revoked", "processed"], ["processed"])


def test_under_load_and_reloads(start, running):
    provider, services, file, proxy, each = start(Linked)
    traffic = running(Traffic([lambda name=name: each[name].call() for name in PROTOCOLS * 2]))
    between = []
    for count in range(10):
        traffic.wait_for_calls(40)
        revoked = time.monotonic()
        provider.revoke()
        file.change(provider.fetch()["access_token"])
        between.append((revoked, time.monotonic()))
        assert count % 2 or proxy.admin("/reload", "POST").status_code == 200
    traffic.wait_for_calls(40)
    traffic.stop()
    rejected = [timed for timed in traffic.failures() if timed.outcome.code == "unauthenticated"]
    # Between the revocation and the new file there is a moment without a valid token.
    assert [timed for timed in rejected if not any(start <= timed.ended and timed.began <= end for start, end in between)] == []


@pytest.mark.alone
def test_a_file_that_has_not_changed_is_rejected_at_once(start):
    provider, services, file, proxy, each = start(Renamed)
    provider.revoke()
    for name in PROTOCOLS:
        outcome = each[name].call(timeout=1.0)
        assert outcome.code == "unauthenticated"
        assert services.ledger.of(outcome.call) == ["revoked"]
