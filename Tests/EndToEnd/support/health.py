"""Whether a daemon is what it was, after all that was done to it."""

from support.raw_call import WAYS, RawCall
from support.wait import eventually, settled

SLACK = 2 << 20


class Health:
    """What a daemon holds when it is made; `check` waits until it holds no more than that."""

    def __init__(self, proxy):
        self.proxy = proxy
        proxy.wait_for_rest()
        self._descriptors = settled(proxy.open_descriptors, during=0.1)  # that of the last question is closed
        self._memory = proxy.own_memory()

    def wait_for_descriptors(self):
        """Waits until connections to upstreams have ended, too."""
        eventually(lambda: self.proxy.open_descriptors() <= self._descriptors, what="the end of all descriptors")

    def check(self, memory=SLACK, good=None):
        """No call, no connection, no descriptor and little memory is left; calls to `good`, a path, pass."""
        proxy = self.proxy
        proxy.wait_for_rest()
        self.wait_for_descriptors()
        assert proxy.own_memory() - self._memory <= memory
        if good:
            for caller, version in WAYS:
                assert RawCall(proxy, caller, version, good).outcome() == "ok", (caller, version)
