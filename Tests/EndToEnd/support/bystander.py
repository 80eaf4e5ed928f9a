"""Somebody else who calls again and again, on a connection of his own.

He is a process of his own, so that a test that is busy does not keep him from his clock. Run as a program he writes a line for
each call: how long it took, and for how long the daemon has run on a processor meanwhile, in seconds; or what was wrong.
"""

import sys
import time
from pathlib import Path

from support import h2_peer
from support.patience import eventually
from support.program import Program

FOLDER = Path(__file__).resolve().parents[1]
# How long a call may take, in seconds.
PATIENCE = 1.0
# A machine whose host holds it up lets a call or two take longer. Then it has to be seen that it was not the daemon: how long
# that may have worked meanwhile, and how long the call may take all the same.
FEW = 2
WORK = 0.5
LONGEST = 5.0


class Bystander:
    """Begins when it is made."""

    def __init__(self, proxy):
        host, port = proxy.address
        self._program = Program([sys.executable, "-m", "support.bystander", host, port, proxy.pid], cwd=FOLDER)

    @property
    def calls(self):
        """How long each took, and how long the daemon worked meanwhile."""
        lines = [line.split() for line in self._program.stdout]
        return [(float(line[1]), float(line[2])) for line in lines if line[0] == "call"]

    @property
    def failures(self):
        return [line for line in self._program.stdout if not line.startswith("call ")] + list(self._program.stderr)

    @property
    def late(self):
        """The calls that took too long, as `calls` has them."""
        late = [(took, worked) for took, worked in self.calls if took >= PATIENCE]
        return late if len(late) > FEW else [call for call in late if call[0] >= LONGEST or call[1] >= WORK]

    def wait_for_calls(self, more, within=5.0):
        target = len(self.calls) + more
        eventually(lambda: self.failures or len(self.calls) >= target, within, f"{more} more calls of a bystander")

    def stop(self):
        self._program.stop()


def run(host, port, pid):
    processor_time = ~pid << 3 | 2  # clock_getcpuclockid(3)
    caller = h2_peer.connect((host, port))
    while True:
        began, worked = time.monotonic(), time.clock_gettime(processor_time)
        call = caller.finish(caller.open(h2_peer.request("/bystander", "POST"), end=True))
        took, worked = time.monotonic() - began, time.clock_gettime(processor_time) - worked
        right = (call.status, call.body) == (200, b"ok")
        print(f"call {took:.6f} {worked:.6f}" if right else f"{call.status} {call.body}", flush=True)
        time.sleep(0.002)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
