"""The programs of these tests, and what the kernel says of processes."""

import sys
from pathlib import Path

HERE = Path(__file__).parent


def children(pid):
    """The children of a process, by number."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_copy(child, pid):
    """Whether a child is still the copy of its parent that it begins as; every user can see the words of a process."""
    words = Path(f"/proc/{child}/cmdline").read_bytes()
    return not words or words == Path(f"/proc/{pid}/cmdline").read_bytes()


def state(pid):
    """The state of a process as the kernel shows it, such as T for stopped; X if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def python(name, *arguments):
    """The words that run a program of this directory."""
    return [sys.executable, HERE / f"{name}.py", *arguments]
