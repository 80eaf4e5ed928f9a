"""Where and with what it was measured."""

import os
import re
import subprocess
import time
from pathlib import Path

from caches import CACHES
from peers import PEERS, ROOT


def first_line(command):
    try:
        text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20).stdout
    except OSError:
        return "not installed"
    return next((line.strip() for line in text.splitlines() if line.strip()), "?")


def short(text):
    """The version in what a program says of itself."""
    match = re.search(r"\d+\.\d+(\.\d+)?[\w+~.-]*", re.sub(r"[0-9a-f]{40}/", "", text))
    return match[0] if match else text[:60]


def memory_gib():
    return round(int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())[1]) / (1 << 20))


def revision():
    """The commit, where there is one."""
    return first_line(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"])


def describe(names):
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    system = re.search(r'PRETTY_NAME="(.*)"', Path("/etc/os-release").read_text())
    known = CACHES | PEERS
    versions = {name: short(known[name].version_line()) if name in names else "not measured" for name in known}
    versions |= {name: "not installed" for name in known if not known[name].program}
    versions["martlet"] += f" ({revision()})"
    versions |= {"wrk": short(first_line(["wrk", "-v"])), "h2load": short(first_line(["h2load", "--version"]))}
    return {
        "processor": re.sub(r"\(\w+\)", "", model[1]) if model else os.uname().machine,
        "cores": os.cpu_count(),
        "memory": memory_gib(),
        "kernel": re.sub(r"-.*", "", os.uname().release),
        "system": system[1] if system else "Linux",
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions,
        "load": os.getloadavg()[0],
    }
