"""Hours of mixed traffic in minutes: reports the growth of memory and the failed calls, and fails if either is too large.

Mixed traffic in all protocols, also translated ones, streams, cancelled calls and callers that disconnect; meanwhile the configuration is reloaded, the
token rotated and the upstream killed and started again. Its own memory is sampled each second; after a warm-up, the
median of the slopes between any two moments says how it grows: a step, as a burst of load leaves one, does not make a slope.

SOAK_MINUTES (15)   how long it runs, the warm-up of a fifth of it, three minutes at most, included
SOAK_KIB (48)       how many KiB a minute the memory may grow
MARTLET_BIN         another binary than that of this tree
"""

import os
import signal
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
END_TO_END = HERE.parent / "EndToEnd"
sys.path[:0] = [str(HERE), str(END_TO_END)]

from callers import Callers  # noqa: E402
from support.martlet import Martlet  # noqa: E402
from support.program import Program  # noqa: E402
from support.servers.grpc_service import descriptor_set  # noqa: E402
from support.wait import eventually  # noqa: E402

MINUTES = float(os.environ.get("SOAK_MINUTES", 15))
MAX_KIB = float(os.environ.get("SOAK_KIB", 48))
# Memory goes up with a restart, and down each half minute when it is released; were one a multiple of the other, or nearly,
# they would drift past each other for minutes, and that would look like growth.
RELOAD, ROTATE, RESTART, REPORT = 5, 7, 23, 60
STALL = 3.0  # who is late by so many seconds was not given a processor, nor were the others
GRACE = 2.0  # an upstream that has come back is known to be there after this many seconds
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams:
  http: {{ url: "http://127.0.0.1:{http}", connect_wait: 10s, timeouts: {{ idle: {idle}s, call: 25s }} }}
  grpc: {{ url: "h2c://127.0.0.1:{grpc}", timeouts: {{ call: 25s }}, speaks: grpc, codecs: [proto] }}
types: {{ files: ["{types}"] }}
interceptors:
  - metrics: {{}}
  - log: {{ to: /dev/null }}
  - token: {{ file: "{token}" }}
  - headers: {{ request: {{ set: {{ x-call: "{{call.id}}", x-generation: "{idle}" }} }} }}
  - limit: {{ message: 1MiB }}
routes:
  - match: {{ service: martlet.test.Bytes }}
    upstream: grpc
  - upstream: http
"""


def slope(places, values):
    """The median of the slopes between samples that are a fifth of them or more apart."""
    count, step = len(values), max(1, len(values) // 200)
    pairs = ((a, b) for a in range(0, count, step) for b in range(a + max(1, count // 5), count, step))
    return statistics.median((values[b] - values[a]) / (places[b] - places[a]) for a, b in pairs if places[b] > places[a])


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Upstream:
    """The program behind the proxy."""

    def __init__(self):
        self.ports = [free_port(), free_port()]
        self.start()

    def start(self):
        paths = {"PYTHONPATH": f"{HERE}:{END_TO_END}", "PATH": os.environ["PATH"]}
        self.program = Program([sys.executable, "-m", "upstream", *self.ports], env=paths)
        self.program.stdout.wait("ready", within=300)

    def restart(self, kill):
        self.program.signal(signal.SIGKILL if kill else signal.SIGTERM)
        self.program.stop()
        self.start()

    def stop(self):
        self.program.stop()


class Soak:
    """One run; `run` returns what was wrong."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.token = self.directory / "token"
        self.types = self.directory / "bytes.binpb"
        self.types.write_bytes(descriptor_set())
        self.rotate(0)
        self.upstream = Upstream()
        self.martlet = Martlet(self.configuration(0), self.directory)
        self.descriptors = self.martlet.open_descriptors()
        self.callers = Callers(self.martlet.address)
        self.samples = []
        self.actions = {"reloads": 0, "rotations": 0, "restarts": 0, "stalls of the machine": 0}

    def configuration(self, number):
        http, grpc = self.upstream.ports
        return CONFIGURATION.format(http=http, grpc=grpc, token=self.token, types=self.types, idle=60 + number % 7)

    def rotate(self, number):
        new = self.directory / "token.new"
        new.write_text(f"token-{number}")
        new.rename(self.token)

    def act(self, second):
        """What happens beside the calls."""
        if second % RELOAD == 0:
            self.actions["reloads"] += 1
            self.martlet.write(self.configuration(self.actions["reloads"]))
            self.martlet.signal(signal.SIGHUP)
        if second % ROTATE == 0:
            self.actions["rotations"] += 1
            self.rotate(self.actions["rotations"])
        if second % RESTART == 0:
            self.actions["restarts"] += 1
            self.callers.undisturbed_since.value = float("inf")
            self.upstream.restart(kill=self.actions["restarts"] % 2)
            self.callers.undisturbed_since.value = time.monotonic() + GRACE

    def run(self):
        began, second = time.monotonic(), 0
        while (elapsed := time.monotonic() - began) < MINUTES * 60 and self.callers.are_alive():
            self.samples.append((elapsed, self.callers.collect(), self.martlet.own_memory() / 1024))
            if second % REPORT == 0:
                self.report()
            second = int(elapsed) + 1
            time.sleep(max(0, began + second - time.monotonic()))
            if time.monotonic() > began + second + STALL:
                self.actions["stalls of the machine"] += 1
                self.callers.undisturbed_since.value = time.monotonic() + GRACE
            self.act(second)
        wrong = [] if self.callers.are_alive() else ["callers ended by themselves"]
        self.callers.stop()
        return wrong + self.evaluate()

    def report(self):
        elapsed, calls, rss = self.samples[-1]
        print(f"{elapsed / 60:5.1f} min  {calls:9} calls  {rss:8.0f} KiB", flush=True)

    def evaluate(self):
        """Says what was found; returns what of it is wrong."""
        warm = [sample for sample in self.samples if sample[0] >= min(180, MINUTES * 12)]
        elapsed, calls, rss = zip(*warm)
        a_minute, a_call = slope(elapsed, rss) * 60, slope(calls, rss)
        print(*(f"{count} {what}" for what, count in self.actions.items()), f"{self.callers.collect()} calls", sep=", ")
        for (kind, outcome), count in sorted(self.callers.counts.items()):
            print(f"  {kind:22} {outcome:50} {count:9}")
        print(f"memory: {rss[0]:.0f} KiB after the warm-up, {rss[-1]:.0f} KiB at the end, {max(rss):.0f} KiB at most")
        print(f"slope: {a_minute:+.1f} KiB a minute, {a_call * 1e5:+.1f} KiB for 100 000 calls; allowed {MAX_KIB} KiB a minute")
        wrong = [f"memory grows by {a_minute:.1f} KiB a minute"] if a_minute > MAX_KIB else []
        failed = sum(count for (_, outcome), count in self.callers.counts.items() if outcome.startswith("FAILED"))
        wrong += [f"{failed} calls failed while nothing was wrong with the upstream"] if failed else []
        return wrong + self.at_rest()

    def at_rest(self):
        """What is still held after the last call."""
        self.upstream.stop()
        try:
            self.martlet.wait_for_rest()
            eventually(lambda: self.martlet.open_descriptors() <= self.descriptors, what="the end of all descriptors")
        except AssertionError as error:
            return [str(error), *self.martlet.open_files(), *self.martlet.sockets()]
        self.martlet.reload()
        live = self.martlet.metrics().total("martlet_config_generations_live")
        return [f"{live:.0f} generations are alive"] if live != 1 else []

    def end(self):
        """Lets the daemon drain."""
        self.martlet.signal(signal.SIGTERM)
        code = self.martlet.exit_code(within=40)
        return [f"the daemon ended with {code}"] if code else []

    def stop(self):
        self.martlet.stop()
        self.upstream.stop()


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-soak-") as directory:
        soak = Soak(directory)
        try:
            wrong = soak.run() + soak.end()
        finally:
            soak.stop()
        if wrong:
            print(*soak.martlet.stderr, sep="\n", file=sys.stderr)
    print(*(f"FAILED: {reason}" for reason in wrong), sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
