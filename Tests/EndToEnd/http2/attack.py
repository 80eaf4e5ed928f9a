"""A daemon under attack: its other callers, its memory and its counters are watched meanwhile."""

import select
import socket
import time

from http2.canary import Canary
from support.wait import eventually

LIMIT = 8 << 20


class Attack:
    """Begins when it is made; `check` asserts that the daemon withstood it."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.canary = Canary(proxy)
        self.canary.wait_for_calls(10, within=10.0)
        self._before = self._hits()
        proxy.reset_peak_memory()
        self._memory = proxy.own_memory()

    def _hits(self):
        metrics = self.proxy.metrics()
        names = ("martlet_h2_limit_hits_total", "martlet_limit_hits_total")
        return {labels["limit"]: value for name in names for labels, value in metrics.select(name)}

    def attacker(self, **options):
        """A connection whose SETTINGS are exchanged, so that it has nothing to say but the attack."""
        peer = self.proxy.connect_h2(**options)
        peer.wait(lambda: peer.settings and peer.settings_are_known, "SETTINGS")
        return peer

    def new_hits(self):
        """The limits that were hit since the beginning."""
        return {limit for limit, value in self._hits().items() if value > self._before.get(limit, 0)}

    def check(self, *limits, memory=LIMIT):
        """One of the limits was hit and counted, little memory was used, and the canary was served all the time."""
        eventually(lambda: self.new_hits().intersection(limits), 3.0, f"a hit of the limit {' or '.join(limits)}")
        self.canary.wait_for_calls(10)
        self.canary.stop()
        assert self.canary.failures == []
        assert self.canary.late == []
        assert self.proxy.own_peak_memory() - self._memory <= memory

    def stop(self):
        self.canary.stop()


def flood(peer, chunks, reads=True, within=10.0):
    """Sends chunk after chunk, and reads if it does, until the other side ends the connection or all has gone."""
    chunks, chunk = iter(chunks), b""
    deadline = time.monotonic() + within
    while not peer.ended:
        left = deadline - time.monotonic()
        readable, writable, _ = select.select([peer.socket] if reads else [], [peer.socket], [], max(0, left))
        assert readable or writable, f"it neither takes nor ends anything for {within} s"
        if readable:
            peer.receive()
        if writable and not peer.ended:
            chunk = chunk or next(chunks, b"")
            if not chunk:
                return
            try:
                chunk = chunk[peer.socket.send(chunk, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                pass
            except ConnectionError:
                return  # what it sent before can still be read
