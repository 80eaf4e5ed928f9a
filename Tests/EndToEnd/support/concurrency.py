"""Many calls at the same time, and calls without end."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from support.wait import eventually


def at_once(count, function):
    """Calls `function` with 0, 1, … in as many threads, which begin together; returns what each returned."""
    gate = threading.Barrier(count)

    def run(number):
        gate.wait(10)
        return function(number)

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(run, range(count)))


@dataclass
class Timed:
    """When a call began and ended, and its outcome."""

    began: float
    ended: float
    outcome: object


class Traffic:
    """Makes each of `calls`, functions that return an outcome, again and again, each in its own thread, until stopped."""

    def __init__(self, calls, pause=0.02):
        self._pause = pause
        self._done = []
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(call,), daemon=True) for call in calls]
        for thread in self._threads:
            thread.start()

    def _run(self, call):
        while not self._stopping.is_set():
            began = time.monotonic()
            outcome = call()
            self._done.append(Timed(began, time.monotonic(), outcome))
            self._stopping.wait(self._pause)

    @property
    def calls(self):
        return list(self._done)

    def failures(self):
        return [timed for timed in self.calls if timed.outcome.code != "ok"]

    def wait_for_calls(self, more, within=30.0):
        target = len(self._done) + more
        eventually(lambda: len(self._done) >= target, within, f"{more} more calls")

    def wait_until(self, moment):
        """Lets it run until `moment` of time.monotonic()."""
        eventually(lambda: time.monotonic() >= moment, moment - time.monotonic() + 5, "a moment")

    def stop(self):
        self._stopping.set()
        for thread in self._threads:
            thread.join(30)
