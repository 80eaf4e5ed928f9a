"""A caller beside the attack: it calls again and again, on a connection of its own.

It is a separate process, so that a busy test does not delay its clock. As a program it writes a line for
each call, in seconds: how long the call lasted, the processor time of the daemon meanwhile, and how long the host of a virtual
machine took its processors away; or the error.
"""

import os
import sys
import time
from pathlib import Path

from support.http2 import h2_peer
from support.program import Program
from support.wait import eventually

FOLDER = Path(__file__).resolve().parents[1]
# How long a call may last, in seconds.
MAX_CALL = 1.0
# If the host took processors away for half of that time or more, a call may last this long, and the daemon work this long.
MAX_CALL_WITHOUT_PROCESSOR = 5.0
WORK = 0.5


class Canary:
    """Begins when it is made."""

    def __init__(self, proxy):
        host, port = proxy.address
        self._program = Program([sys.executable, "-m", "http2.canary", host, port, proxy.pid], cwd=FOLDER)

    @property
    def calls(self):
        """For each call: how long it lasted, how long the daemon worked, and how long processors were taken away."""
        lines = [line.split() for line in self._program.stdout]
        return [tuple(map(float, line[1:])) for line in lines if line[0] == "call"]

    @property
    def failures(self):
        return [line for line in self._program.stdout if not line.startswith("call ")] + list(self._program.stderr)

    @property
    def late(self):
        """The calls that lasted too long, in the form of `calls`."""
        return [call for call in self.calls if is_late(*call)]

    def wait_for_calls(self, more, within=5.0):
        target = len(self.calls) + more
        eventually(lambda: self.failures or len(self.calls) >= target, within, f"{more} more calls of a canary")

    def stop(self):
        self._program.stop()


def is_late(took, worked, stolen):
    """Whether a call lasted too long, and not only because of the machine's host."""
    return took >= MAX_CALL and (stolen < took / 2 or took >= MAX_CALL_WITHOUT_PROCESSOR or worked >= WORK)


def stolen_seconds():
    """For how long the host has taken processors away so far: proc_stat(5)."""
    return int(Path("/proc/stat").read_text().split(maxsplit=9)[8]) / os.sysconf("SC_CLK_TCK")


def run(host, port, pid):
    processor_time = ~pid << 3 | 2  # clock_getcpuclockid(3)
    clocks = (time.monotonic, lambda: time.clock_gettime(processor_time), stolen_seconds)
    caller = h2_peer.connect((host, port))
    while True:
        before = [clock() for clock in clocks]
        call = caller.finish(caller.open(h2_peer.request("/canary", "POST"), end=True))
        spent = [clock() - start for clock, start in zip(clocks, before)]
        right = (call.status, call.body) == (200, b"ok")
        line = " ".join(["call", *(f"{each:.6f}" for each in spent)]) if right else f"{call.status} {call.body}"
        # In one piece: it may be stopped at any time, and output need not be buffered.
        os.write(sys.stdout.fileno(), f"{line}\n".encode())
        time.sleep(0.002)


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
