"""Hands open descriptors to a daemon, as a service manager does (sd_listen_fds(3))."""

import fcntl
import os
from contextlib import contextmanager

# Above what the daemon gets, which begins with 3.
HIGH = 100


@contextmanager
def passing(descriptors):
    """The options of a program that receives `descriptors`, pairs of a name and a number; valid while it is started."""
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, HIGH) for _, descriptor in descriptors]
    moves = " ".join(f"{number}<&{copy} {copy}<&-" for number, copy in enumerate(high, start=3))
    # Only a shell that becomes the daemon knows its process id beforehand.
    script = f'{"exec " + moves if moves else ":"}; LISTEN_PID=$$ exec "$0" "$@"'
    names = ":".join(name for name, _ in descriptors)
    try:
        yield {
            "through": ["bash", "-c", script],
            "environment": {"LISTEN_FDS": str(len(high)), "LISTEN_FDNAMES": names},
            "pass_fds": high,
        }
    finally:
        for descriptor in high:
            os.close(descriptor)
