"""Runs hostile parties beside honest callers: fails if memory grows, or if honest calls fail or become slow.

Honest callers make 100 calls a second, first alone, then beside all hostile parties; meanwhile the configuration is reloaded.
The rates of the parties are bounded and their processes have the lowest priority, so honest calls feel only the work of Martlet.

SOAK_MINUTES (30)   how long it runs; the honest callers are alone for a sixth of it, five minutes at most
SOAK_KIB (48)       how many KiB a minute the memory may grow, after a warm-up beside the parties
HOSTILE_PARTIES     the names of parties, with commas, if not all are to act
MARTLET_BIN         another binary than that of this tree
"""

import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
END_TO_END = HERE.parent / "EndToEnd"
sys.path[:0] = [str(HERE), str(END_TO_END)]

import honest  # noqa: E402
import http2_parties  # noqa: E402
import parties  # noqa: E402
import party  # noqa: E402
from reports import Group, cpu_seconds  # noqa: E402
from soak import Upstream, free_port, slope  # noqa: E402
from support.certificates import Authority  # noqa: E402
from support.http1.peer import connect  # noqa: E402
from support.martlet import Martlet, endpoint  # noqa: E402
from support.program import Program  # noqa: E402
from support.wait import eventually  # noqa: E402

MINUTES = float(os.environ.get("SOAK_MINUTES", 30))
MAX_KIB = float(os.environ.get("SOAK_KIB", 48))
NAMES = os.environ.get("HOSTILE_PARTIES")
MODULES = (parties, http2_parties)  # a process for each
ALONE = min(MINUTES / 6, 5) * 60
WARM_UP = min(180, MINUTES * 12)
# The p99 beside the parties may be twice that of honest callers alone, and longer by the delay (seconds) of a busy machine.
MAX_RATIO, NOISE = 2, 0.002
# Memory is released each half minute; a reload at the same pace would drift past that, which looks like growth.
RELOAD, REPORT = 31, 60
WINDOW = 10  # seconds: messages come and go, and the minimum of a window leaves them out
ENDS = {0: "all calls ended", 3: "it cut calls at drain.max"}
CONFIGURATION = """
listeners:
  - {{ address: "127.0.0.1:0", timeouts: {{ body: 10s, stalled: 10s }} }}
  - address: "127.0.0.1:0"
    timeouts: {{ body: 10s, stalled: 10s }}
    tls: {{ certificate: "{certificate}", key: "{key}" }}
workers: 2
limits: {{ memory: 64MiB }}
drain: {{ max: 5s }}
upstreams:
  http: {{ url: "http://127.0.0.1:{http}", timeouts: {{ idle: {idle}s }} }}
  grpc: {{ url: "h2c://127.0.0.1:{grpc}" }}
  hostile: {{ url: "http://127.0.0.1:{hostile}", timeouts: {{ call: 13s }}, limits: {{ connections: 200, waiting: 200 }} }}
caches: {{ small: {{ bytes: 4MiB }} }}
calls:
  form:
    url: "http://127.0.0.1:{hostile}/form"
    parameters: {{ text: {{ required: true }} }}
    body: {{ multipart: [ {{ name: a, value: "{{text}}" }}, {{ name: b, file: "{certificate}" }} ] }}
interceptors:
  - metrics: {{}}
  - log: {{ to: /dev/null }}
  - when: {{ service: soak.v1.Json }}
    message: {{ on: request, require: {{ json: {{ /z: absent }} }} }}
  - when: {{ path: /cached }}
    cache: small
  - when: {{ path: /cached }}
    headers: {{ response: {{ set: {{ cache-control: max-age=1 }} }} }}
  - when: {{ service: soak.v1.Form }}
    call: {{ name: form }}
routes:
  - match: {{ service: martlet.test.Bytes }}
    upstream: grpc
  - match: {{ service: soak.v1.Json }}
    upstream: hostile
  - match: {{ path: /hostile/ }}
    upstream: hostile
  - upstream: http
"""


class Target(NamedTuple):
    """The addresses of the daemon, and the authority of its certificate."""

    plain: tuple
    tls: tuple
    admin: str
    authority: str


class Sample(NamedTuple):
    """The use of resources: seconds since the start; KiB, descriptors and processor time of the daemon; that of the machine."""

    elapsed: float
    memory: float
    descriptors: int
    cpu: float
    of_machine: tuple


def chosen():
    """Returns the parties of HOSTILE_PARTIES, or all, by their processes."""
    kinds = {kind.__name__: kind for module in MODULES for kind in module.PARTIES}
    names = kinds if NAMES is None else [name for name in NAMES.split(",") if name]
    wanted = [kinds[name] for name in names]
    return [group for module in MODULES if (group := [kind for kind in wanted if kind in module.PARTIES])]


def machine_seconds():
    """Returns the processor time of the machine so far, busy and in all: proc_stat(5)."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


class Hostile:
    """One run of honest callers and hostile parties; each step returns the errors."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.samples, self.calls, self.done = [], [], Counter()
        self.began = self.parties_began = None
        self.reloads = 0
        self._programs = []

    def start(self):
        """Starts everything; `stop` stops as much of it as has started."""
        self.identity = Authority(self.directory / "tls").issue("127.0.0.1")
        self.upstream = Upstream()
        self._programs.append(self.upstream)
        self.hostile_port = free_port()
        paths = {"PYTHONPATH": f"{HERE}:{END_TO_END}", "PATH": os.environ["PATH"]}
        self._programs.append(Program([sys.executable, "-m", "hostile_upstream", self.hostile_port], env=paths))
        self._programs[-1].stdout.wait("ready", within=60)
        self.martlet = Martlet(self.configuration(0), self.directory)
        self._programs.append(self.martlet)
        plain, tls = (endpoint(address) for address in self.martlet.addresses)
        target = Target(plain, tls, str(self.martlet.admin_socket), str(self.directory / "tls" / "authority.pem"))
        self.target = target
        self.honest = Group(honest.run, (target,))
        self.kinds = chosen()
        self.parties = Group(party.run, *((kinds, target) for kinds in self.kinds))

    def configuration(self, number):
        http, grpc = self.upstream.ports
        own = {"certificate": self.identity.certificate, "key": self.identity.key, "idle": 60 + number % 7}
        return CONFIGURATION.format(http=http, grpc=grpc, hostile=self.hostile_port, **own)

    # The run

    def run(self):
        time.sleep(3)  # the processes prepare their attacks
        self.began, second = time.monotonic(), 0
        self.honest.start()
        while self.is_alive() and (elapsed := time.monotonic() - self.began) < MINUTES * 60:
            self.sample(elapsed)
            if second % REPORT == 0:
                self.report()
            second = int(elapsed) + 1
            time.sleep(max(0, self.began + second - time.monotonic()))
            self.act(second)
        wrong = [] if self.is_alive() else ["callers, parties or the daemon ended by themselves"]
        self.calls += self.honest.stop()
        self.note_parties(self.parties.stop())
        return wrong

    def is_alive(self):
        return self.honest.are_alive() and self.parties.are_alive() and self.martlet.process.poll() is None

    def sample(self, elapsed):
        self.calls += self.honest.collect()
        self.note_parties(self.parties.collect())
        used = (self.martlet.own_memory() / 1024, self.martlet.open_descriptors(), cpu_seconds(self.martlet.pid))
        self.samples.append(Sample(elapsed, *used, machine_seconds()))

    def note_parties(self, items):
        for name, what, number in items:
            self.done[name, what] += number

    def act(self, second):
        """Starts the parties and reloads the configuration, each at its time."""
        if self.parties_began is None and second >= ALONE:
            self.parties_began = time.monotonic()
            self.parties.start()
        if self.parties_began and second % RELOAD == 0:
            self.reloads += 1
            self.martlet.write(self.configuration(self.reloads))
            self.martlet.signal(signal.SIGHUP)

    def report(self):
        last = self.samples[-1]
        failed = sum(outcome != "ok" for *_, outcome in self.calls)
        calls = f"{len(self.calls):8} honest calls  {failed:4} failed"
        print(f"{last.elapsed / 60:5.1f} min  {calls}  {last.memory:8.0f} KiB  {last.descriptors:5} descriptors", flush=True)

    # The results

    def evaluate(self):
        """Prints the results, and returns the errors."""
        alone, beside = self.phase(False), self.phase(True)
        wrong = self.evaluate_calls(alone, beside) + self.evaluate_memory() + self.evaluate_parties()
        for name in ("martlet_limit_hits_total", "martlet_h2_limit_hits_total"):
            hits = {labels["limit"]: int(value) for labels, value in self.martlet.metrics().select(name) if value}
            print(f"{name}: {hits}")
        rejected = len(self.martlet.stderr.matches("reload rejected"))
        print(f"{self.reloads} reloads, {rejected} rejected")
        return wrong + ([f"{rejected} reloads were rejected"] if rejected else [])

    def phase(self, beside):
        """Returns the honest calls from before the parties, or beside them."""
        return [call for call in self.calls if (call[1] >= self.parties_began) == beside]

    def evaluate_calls(self, alone, beside):
        print(f"{'':10} {'calls':>16} {'failed':>11} {'p50, ms':>15} {'p99, ms':>15} {'longest, ms':>15}   alone / beside the parties")
        names = sorted({name for name, *_ in self.calls} - {"clock"})
        for name in [*names, "clock", "all calls"]:
            wanted = names if name == "all calls" else [name]
            print(f"{name:10}", *self.columns(*([call for call in calls if call[0] in wanted] for calls in (alone, beside))))
        failures = Counter((name, outcome) for name, _, _, outcome in self.calls if outcome != "ok")
        for (name, outcome), count in failures.most_common(20):
            print(f"  {name}: {outcome} {count}")
        self.print_machine()
        first, then = (percentile([took for name, _, took, _ in calls if name in names], 0.99) for calls in (alone, beside))
        limit = MAX_RATIO * first + NOISE
        print(f"p99 of honest calls: {first * 1e3:.2f} ms alone, {then * 1e3:.2f} ms beside the parties; allowed {limit * 1e3:.2f} ms")
        wrong = [f"{failures.total()} honest calls failed"] if failures else []
        return wrong + ([] if then <= limit else [f"p99 of honest calls is {then / first:.1f} times that of callers alone"])

    @staticmethod
    def columns(alone, beside):
        """Yields the columns of one line of the table."""
        counts = [len(calls) for calls in (alone, beside)]
        failed = [sum(outcome != "ok" for *_, outcome in calls) for calls in (alone, beside)]
        times = [[took * 1e3 for _, _, took, _ in calls] for calls in (alone, beside)]
        yield f"{counts[0]:7} /{counts[1]:7} {failed[0]:4} /{failed[1]:5}"
        for share in (0.5, 0.99, 1):
            yield f"{percentile(times[0], share):6.2f} /{percentile(times[1], share):7.2f}"

    def print_machine(self):
        """Prints the load of the daemon and of the machine in each phase."""
        start = self.parties_began - self.began
        for text, samples in (
            ("alone", [sample for sample in self.samples if sample.elapsed < start]),
            ("beside the parties", [sample for sample in self.samples if sample.elapsed >= start]),
        ):
            first, last = samples[0], samples[-1]
            seconds = last.elapsed - first.elapsed
            busy, total = (after - before for before, after in zip(first.of_machine, last.of_machine))
            print(f"{text}: the daemon used {(last.cpu - first.cpu) / seconds:.1%} of a processor; the machine was {busy / total:.0%} busy")

    def evaluate_memory(self):
        warm = [sample for sample in self.samples if sample.elapsed >= self.parties_began - self.began + WARM_UP]
        if len(warm) < 3 * WINDOW:
            print("memory: the run is too short for a slope")
            return []
        windows = [warm[at : at + WINDOW] for at in range(0, len(warm) - WINDOW + 1, WINDOW)]
        least = [min(window, key=lambda sample: sample.memory) for window in windows]
        a_minute = slope([sample.elapsed for sample in least], [sample.memory for sample in least]) * 60
        of_all = slope([sample.elapsed for sample in warm], [sample.memory for sample in warm]) * 60
        memory = [sample.memory for sample in warm]
        alone = [sample.memory for sample in self.samples if sample.elapsed < self.parties_began - self.began]
        print(f"memory: {alone[-1]:.0f} KiB at the end of the honest callers alone")
        print(f"beside the parties {min(memory):.0f} KiB at least, {percentile(memory, 0.5):.0f} in the median, {max(memory):.0f} at most")
        print(f"slope: {a_minute:+.1f} KiB a minute of the least in each {WINDOW} s, {of_all:+.1f} of all samples; allowed {MAX_KIB}")
        descriptors = [sample.descriptors for sample in warm]
        print(f"descriptors: {min(descriptors)} at least, {max(descriptors)} at most, {descriptors[-1]} at the end")
        return [f"memory grows by {a_minute:.1f} KiB a minute"] if a_minute > MAX_KIB else []

    def evaluate_parties(self):
        names = [kind.__name__ for kinds in self.kinds for kind in kinds]
        for name in names:
            results = {what: count for (own, what), count in sorted(self.done.items()) if own == name and what != "did"}
            print(f"  {name:22} {self.done[name, 'did']:8}  {results}")
        return [f"{name} did nothing" for name in names if not self.done[name, "did"]]

    def at_rest(self):
        """Waits until nothing is left of the parties."""
        try:
            eventually(self.is_at_rest, within=30, what="the end of all calls and connections")
        except AssertionError as error:
            return [str(error), *self.martlet.sockets()[:20]]
        print(f"at rest: {self.martlet.own_memory() / 1024:.0f} KiB, {self.martlet.open_descriptors()} descriptors")
        return []

    def is_at_rest(self):
        metrics = self.martlet.metrics()
        return not (metrics.total("martlet_rpc_in_flight") or metrics.total("martlet_connections"))

    def end(self):
        """Stops the daemon during stalled uploads, which it has to cut."""
        uploads = [connect(self.target.plain) for _ in range(20)]
        for upload in uploads:
            upload.send(b"POST /hostile/up HTTP/1.1\r\nhost: a.example\r\ncontent-length: 100000\r\n\r\nabc")
        eventually(lambda: self.martlet.metrics().total("martlet_rpc_in_flight") == len(uploads), what="the stalled uploads")
        self.martlet.signal(signal.SIGTERM)
        code = self.martlet.exit_code(within=30)
        print(f"the daemon ended with {code}: {ENDS.get(code, 'which is an error')}")
        return [] if code in ENDS else [f"the daemon ended with {code}"]

    def stop(self):
        for program in reversed(self._programs):
            program.stop()


def main():
    with tempfile.TemporaryDirectory(prefix="martlet-hostile-") as directory:
        hostile = Hostile(directory)
        try:
            hostile.start()
            wrong = hostile.run() or hostile.evaluate() + hostile.at_rest() + hostile.end()
        finally:
            hostile.stop()
        if wrong:
            print(*list(hostile.martlet.stderr)[-40:], sep="\n", file=sys.stderr)
    print(*(f"FAILED: {reason}" for reason in wrong), sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
