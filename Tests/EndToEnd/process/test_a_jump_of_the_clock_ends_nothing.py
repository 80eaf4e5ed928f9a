"""The time of day jumps forward and back. No call, connection, timeout or cached token ends because of it."""

import json
from pathlib import Path

import pytest

from support.compiler import compiled
from support.http1.peer import connect
from support.servers.identity_provider import ENVIRONMENT
from support.wait import eventually

pytestmark = pytest.mark.alone

SOURCE = Path(__file__).parent / "clock.c"
DAY = 86_400
JUMPS = [DAY, -DAY, 400 * DAY, 0]
REQUEST = b"GET /wait HTTP/1.1\r\nhost: a.example\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.fixture
def clock(tmp_path):
    """A clock that can be set: its environment for the daemon, and a function that says how many seconds it is off."""
    library, offset = compiled(SOURCE, tmp_path / "clock.so"), tmp_path / "offset"
    offset.write_text("0")

    def set_to(seconds):
        # In one step: half a number would be another time.
        new = tmp_path / "offset.new"
        new.write_text(str(seconds))
        new.rename(offset)

    set_to.environment = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}
    return set_to


def test_calls_in_flight(martlet, recorder, clock):
    """Each has a minute, and its connections an hour; and the day of a line in the log is that of the clock."""

    def script(peer):
        while peer.request():
            resume.append(peer)

    resume = []
    upstream = recorder(script=script)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{upstream.url}", timeouts: {{ call: 1m, first_byte: 1m }} }} }}
        interceptors: [ metrics, log, limit: {{ rate: 100/s }} ]
        workers: 1
        """,
        environment=clock.environment,
    )
    caller, idle = proxy.connect(), proxy.connect()
    days = set()
    for number, jump in enumerate(JUMPS, 1):
        caller.send(REQUEST)
        eventually(lambda: len(resume) == number, what="the request upstream")
        clock(jump)
        # Other work happens meanwhile, so that every timer has read the clock.
        assert proxy.admin("/healthz").status_code == 200
        other = connect(proxy.address)
        other.close()
        resume[-1].send(OK)
        assert caller.response().body == b"ok"
        line = json.loads(proxy.stdout.wait(r"^\{.*\}$", count=number).string)
        assert line["code"] == "ok" and 0 <= line["duration_ms"] < 10_000
        days.add(line["time"][:10])
    assert len(days) == len(set(JUMPS))
    idle.send(REQUEST)
    eventually(lambda: len(resume) == len(JUMPS) + 1, what="a request on the idle connection")
    resume[-1].send(OK)
    assert idle.response().status == 200


def test_tokens(martlet, recorder, identity_provider, clock):
    """The lifetime of a token counts from its arrival, not by a clock that can be set."""
    provider, upstream = identity_provider(), recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors: [ {json.dumps({"token": {"oauth2": provider.oauth2()}})} ]
        """,
        environment=ENVIRONMENT | clock.environment,
    )
    with proxy.http() as http:
        assert http.get("/").text == "ok"  # the token has arrived
        for jump in JUMPS:
            clock(jump)
            for _ in range(50):
                assert http.get("/").text == "ok"
    assert all(request.header("authorization").startswith("Bearer ") for request in upstream.requests)
    assert len(provider.fetches()) == 1
