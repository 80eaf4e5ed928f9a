#!/usr/bin/env python3
"""What becomes of the calls of one gRPC connection when replicas come, go and fail: Martlet beside Envoy and HAProxy.

    make bench-replicas                                       everything, four minutes or so
    make bench-replicas ARGS='--peers martlet --cases join'   a part

Three gRPC servers on addresses of their own, behind one name that a name server on loopback has. Sixteen threads call
without a pause. See README.md.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))
sys.path.insert(0, str(ROOT / "Benchmarks/peers"))

import grpc  # noqa: E402
from peers import ENVOY, MARTLET, Marked  # noqa: E402
from process import free_port  # noqa: E402
from support.servers.replicas import METHOD, GRPCReplica, NameServer  # noqa: E402
from support.servers.replicas import free_port as common_port  # noqa: E402

HOSTS = [f"127.0.0.{number}" for number in (11, 12, 13, 14)]
NAME = "orders.bench"
THREADS = 16
# In a mount namespace of its own a program sees our file in the place of /etc/resolv.conf.
MOUNT = ["unshare", "--mount", "sh", "-c", 'mount --bind "$RESOLV" /etc/resolv.conf && exec "$0" "$@"']


class Peer:
    """A proxy with the name as its upstream."""

    def __init__(self, name, directory, names, port):
        self.port = free_port()
        files = {"martlet": "martlet.yaml", "envoy": "envoy.yaml", "haproxy": "haproxy.cfg"}
        file = Path(directory, files[name])
        text = (HERE / "configurations" / files[name]).read_text()
        file.write_text(Marked(text).substitute(port=self.port, upstream=port, dns=names.host, name=NAME))
        resolv = Path(directory, "resolv.conf")
        resolv.write_text(f"nameserver {names.host}\noptions timeout:1 attempts:1\n")
        commands = {
            "martlet": [MARTLET, "run", "-c", file],
            "envoy": [ENVOY[-1], "-c", file, "--concurrency", "1", "--log-level", "error"],
            "haproxy": ["haproxy", "-db", "-f", file],
        }
        log = open(Path(directory, f"{name}.log"), "ab")
        environment = os.environ | {"RESOLV": str(resolv)}
        self.process = subprocess.Popen([*MOUNT, *map(str, commands[name])], env=environment, stdout=log, stderr=log)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Load:
    """Calls of one connection, and what has become of them, by the time of their end."""

    def __init__(self, port, timeout):
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_retries", 0)])
        self.method = self.channel.unary_unary(METHOD)
        self.timeout = timeout
        self.results = []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.run) for _ in range(THREADS)]

    def wait(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                return self.method(b"", timeout=2)
            except grpc.RpcError:
                if time.monotonic() > deadline:
                    raise

    def run(self):
        while not self.ends.is_set():
            try:
                result = self.method(b"", timeout=self.timeout).decode()
            except grpc.RpcError as error:
                result = error.code().name
            self.results.append((time.monotonic(), result))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        self.channel.close()


def is_failure(result):
    return not result.startswith("127.")


def seconds(times, since):
    return f"{times - since:.2f} s" if times else "never"


def spread(load, servers, _):
    time.sleep(4)
    return {}


def faulty(mode):
    def case(load, servers, _):
        """One server is faulty for four seconds."""
        sick = servers[0]
        time.sleep(1)
        begun = time.monotonic()
        sick.stop() if mode == "stop" else setattr(sick, "mode", mode)
        time.sleep(4)
        healed = time.monotonic()
        sick.start() if mode == "stop" else setattr(sick, "mode", "ok")
        time.sleep(5)
        failed = [at for at, result in load.results if is_failure(result) and begun < at < healed]
        back = [at for at, result in load.results if result == sick.name and at > healed]
        # What fails later is a probe.
        first = [at for at in failed if at - failed[0] < 0.9] if failed else [begun]
        return {"out after": seconds(max(first), begun), "back after": seconds(min(back, default=None), healed)}

    return case


def join(load, servers, names):
    """A fourth server comes."""
    time.sleep(1)
    new = GRPCReplica(HOSTS[3], int(servers[0].name.split(":")[1]))
    servers.append(new)
    begun = time.monotonic()
    names.addresses(NAME, *HOSTS)
    time.sleep(6)
    first = [at for at, result in load.results if result == new.name]
    return {"in after": seconds(min(first, default=None), begun)}


def leave(load, servers, names):
    """The name loses one, which stops two seconds later."""
    time.sleep(1)
    gone = servers[0]
    names.addresses(NAME, *HOSTS[1:3])
    begun = time.monotonic()
    time.sleep(2.5)
    gone.stop(grace=5)
    time.sleep(2)
    last = [at for at, result in load.results if result == gone.name]
    return {"out after": seconds(max(last, default=None), begun)}


def restart(load, servers, _):
    """Each server is restarted in turn, with time to end its calls."""
    for server in servers:
        time.sleep(1)
        server.stop(grace=2)
        server.start()
    time.sleep(2)
    return {}


CASES = {
    "spread": (spread, "three servers"),
    "stop": (faulty("stop"), "one is stopped"),
    "trailers": (faulty("trailers"), "one ends calls with `unavailable` in trailers"),
    "hang": (faulty("hang"), "one does not respond; callers wait 500 ms"),
    "join": (join, "a fourth one comes"),
    "leave": (leave, "one leaves the name, and stops later"),
    "restart": (restart, "all are restarted in turn"),
}


def measure(peer, case, directory):
    names = NameServer()
    names.addresses(NAME, *HOSTS[:3])
    port = common_port(HOSTS)
    servers = [GRPCReplica(host, port) for host in HOSTS[:3]]
    proxy = Peer(peer, directory, names, port)
    load = Load(proxy.port, 0.5 if case == "hang" else 5)
    try:
        load.wait()
        time.sleep(1)
        with load:
            found = CASES[case][0](load, servers, names)
        results = [result for _, result in load.results]
        counts = Counter(results)
        failed = {name: count for name, count in counts.items() if is_failure(name)}
        found["calls"] = len(results)
        found["failed"] = sum(failed.values())
        if failed:
            found["codes"] = ", ".join(f"{count} {name.lower()}" for name, count in sorted(failed.items()))
        if case == "spread":
            share = len(results) / 3
            found["spread"] = f"±{max(abs(counts[server.name] / share - 1) for server in servers):.0%}"
        return found
    finally:
        proxy.stop()
        for server in servers:
            server.stop()
        names.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="martlet,envoy,haproxy")
    parser.add_argument("--cases", default=",".join(CASES))
    arguments = parser.parse_args()
    print("| case | proxy | calls | failed | out after | back or in after | spread |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as directory:
        for case in arguments.cases.split(","):
            for peer in arguments.peers.split(","):
                found = measure(peer, case, directory)
                failed = f"{found['failed']}" + (f" ({found['codes']})" if "codes" in found else "")
                back = found.get("back after") or found.get("in after", "")
                row = [CASES[case][1], peer, found["calls"], failed, found.get("out after", ""), back, found.get("spread", "")]
                print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
