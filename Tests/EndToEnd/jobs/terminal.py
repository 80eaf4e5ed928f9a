"""A terminal with an interactive shell, in which a job is run as people run it."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time

from support.martlet import ENVIRONMENT


class Terminal:
    """An interactive bash on a pseudo-terminal of its own."""

    def __init__(self, environment):
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "-i"], ENVIRONMENT | environment | {"PS1": "ready> ", "TERM": "dumb"})
        self.text = ""
        self.wait("ready> ")

    def type(self, text):
        """Types a text as it is; control characters do what they do on a keyboard."""
        os.write(self._fd, text.encode())

    def run(self, line):
        """Types a line, and waits until the shell is ready again; returns what it has shown."""
        start = len(self.text)
        self.type(f"{line}\n")
        self.wait("ready> ", start + len(line))
        return self.text[start:]

    def wait(self, pattern, start=0, within=10.0):
        """Waits until something is shown after `start`; returns the match."""
        deadline = time.monotonic() + within
        while not (match := re.search(pattern, self.text[start:], re.MULTILINE)):
            left = deadline - time.monotonic()
            assert left > 0 and select.select([self._fd], [], [], left)[0], f"no {pattern!r} in:\n{self.text}"
            self.text += os.read(self._fd, 65536).decode(errors="replace").replace("\r", "")
        return match

    def resize(self, rows, columns):
        """Changes the size of the window."""
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def foreground(self):
        """The process group in the foreground."""
        return os.tcgetpgrp(self._fd)

    def stop(self):
        """Hangs up."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
