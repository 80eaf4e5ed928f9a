"""Daemons that crash in a test."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.martlet import BINARY

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
PATTERN = Path("/proc/sys/kernel/core_pattern")


def need_root():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv, to be another user")


def compiled(source, library):
    """The shared library of a file beside this one."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        pytest.skip(f"there is no C compiler for {source}")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, Path(__file__).parent / source], check=True)
    return str(library)


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
