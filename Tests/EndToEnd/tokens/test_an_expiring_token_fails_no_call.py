"""A thousand calls while tokens expire every second and their provider stops and starts: none fails that could succeed."""

import threading
import time
from datetime import datetime

import pytest

from support.concurrency import Traffic
from support.servers.identity_provider import ENVIRONMENT
from support.wait import eventually
from tokens.token_callers import PROTOCOLS, WAYS
from tokens.token_file import Renamed

pytestmark = pytest.mark.waits

# Callers that ask for it get the token of a file, which another thread writes.
CHAIN = """\
  - name: filed
    when: {{ header: {{ x-source: file }} }}
    token: {{ file: {path} }}
"""


class Rotation:
    """Writes a new token into a file again and again, each good for two seconds."""

    def __init__(self, provider, file, every=0.4):
        self.rotations = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(provider, file, every), daemon=True)
        self._thread.start()

    def _run(self, provider, file, every):
        while not self._stopping.wait(every):
            file.change(provider.fetch(client="rotator", secret="r")["access_token"])
            self.rotations += 1

    def stop(self):
        self._stopping.set()
        self._thread.join(10)


@pytest.fixture
def start(martlet, identity_provider, token_services, callers, running):
    """Starts the daemon and its traffic; the calls of `extra` run beside those of every protocol."""

    def start(provider, services, chain="", extra=(), **token):
        token = {"oauth2": provider.oauth2(timeout="2s")} | token
        proxy = martlet(services.configuration(token, chain=chain), environment=ENVIRONMENT)
        each = callers(proxy)
        # Two threads of unary calls for each protocol, and one of streams.
        kinds = [(name, "unary") for name in PROTOCOLS * 2] + [way for way in WAYS if way[1] == "converse"]
        calls = [lambda way=way: each[way[0]].call(way[1]) for way in kinds]
        calls += [lambda name=name: each[name].call(headers={"x-source": "file"}) for name in extra]
        return proxy, running(Traffic(calls))

    return start


def own_fetches(provider):
    return [fetch for fetch in provider.fetches() if fetch.client == "martlet"]


def reported_token(proxy):
    return proxy.admin("/credentials").json()["credentials"][0]


def wait_for_good_token(proxy):
    eventually(lambda: reported_token(proxy)["state"] == "valid", 15.0, "a token that is good")


def end_of_token(proxy):
    """When the token ends that there is, in time.monotonic(); long ago, if it has been dropped already."""
    reported = reported_token(proxy).get("expires_at")
    wall = datetime.fromisoformat(reported).timestamp() if reported else 0
    return wall - (time.time() - time.monotonic())


@pytest.mark.timeout(120)
def test_tokens_that_last_a_second(identity_provider, token_services, start, running, tmp_path):
    """Fetched tokens end every second, written ones change even more often."""
    clients = {"martlet": ENVIRONMENT["CLIENT_SECRET"], "rotator": "r"}
    provider = identity_provider(clients=clients, lifetimes={"martlet": 1, "rotator": 2})
    services = token_services(provider)
    file = Renamed(tmp_path / "secrets", provider.fetch(client="rotator", secret="r")["access_token"])
    began = time.monotonic()
    chain = CHAIN.format(path=file.path)
    proxy, traffic = start(provider, services, chain, extra=["http", "grpc"], refresh_ahead="300ms")
    rotation = running(Rotation(provider, file))
    traffic.wait_for_calls(1000, within=90)
    traffic.wait_until(began + 8)
    traffic.stop()
    rotation.stop()
    calls = traffic.calls
    print(f"{len(calls)} calls, {len(own_fetches(provider))} fetches, {services.ledger.rejections()} refused")
    # A call that is delayed for a second finds both of its tokens expired; the service has reported each.
    ended = [timed.outcome.call for timed in traffic.failures() if services.ledger.of(timed.outcome.call) == ["expired"] * 2]
    assert [timed for timed in traffic.failures() if timed.outcome.call not in ended] == []
    assert len(ended) <= 2 and len(calls) - len(ended) >= 1000 and rotation.rotations >= 10
    assert {times for call, times in services.ledger.processed().items() if call not in ended} == {1}
    fetched = own_fetches(provider)
    lasted = time.monotonic() - began
    assert lasted / 1.0 - 2 <= len(fetched) <= lasted / 0.4 + 2  # one for each token's end, some time ahead of it
    # Calls with an expired token were retried, which should happen hardly ever.
    assert len(services.ledger.rejections()) <= len(calls) / 50


@pytest.mark.timeout(120)
@pytest.mark.parametrize("failure", ["refuse", "503", "hang", "json"])
def test_an_outage_shorter_than_the_tokens(identity_provider, token_services, start, failure):
    """The provider is away while tokens are fetched ahead of their end, and back before that."""
    provider = identity_provider(lifetime=8)
    services = token_services(provider)
    proxy, traffic = start(provider, services, oauth2=provider.oauth2(timeout="300ms"), refresh_ahead="4s")
    traffic.wait_for_calls(20)
    for _ in range(2):
        issued = len(provider.expiries())
        felt = len(proxy.stderr.matches("no credential"))
        provider.set(failure=failure)
        # Fetched in vain twice, four seconds before the token's end.
        proxy.stderr.wait("no credential", count=felt + 2)
        provider.revive()
        provider.wait_for_tokens(issued + 1)
        traffic.wait_for_calls(50)
    traffic.stop()
    assert traffic.failures() == []
    assert services.ledger.rejections() == []


@pytest.mark.timeout(120)
def test_an_outage_longer_than_the_tokens(identity_provider, token_services, start):
    """Calls fail only while there is no valid token and no provider, and as unavailable; then all succeed again.

    Except those whose token expires on its way: the service may reject them.
    """
    provider = identity_provider(lifetime=1)
    services = token_services(provider)
    proxy, traffic = start(provider, services, refresh_ahead="300ms")
    traffic.wait_for_calls(100)
    provider.die()
    end = end_of_token(proxy)
    traffic.wait_until(time.monotonic() + 4.5)
    provider.revive()
    wait_for_good_token(proxy)
    # By then every worker knows.
    traffic.wait_for_calls(100)
    back = time.monotonic()
    traffic.wait_for_calls(100)
    traffic.stop()
    failures = traffic.failures()
    on_their_way = [timed for timed in failures if timed.began < end < timed.ended]
    assert {timed.outcome.code for timed in on_their_way} <= {"unavailable", "unauthenticated"}
    without = [timed for timed in failures if timed not in on_their_way]
    assert without and {timed.outcome.code for timed in without} == {"unavailable"}
    # The last tenth of a token's second is not used.
    assert [timed for timed in failures if timed.ended < end - 0.1 or timed.began > back] == []
    assert set(services.ledger.processed().values()) <= {0, 1}
    wait_for_good_token(proxy)
