"""Martlet by itself: what its chain, its routes, its workers, its start and its reloads cost."""

import dataclasses
import signal
import socket
import statistics
import subprocess
import threading
import time

from cases import SMALL, Case
from load import drive, warm_up
from measure import Clock, measure, summary
from peers import AUTHORIZED, MARTLET, PEERS, martlet
from process import CPUS, PROXY, Failed

SMALL_GRPC = Case("grpc", "gRPC", grpc=True, connections=8, streams=32)
STARTS = 15
RELOADS = 10
SIGHUP_EVERY = 0.2


def variant(**options):
    """Martlet with another file: `workers`, `interceptors`, `routes`."""
    cpus = frozenset(CPUS if options.get("workers", 1) > 1 else {PROXY})
    return dataclasses.replace(PEERS["martlet"], marks=lambda case, marks: martlet(case, marks, **options), cpus=cpus)


def chain(count):
    """So many interceptors, in turn of those that change a request and those that change a response."""
    kinds = ["headers: { request: { set: { x-%d: value } } }", "headers: { response: { set: { x-%d: value } } }"]
    return variant(interceptors=["token: { file: %{directory}/token }"] * bool(count) + [kinds[n % 2] % n for n in range(1, count)])


MATCHES = {"services": "service: bench.v%d.Bench", "paths": "path: /bench.v%d.Bench/Get40", "prefixes": "path: /bench.v%d.Bench/"}


def table(count, kind="services"):
    """So many routes of one kind, of which the last is for the calls that are made."""
    routes = [f"  - match: {{ {MATCHES[kind] % number} }}\n" for number in (*range(2, count + 1), 1)]
    return variant(routes="routes:\n" + "".join(routes))


def tables(*kinds):
    return {f"{count} {kind}": table(count, kind) for kind in kinds for count in (10, 10000)}


def sources(count, group=50):
    """So many credentials that come over TLS, of which no call needs one."""
    oauth2 = "oauth2: { token_url: https://id%d.invalid/token, client_id: me, client_secret: { value: secret } }"
    tokens = [f"{{ name: t{n}, token: {{ {oauth2 % n} }} }}" for n in range(count)]
    chains = [tokens[n : n + group] for n in range(0, count, group)]
    lines = ["chains:", *(f"  c{n}: [ {', '.join(chain)} ]" for n, chain in enumerate(chains)), "routes:"]
    lines += [f"  - {{ match: {{ path: /c{n}/ }}, chain: c{n}, upstream: bench }}" for n in range(len(chains))]
    return variant(routes="\n".join([*lines, "  - upstream: bench"]))


def variants(peers, stage, seconds, rounds, case=SMALL):
    """{name: figures} of variants that take turns."""
    samples = {name: [] for name in peers}
    for _ in range(rounds):
        for name, peer in peers.items():
            samples[name].append(measure(case, peer, stage, seconds, AUTHORIZED))
    return {name: summary(found, steady=False) for name, found in samples.items()}


def call_or_nothing(port):
    """The response to a call, or nothing if nobody listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"POST /bench.v1.Bench/Get40 HTTP/1.1\r\nhost: bench\r\ncontent-length: 2\r\n\r\n{}")
            return connection.recv(4096)
    except ConnectionRefusedError:
        return b""


def start_up(stage):
    """ms from the start of the program to the end of the first call, and MiB of a process that rests after it."""
    times, sizes = [], []
    for _ in range(STARTS):
        process, port = PEERS["martlet"].start(SMALL, stage)
        process.stop()
        file = stage.directory / "proxy/martlet.yaml"
        began = time.monotonic()
        popen = subprocess.Popen([MARTLET, "run", "-c", file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (response := call_or_nothing(port)):
                time.sleep(0.0002)
                if time.monotonic() - began > 10:
                    raise Failed("does not start")
            if not response.startswith(b"HTTP/1.1 200"):
                raise Failed(f"start: {response[:60]}")
            times.append((time.monotonic() - began) * 1000)
            time.sleep(0.2)
            status = open(f"/proc/{popen.pid}/status").read()
            sizes.append(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
        finally:
            popen.send_signal(signal.SIGTERM)
            popen.wait(10)
    return {"median ms": statistics.median(times), "least ms": min(times), "MiB": max(sizes)}


def reload_time(peer, stage):
    """ms from SIGHUP to the line that says so."""
    process, _ = peer.start(SMALL, stage)
    try:
        times = []
        for number in range(RELOADS):
            began = time.monotonic()
            process.popen.send_signal(signal.SIGHUP)
            process.wait_for_line(r"\breloaded\b", number + 1)
            times.append((time.monotonic() - began) * 1000)
        return {"median ms": statistics.median(times), "most ms": max(times)}
    finally:
        process.stop()


def stall(peer, stage, seconds, reloads):
    """ms of the longest call of 1000 a second, while SIGHUP comes five times a second or not."""
    case = Case("stall", "", connections=4, rate=1000)
    process, port = peer.start(case, stage)
    stopping = threading.Event()

    def hang_up():
        while reloads and not stopping.wait(SIGHUP_EVERY):
            process.popen.send_signal(signal.SIGHUP)

    thread = threading.Thread(target=hang_up)
    try:
        warm_up(case, port, AUTHORIZED, stage)
        thread.start()
        figures = drive(case, port, AUTHORIZED, seconds, stage, 0)
        return figures["most"] / 1000
    finally:
        stopping.set()
        if thread.is_alive():
            thread.join()
        process.stop()


def stalls(stage, seconds, rounds):
    """The least of the rounds: the longest call of a round is as long as other work on the machine makes it."""
    found = {}
    files = {f"{count} routes": table(count) for count in (10, 10000)}
    files |= {f"{count} credentials over TLS": sources(count) for count in (8, 100)}
    for what, file in files.items():
        for name, reloads in (("with reloads", True), ("without", False)):
            times = [stall(file, stage, seconds, reloads) for _ in range(max(rounds, 3))]
            found[f"{what}, {name}"] = {"most ms": min(times), "rounds": [round(each, 2) for each in times]}
    return found


def everything(stage, seconds, rounds, wanted):
    """What measures each case that is wanted, by its name."""
    parts = {
        "chain-http1": lambda: variants({str(n): chain(n) for n in (0, 5, 20)}, stage, seconds, rounds),
        "chain-grpc": lambda: variants({str(n): chain(n) for n in (0, 5, 20)}, stage, seconds, rounds, SMALL_GRPC),
        "routes-grpc": lambda: variants(tables("services"), stage, seconds, rounds, SMALL_GRPC),
        "routes-http1": lambda: variants(tables("paths", "prefixes"), stage, seconds, rounds),
        "workers": lambda: variants({str(n): variant(workers=n) for n in (1, 2)}, stage, seconds, rounds),
        "start": lambda: {"martlet": start_up(stage)},
        "reload": lambda: {str(n): reload_time(table(n), stage) for n in (10, 10000)},
        "stall": lambda: stalls(stage, seconds, rounds),
    }
    for name, part in parts.items():
        if wanted(name):
            yield name, part
