#!/usr/bin/env python3
"""What the chain costs: allocations and processor time of a call, with no interceptor, with some, with a message hook.

`make bench-chain` prints tables, and fails beyond thresholds.json. Each call is made by h2load to a Martlet of one worker,
before another that responds to it. Tests/EndToEnd asserts the allocations by what is here.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "Tests/EndToEnd"))

from support.martlet import Martlet  # noqa: E402

BINARY = ROOT / ".build/release/chain-bench"
THRESHOLDS = json.loads((HERE / "thresholds.json").read_text())

ROUNDS = 9
# What is asked for now and then, by timers for one, is no part of a call.
STRAY = 0.2


def envelope(message):
    return b"\0" + len(message).to_bytes(4, "big") + message


FIVE = [
    "headers: { request: { set: { x-tenant: acme } } }",
    'headers: { request: { set: { x-called: "{service}/{method}" } } }',
    "headers: { request: { remove: [x-internal] } }",
    "headers: { response: { set: { x-served-by: martlet } } }",
    "headers: { response: { remove: [server] } }",
]
VALUE = "a-token-of-some-length"
TOKEN = f"token: {{ exec: {{ command: [/bin/echo, {VALUE}] }} }}"
CHAINS = {
    "empty": [],
    "five": FIVE,
    "five and a message hook": [*FIVE, "look: {}"],
    # What is left of the one beyond the other is what a token costs that is there.
    "five and a fixed authorization": [*FIVE, f"headers: {{ request: {{ set: {{ authorization: Bearer {VALUE} }} }} }}"],
    "five and a token": [*FIVE, TOKEN],
    # Only for the processor time: the difference to five shows what one of them costs. More would not all be noted.
    "twenty more": [*FIVE, *["headers: { request: { set: { x-one: value } } }"] * 20],
    "twenty more headers": [*FIVE, *[f"headers: {{ request: {{ set: {{ x-{n}: value }} }} }}" for n in range(20)]],
    "twenty tokens": [*FIVE, *[TOKEN] * 20],
}
SMALL = b'{"sentence":"Hello, how are you?"}'
# What is called: h2load's options, those for many calls at a time, the content type, the body.
WORK = {
    "http1": (["--h1"], ["-c", "16"], "application/json", SMALL),
    "grpc": ([], ["-c", "8", "-m", "8"], "application/grpc+json", envelope(SMALL)),
    "stream": ([], ["-c", "8", "-m", "8"], "application/connect+json", envelope(SMALL) * 10),
}
UPSTREAM = """
listen: 127.0.0.1:0
workers: 1
chains: { stream: [ { stream: { message: '{"sentence":"Hello, I am fine."}', times: 10 } } ] }
routes: [ { match: { protocol: connect_stream }, chain: stream }, {} ]
interceptors: [ { respond: { json: { sentence: "Hello, I am fine." } } } ]
"""


def build():
    """Builds the release binary with the kind `look`, if it is not up to date."""
    command = [ROOT / "scripts/build-release", "--product", "chain-bench"]
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert built.returncode == 0, built.stdout


def build_shim(directory):
    """Compiles the library that counts allocations."""
    shim = Path(directory) / "allocations.so"
    subprocess.run(["clang", "-O2", "-shared", "-fPIC", "-o", shim, HERE / "allocations.c"], check=True)
    return shim


def start_upstream(directory):
    return Martlet(UPSTREAM, directory, binary=BINARY)


def start_proxy(directory, upstream, chain, shim=None):
    """Starts a Martlet with a chain; with a shim, its allocations are in `directory`/allocations."""
    directory = Path(directory)
    items = "".join(f"\n  - {item}" for item in CHAINS[chain]) or " []"
    url = upstream.url.replace("http:", "h2c:")
    text = f"listen: 127.0.0.1:0\nworkers: 1\nupstreams: {{ one: {upstream.url}, two: {url} }}\n"
    text += "routes: [ { match: { header: { x-upstream: one } }, upstream: one }, { upstream: two } ]\n"
    counts = {"LD_PRELOAD": str(shim), "ALLOCATIONS": str(directory / "allocations")} if shim else {}
    return Martlet(f"{text}interceptors:{items}\n", directory, binary=BINARY, environment=counts)


def call(proxy, work, calls, body, options=("-c", "1")):
    """Makes so many calls, all of which have to succeed."""
    version, _, content_type, content = WORK[work]
    body = Path(body) / f"{work}.body"
    body.write_bytes(content)
    fields = [f"content-type: {content_type}", "te: trailers", f"x-upstream: {'one' if work == 'http1' else 'two'}"]
    headers = [word for field in fields for word in ("-H", field)]
    command = ["h2load", *version, "-t", "1", "-n", calls, *options, "-d", body, *headers]
    path = f"{proxy.url}/connectrpc.eliza.v1.ElizaService/Say"
    output = subprocess.check_output([str(word) for word in [*command, path]], text=True, timeout=120)
    assert f"status codes: {calls} 2xx" in output, output


def allocations(proxy, work, calls=300):
    """The allocations of one call: what twice as many calls ask for beyond what those did.

    The least of some rounds counts: a few calls of each second are kept for people to look at, which costs something.
    """

    def asked_for(calls):
        file = proxy.directory / "allocations"
        before = int.from_bytes(file.read_bytes(), "little")
        call(proxy, work, calls, proxy.directory)
        return int.from_bytes(file.read_bytes(), "little") - before

    asked_for(5 * calls)
    rounds = [(asked_for(calls), asked_for(2 * calls)) for _ in range(ROUNDS)]
    once, twice = map(min, zip(*rounds))
    return round((twice - once) / calls, 1)


def cpu_nanoseconds(proxy):
    """The processor time of the process so far, by its own clock."""
    return time.clock_gettime_ns(~proxy.pid << 3 | 2)


def pin(program, cpu):
    """Keeps all threads of a program on a processor."""
    for thread in Path(f"/proc/{program.pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), {cpu})


def measure_allocations(directory):
    """The allocations of one call by work and chain."""
    directory.mkdir(exist_ok=True)
    shim = build_shim(directory)
    results = {}
    with ExitStack() as stack:
        upstream = start_upstream(directory / "upstream")
        stack.callback(upstream.stop)
        for chain in THRESHOLDS["allocations per call"]["http1"]:
            proxy = start_proxy(directory / chain.replace(" ", "-"), upstream, chain, shim)
            stack.callback(proxy.stop)
            for work in WORK:
                results[work, chain] = allocations(proxy, work)
    return results


def measure_cpu(directory, calls=3000, rounds=3 * ROUNDS):
    """Duration of a call, the least of some rounds in which the chains take turns: other work only ever adds."""
    directory.mkdir(exist_ok=True)
    samples = {(work, chain): [] for work in WORK for chain in CHAINS}
    cpus = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        upstream = start_upstream(directory / "upstream")
        stack.callback(upstream.stop)
        pin(upstream, cpus[-1])
        proxies = {chain: start_proxy(directory / chain.replace(" ", "-"), upstream, chain) for chain in CHAINS}
        for proxy in proxies.values():
            stack.callback(proxy.stop)
            pin(proxy, cpus[0])
        os.sched_setaffinity(0, {cpus[-1]})
        for _ in range(rounds):
            for work, chain in samples:
                before = cpu_nanoseconds(proxies[chain])
                call(proxies[chain], work, calls, directory, WORK[work][1])
                samples[work, chain].append((cpu_nanoseconds(proxies[chain]) - before) / calls)
    return {key: min(values) for key, values in samples.items()}


def table(title, columns, rows):
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name, values in rows:
        print(f"| {name} | {' | '.join(values)} |")


def report_allocations(directory):
    """Prints the allocations; returns what is beyond its threshold."""
    counts, agreed = measure_allocations(directory), THRESHOLDS["allocations per call"]
    rows = [(chain, [f"{counts[work, chain]} ({agreed[work][chain]})" for work in WORK]) for chain in agreed["http1"]]
    table("allocations per call (at most)", WORK, rows)
    return [f"{work}, {chain}: {count}" for (work, chain), count in counts.items() if count > agreed[work][chain] + STRAY]


def report_cpu(directory):
    """Prints the processor time; likewise."""
    times, most = measure_cpu(directory), THRESHOLDS["nanoseconds per further header-only interceptor"]
    table("µs per call", WORK, [(chain, [f"{times[work, chain] / 1000:.2f}" for work in WORK]) for chain in CHAINS])
    further = {work: (times[work, "twenty more"] - times[work, "five"]) / 20 for work in WORK}
    header = {work: (times[work, "twenty more headers"] - times[work, "twenty more"]) / 20 for work in WORK}
    token = {work: (times[work, "twenty tokens"] - times[work, "five and a token"]) / 19 for work in WORK}
    first = {work: times[work, "five and a token"] - times[work, "five and a fixed authorization"] for work in WORK}
    rows = [
        (f"one more interceptor (at most {most})", [f"{further[work]:.0f}" for work in WORK]),
        (f"one more token (at most {most})", [f"{token[work]:.0f}" for work in WORK]),
        ("a token beyond a header with the same value", [f"{first[work]:.0f}" for work in WORK]),
        ("the header that one adds, on its way", [f"{header[work]:.0f}" for work in WORK]),
    ]
    table("ns per call", WORK, rows)
    costs = [("interceptor", work, time) for work, time in further.items()]
    costs += [("token", work, time) for work, time in token.items()]
    return [f"{work}: {time:.0f} ns for one more {kind}" for kind, work, time in costs if time > most]


def main():
    build()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        failures = report_allocations(directory / "allocations") + report_cpu(directory / "cpu")
    for failure in failures:
        print(f"beyond the threshold: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
