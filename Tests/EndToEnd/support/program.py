"""A program started for a test: its output can be waited for, and it is stopped by its process id."""

import os
import re
import select
import subprocess
import threading
import time


class Lines:
    """The lines a program writes to one of its streams, as they come."""

    def __init__(self, stream):
        self._stream = stream
        self._lines = []
        self._ended = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._stream:
            with self._changed:
                self._lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def __iter__(self):
        with self._changed:
            return iter(list(self._lines))

    def __len__(self):
        return len(self._lines)

    @property
    def text(self):
        return "\n".join(self)

    def matches(self, pattern):
        return [match for line in self if (match := re.search(pattern, line))]

    def wait(self, pattern, count=1, within=10.0):
        """Returns the `count`th match of `pattern`, waiting for it to be written."""
        deadline = time.monotonic() + within
        with self._changed:
            while len(found := [m for line in self._lines if (m := re.search(pattern, line))]) < count:
                left = deadline - time.monotonic()
                written = "\n".join(self._lines)
                assert left > 0 and not self._ended, f"no line {count} matching {pattern!r} in:\n{written}"
                self._changed.wait(left)
        return found[count - 1]

    def wait_for_end(self):
        self._reader.join(5)

    def close(self):
        self.wait_for_end()
        self._stream.close()


class Program:
    """A running program; `stop` is safe to call at any time and more than once."""

    def __init__(self, command, stdin=subprocess.DEVNULL, **options):
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **options,
        )
        self.stdout = Lines(self.process.stdout)
        self.stderr = Lines(self.process.stderr)

    @property
    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)

    def exit_code(self, within=10.0):
        """Waits for the program to end by itself, and for all that it has written."""
        assert self._ends(within), f"the program still runs after {within} s"
        code = self.process.wait()
        self.stdout.wait_for_end()
        self.stderr.wait_for_end()
        return code

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            if not self._ends(5):
                self.process.kill()
            self.process.wait()
        self.stdout.close()
        self.stderr.close()

    def _ends(self, within):
        """Whether the program ends in time; `Popen.wait` with a timeout looks only now and then."""
        if self.process.poll() is not None:
            return True
        handle = os.pidfd_open(self.pid)
        try:
            end = select.poll()
            end.register(handle, select.POLLIN)
            return bool(end.poll(within * 1000))
        finally:
            os.close(handle)
