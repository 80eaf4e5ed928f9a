"""An upstream revokes tokens long before they expire. No caller sees it, whatever another upstream does with them."""

import json
import time

import pytest

from support.concurrency import Traffic
from support.servers.grpc_service import SERVICE
from support.servers.identity_provider import ENVIRONMENT
from support.wait import eventually
from tokens.token_callers import PROTOCOLS

pytestmark = pytest.mark.waits

BAD = {"x-upstream": "bad"}


def logged(proxy):
    """The lines of the access log."""
    return [json.loads(line) for line in proxy.stdout.text.splitlines() if line.endswith("}")]


@pytest.fixture
def two_upstreams(martlet, identity_provider, token_services, callers):
    """A daemon that sends its one token to two upstreams, the second of which rejects every token."""

    def start(lifespan, **options):
        provider = identity_provider()
        good, bad = token_services(provider, lifespan=lifespan), token_services(provider, audience="nobody")
        proxy = martlet(
            f"""\
listen: 127.0.0.1:0
upstreams:
  grpc: {good.grpc.url}
  web: {good.web.url}
  bad-grpc: {bad.grpc.url}
  bad-web: {bad.web.url}
interceptors:
  - log: {{}}
  - {{ name: auth, token: {json.dumps({"oauth2": provider.oauth2()} | options)} }}
routes:
  - match: {{ service: {SERVICE}, header: {{ x-upstream: bad }} }}
    upstream: bad-grpc
  - match: {{ header: {{ x-upstream: bad }} }}
    upstream: bad-web
  - match: {{ service: {SERVICE} }}
    upstream: grpc
  - upstream: web
workers: 2
""",
            environment=ENVIRONMENT,
        )
        return proxy, provider, good, bad, callers(proxy)

    return start


@pytest.mark.timeout(120)
@pytest.mark.parametrize("http, reloads", [(2, 0), (1, 6)])
def test_revoked_every_second(martlet, identity_provider, token_services, callers, running, http, reloads):
    provider = identity_provider()
    services = token_services(provider, lifespan=1)
    text = services.configuration({"oauth2": provider.oauth2()})
    text = text if http == 1 else text.replace(services.web.url, services.web.h2c_url)
    proxy = martlet(text, environment=ENVIRONMENT)
    each = callers(proxy)
    began = time.monotonic()
    traffic = running(Traffic([lambda name=name: each[name].call(timeout=3.0) for name in PROTOCOLS * 2]))
    for number in range(reloads):
        traffic.wait_until(began + number + 0.5)
        assert proxy.admin("/reload", method="POST").status_code == 200
    traffic.wait_for_calls(1000, within=90)
    # Longer than five tokens last: after five that were rejected in a row there was no other for a while.
    traffic.wait_until(began + 8)
    traffic.stop()
    lasted, fetches = time.monotonic() - began, len(provider.fetches())
    failed = [timed.outcome for timed in traffic.failures()]
    print(f"{len(traffic.calls)} calls in {lasted:.1f} s, {len(failed)} failed, {fetches} fetches")
    assert [outcome for outcome in failed if outcome.code == "unauthenticated"] == []
    # The server may end a connection while a request is on its way to it, which has nothing to do with tokens.
    assert len(failed) <= len(traffic.calls) / 200
    assert fetches <= lasted + 2


@pytest.mark.timeout(120)
@pytest.mark.parametrize("lifespan, latency", [(None, 2), (2, 0)])
def test_beside_an_upstream_that_rejects_every_token(two_upstreams, running, lifespan, latency):
    # A fetch may be late, as long as calls wait for it.
    proxy, provider, good, bad, each = two_upstreams(lifespan, **({"wait": "10s"} if latency else {}))
    assert {each[name].call().code for name in PROTOCOLS} == {"ok"}
    eventually(lambda: len(logged(proxy)) == len(PROTOCOLS), what="the lines of the first calls")
    provider.set(latency=latency)
    began, fetched = time.monotonic(), len(provider.fetches())
    rejected = running(Traffic([lambda name=name: each[name].call(headers=BAD) for name in PROTOCOLS]))
    served = running(Traffic([lambda name=name: each[name].call() for name in PROTOCOLS]))
    served.wait_until(began + 6)
    eventually(lambda: len(served.calls) > 100, within=30, what="a hundred calls")
    rejected.stop()
    served.stop()
    lasted, fetches = time.monotonic() - began, len(provider.fetches()) - fetched
    print(f"{len(served.calls)} served, {len(served.failures())} failed, {len(rejected.calls)} rejected, {fetches} fetches")
    assert {timed.outcome.code for timed in rejected.calls} == {"unauthenticated"}
    assert served.failures() == []
    # Five at once for each of the two upstreams that reject every token, and one in ten seconds; and what the others revoke.
    assert fetches <= 2 * (5 + lasted / 10 + 1) + (lasted / lifespan + 1 if lifespan else 0)
    if not lifespan:
        # Only callers of the other upstream wait for a token that it needs: before they send a request, or before its retry.
        waits = {"bad": [], "good": []}
        for line in logged(proxy)[len(PROTOCOLS) :]:
            waited = line["stages"]["chain_ms"] + line.get("spent", {}).get("waiting_ms", 0)
            waits["bad" if line["upstream"].startswith("bad") else "good"].append(waited)
        assert max(waits["bad"]) > 1000  # of the 2000 ms that a fetch takes
        assert max(waits["good"]) < 1000
