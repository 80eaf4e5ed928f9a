"""Ten thousand calls of random callers, in any order and among reloads: none gets what is for another."""

import http.client
import os
import random

import pytest
from cache.identities import PATHS, Step, call, send
from support.concurrency import at_once

pytestmark = pytest.mark.timeout(240)

CALLS = 10_000
THREADS = 4
# Behind the cache, so that only `key` keeps the tenants apart.
TOKEN = {"headers": {"request": {"set": {"x-token": "Token {header:x-tenant}"}}}}
# A store so small that responses are evicted all the time, and one that holds all.
STORES = [{"bytes": "16MiB"}, {"bytes": "64KiB", "object": "4KiB"}, {"bytes": "8MiB", "object": "4KiB"}]


def test_random_interleavings(cached, recorder):
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    print(f"SEED={seed} repeats the calls of each thread")
    upstream = recorder(send)
    options = {"behind": [TOKEN], "key": "{header:x-tenant}", "file": {"workers": 2}}
    options |= {"stale_if_error": "1m", "stale_while_revalidate": "1s"}
    proxy = cached(upstream, **options)

    def calls(thread):
        choose, problems = random.Random(seed + thread), []
        connection = http.client.HTTPConnection(*proxy.address, timeout=20)
        for number in range(CALLS // THREADS):
            step = Step.random(choose)
            if problem := step.problem(*call(connection, step)):
                problems.append(f"call {number} of thread {thread}: {step}: {problem}")
            if thread == 0 and number % 100 == 99:
                proxy.reload(cached.configuration(upstream, store=choose.choice(STORES), **options))
            if thread == 1 and number % 200 == 199:
                proxy.admin(f"/cache/purge?path={choose.choice(list(PATHS))}", "POST")
        connection.close()
        return problems

    problems = sum(at_once(THREADS, calls), [])
    assert not problems, "\n".join(problems[:10])
    hits = proxy.metrics().total("martlet_cache_requests_total", result="hit")
    assert hits > CALLS / 20, "so few hits prove nothing"


def test_the_upstream_tells_the_callers_apart(recorder):
    """Without a cache, the same calls and checks find nothing; with the response of another caller they would."""
    upstream = recorder(lambda request: send(add_token(request)))
    connection = http.client.HTTPConnection("127.0.0.1", upstream.port, timeout=20)
    choose, last, found = random.Random(1), {}, 0
    for _ in range(500):
        step = Step.random(choose)
        got = call(connection, step)
        assert step.problem(*got) is None, step
        found += bool(last.get(step.path) and step.problem(*last[step.path]))
        last[step.path] = got
    assert found > 100


def add_token(request):
    request.headers.append(("x-token", f"Token {request.header('x-tenant')}"))
    return request
