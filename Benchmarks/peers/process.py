"""Programs that are measured or measure: each on one processor, with all that it starts, until it is stopped."""

import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

CPUS = sorted(os.sched_getaffinity(0))
# The proxy has one for itself; load and backend share the other.
PROXY, REST = CPUS[0], CPUS[-1]


class Failed(Exception):
    """What a row of a table says in place of a number."""


def raise_descriptor_limit(wanted=65536):
    """Gets descriptors for 10 000 connections, or as many as there are to be had, and returns their number."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(wanted, hard)))
    except (ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


DESCRIPTORS = raise_descriptor_limit()


_next_port = 20000 + os.getpid() % 5000


def free_port():
    """A port that nothing listens on, below those that the kernel gives to connections."""
    global _next_port
    while True:
        _next_port = 20000 + (_next_port - 20000 + 1) % 10000
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", _next_port))
                return _next_port
            except OSError:
                continue


def tree(pid):
    """A process and all that came from it."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]
            except (OSError, IndexError):
                continue
            parents.setdefault(int(parent), []).append(int(entry))
    found = [pid]
    for each in found:
        found += parents.get(each, [])
    return found


def ticks():
    """How all processors have spent their time so far, in the order of proc_stat(5)."""
    return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]


def busy_seconds():
    """Processor time that anybody on this machine has used so far."""
    spent = ticks()
    return (sum(spent) - spent[3] - spent[4] - spent[7]) / os.sysconf("SC_CLK_TCK")


def stolen_seconds():
    """Time for which the host of a virtual machine has taken its processors away so far."""
    return ticks()[7] / os.sysconf("SC_CLK_TCK")


class Process:
    """A program that is running; `stop` ends it and its children, by their process ids."""

    def __init__(self, command, directory, cpus, log="output", environment=None):
        self.log = Path(directory) / log
        with self.log.open("wb") as output:
            self.popen = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=directory,
                env={**os.environ, "HOME": str(directory), **(environment or {})},
                preexec_fn=lambda: os.sched_setaffinity(0, cpus),
            )
        self.pids = [self.popen.pid]

    def wait_for_port(self, port, within=15.0):
        """Waits until it listens, and notes the processes that it consists of."""
        until = time.monotonic() + within
        while True:
            if self.popen.poll() is not None or time.monotonic() > until:
                raise Failed(f"does not start: {self.last_words()}")
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.002)
        self.pids = tree(self.popen.pid)

    def wait_for_line(self, pattern, count=1, within=15.0):
        """Waits until it has written so many lines that match."""
        until = time.monotonic() + within
        while len(re.findall(pattern, self.log.read_text(errors="replace"))) < count:
            if self.popen.poll() is not None or time.monotonic() > until:
                raise Failed(f"does not say {pattern!r}: {self.last_words()}")
            time.sleep(0.0005)

    def last_words(self):
        return " ".join(self.log.read_text(errors="replace").split("\n")[-4:])[:300]

    def cpu_seconds(self):
        """The processor time of all its processes by their own clocks, which are finer than the ticks of /proc."""
        self.pids = tree(self.popen.pid)
        return sum(time.clock_gettime(~pid << 3 | 2) for pid in self.pids)

    def rss_kib(self):
        """Resident KiB of all its processes; what processes share counts in each."""
        texts = (Path(f"/proc/{pid}/status").read_text() for pid in tree(self.popen.pid))
        return sum(int(re.search(r"VmRSS:\s+(\d+)", text)[1]) for text in texts)

    def stop(self):
        if self.popen.poll() is not None:
            return
        pids = tree(self.popen.pid)
        self.popen.terminate()
        try:
            self.popen.wait(5)
        except subprocess.TimeoutExpired:
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.popen.wait()
