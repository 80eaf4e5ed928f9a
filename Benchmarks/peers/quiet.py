"""Rounds in which the machine was ours: a host that takes processors away bends whatever is measured meanwhile."""

import time

from process import stolen_seconds

# Percent of one processor that the host may take during a round.
MOST = 2
TRIES = 5
PAUSE = 3


class Quiet:
    """Has disturbed rounds made again, for `patience` seconds of each case."""

    def __init__(self, patience):
        self.patience = self.left = patience

    def renew(self):
        """A case begins."""
        self.left = self.patience

    def round(self, run):
        """What `run` finds, which says with `stolen` how disturbed it was: of a few tries, the least disturbed."""
        tries = []
        while True:
            began = time.monotonic()
            tries.append(run())
            if tries[-1]["stolen"] <= MOST or len(tries) == TRIES or self.left <= 0:
                return min(tries, key=lambda each: each["stolen"])
            self.left -= time.monotonic() - began + PAUSE
            time.sleep(PAUSE)


class Theft:
    """What the host takes from now on."""

    def __init__(self):
        self.began, self.before = time.monotonic(), stolen_seconds()

    def percent(self):
        """In percent of a processor."""
        return 100 * (stolen_seconds() - self.before) / (time.monotonic() - self.began)
