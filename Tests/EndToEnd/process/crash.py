"""Daemons that crash in a test."""

import ctypes
import os
from pathlib import Path

from support.martlet import BINARY

PATTERN = Path("/proc/sys/kernel/core_pattern")


def signal_thread(pid, name, number):
    """Sends a signal to the thread of that name."""
    tasks = Path(f"/proc/{pid}/task")
    (thread,) = [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == name]
    tgkill = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    assert ctypes.CDLL(None).syscall(tgkill, pid, thread, number) == 0


def symbols():
    """What names the functions of the binary: its symbol file, or itself."""
    file = Path(f"{BINARY}.debug")
    return file if file.exists() else BINARY
