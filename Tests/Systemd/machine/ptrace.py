"""Stops one thread of a process from outside, as a hang would."""

import ctypes
import os
from contextlib import contextmanager
from pathlib import Path

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def thread_named(pid, name):
    """The thread id of the thread `name` of a process."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise AssertionError(f"process {pid} has no thread {name}")


@contextmanager
def stopped(thread):
    """Holds a thread still. If the process is gone at the end, nothing is left to do."""
    _ptrace(PTRACE_SEIZE, thread)
    _ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        if _libc.ptrace(PTRACE_DETACH, thread, None, None):
            # The kernel keeps a killed thread until its tracer has heard of its end.
            try:
                os.waitpid(thread, WALL | os.WNOHANG)
            except ChildProcessError:
                pass


def _ptrace(request, thread):
    if _libc.ptrace(request, thread, None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
