"""A thread of another process that does not run, as one that waits for a disk or spins would not."""

import contextlib
import ctypes
import os
from pathlib import Path

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # also threads
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


def ptrace(request, thread):
    if LIBC.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class StoppedThread:
    """Stops the thread of a process that has the name, until `stop`: everything else of the process runs."""

    def __init__(self, pid, name):
        tasks = Path(f"/proc/{pid}/task")
        self.thread = next(int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == name)
        ptrace(SEIZE, self.thread)
        ptrace(INTERRUPT, self.thread)
        os.waitpid(self.thread, WALL)

    def stop(self):
        """Lets the thread run again; one that was killed meanwhile is buried, else its process stays a zombie."""
        if self.thread is None:
            return
        try:
            ptrace(DETACH, self.thread)
        except ProcessLookupError:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self.thread, WALL)
        self.thread = None


def may_trace():
    """Whether this user may trace any process that it could signal."""
    return os.getuid() == 0
