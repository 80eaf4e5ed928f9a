"""Heads that never end hold no more memory than `limits.memory` allows. Further ones get an error, and others are served."""

from pathlib import Path

import pytest

from support.health import Health
from support.http1.peer import connect
from support.http1.recorder import OK
from support.wait import eventually

pytestmark = pytest.mark.alone

CALLERS = 1000
PART = b"GET / HTTP/1.1\r\nhost: a.example\r\nx-padding: " + 60_000 * b"x"
MIB = 1 << 20
FULL = b'{"code":"resource_exhausted","message":"Martlet has reached its memory limit (limits.memory)"}'


def test_heads(martlet, recorder):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{recorder(OK).url}", timeouts: {{ idle: 100ms }} }} }}
        limits: {{ memory: 16MiB }}
        workers: 2
        """
    )
    health = Health(proxy)
    before = proxy.own_memory()
    callers = []
    for _ in range(CALLERS):
        callers.append(connect(proxy.address))
        callers[-1].send(PART)
    eventually(
        lambda: proxy.metrics().total("martlet_limit_hits_total", limit="memory") >= CALLERS - 8 * MIB // 61440,
        what="the rejection of all but some",
    )
    metrics = proxy.metrics()
    assert 7 * MIB < metrics.total("martlet_held_memory_bytes") <= 8 * MIB + 256 * 1024
    assert metrics.total("martlet_held_memory_limit_bytes") == 16 * MIB
    assert proxy.own_memory() < before + 32 * MIB
    rejected = callers[-1].response()
    assert (rejected.status, rejected.body) == (503, FULL)
    assert callers[-1].has_ended()
    proxy.stderr.wait(r"warn limits.memory is reached; rejecting an incomplete head held=\d+ limit=12582912 peer=")
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    for caller in callers:
        caller.reset()
    eventually(lambda: proxy.metrics().total("martlet_held_memory_bytes") == 0, what="the memory given back")
    # It is released to the system within a minute.
    health.check(memory=16 * MIB)


def test_the_default_is_half_of_what_there_is(martlet, recorder):
    proxy = martlet(upstream=recorder(OK).url)
    assert proxy.metrics().total("martlet_held_memory_limit_bytes") == (group_limit() or 1 << 30) // 2


def group_limit():
    """The memory that the control group of this process may have, or one that it is in; None if there is no limit."""
    limits = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if number != "0" and "memory" not in controllers.split(","):
            continue
        roots = ["", "unified"] if number == "0" else ["memory"]
        file = "memory.max" if number == "0" else "memory.limit_in_bytes"
        for folder in [Path(path), *Path(path).parents]:
            for root in roots:
                limit = Path("/sys/fs/cgroup") / root / folder.relative_to("/") / file
                text = limit.read_text().strip() if limit.exists() else "max"
                if text != "max" and int(text) < 1 << 60:
                    limits.append(int(text))
    return min(limits, default=None)
