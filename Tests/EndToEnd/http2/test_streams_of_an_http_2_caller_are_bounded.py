"""One connection may have a limited number of streams, and the memory of those that nobody reads or ends is bounded."""

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually

pytestmark = pytest.mark.alone

ALLOWED = 20
LIMITS = f"{{ streams: {ALLOWED} }}"
MIB = 1 << 20


def begun_for_ever(peer, stream):
    """The canary gets its response; the others get as much as they read, and no end."""
    if stream.path == "/canary":
        return response_ok(peer, stream)
    peer.headers(stream.id, h2_peer.response())
    while (size := peer.may_send(stream.id)) > 0:
        peer.data(stream.id, bytes(min(size, 16384)))


def left_alone(peer, stream):
    if stream.path == "/canary":
        response_ok(peer, stream)


def test_the_limit_is_announced_and_kept(start_attack):
    attack = start_attack(left_alone, LIMITS)
    caller = attack.attacker()
    caller.wait(lambda: caller.settings, "SETTINGS")
    assert caller.settings[SettingsFrame.MAX_CONCURRENT_STREAMS] == ALLOWED
    calls = [caller.open(h2_peer.request(), end=True) for _ in range(2 * ALLOWED)]
    eventually(lambda: "streams" in attack.new_hits(), what="a hit of the limit")
    rejected = calls[ALLOWED:]
    caller.wait(lambda: caller.goaway or all(call.reset == h2_peer.REFUSED_STREAM for call in rejected), "rejections")
    assert caller.goaway or not any(call.is_over for call in calls[:ALLOWED])
    attack.check("streams")


def test_streams_that_end_make_room(start_attack):
    attack = start_attack(limits=LIMITS)
    caller = attack.attacker()
    for _ in range(5):
        calls = [caller.open(h2_peer.request(), end=True) for _ in range(ALLOWED)]
        assert [caller.finish(call).status for call in calls] == [200] * ALLOWED
    assert attack.new_hits() == set()


@pytest.mark.parametrize("window", [0, 65535, 1 << 20])
def test_responses_that_nobody_reads(start_attack, window):
    attack = start_attack(begun_for_ever, LIMITS)
    callers = [
        attack.attacker(reading=False, settings={SettingsFrame.INITIAL_WINDOW_SIZE: window}) for _ in range(5)
    ]
    for caller in callers:
        for _ in range(ALLOWED + 5):
            caller.open(h2_peer.request("/never-read"), end=True)
    # Each stream may hold a window's worth of what the upstream sends, and no more.
    attack.check("streams", memory=5 * ALLOWED * MIB // 2)


def test_requests_that_never_end(start_attack):
    attack = start_attack(left_alone, LIMITS)
    callers = [attack.attacker() for _ in range(5)]
    for caller in callers:
        for _ in range(ALLOWED + 5):
            call = caller.open(h2_peer.request("/never-ended", "POST"))
            caller.data(call.id, b"part")
    attack.check("streams")
    for caller in callers:
        caller.close()
    eventually(lambda: attack.proxy.metrics().total("martlet_rpc_in_flight") <= 1, what="the end of the calls")
