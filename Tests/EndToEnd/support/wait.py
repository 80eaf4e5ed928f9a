"""Waiting for a condition instead of sleeping for a guess."""

import time

POLL = 0.01


def eventually(condition, within=5.0, what="the condition"):
    """Returns the first true value of `condition()`; fails the test when none came in time."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come true within {within} s"
        time.sleep(POLL)
    return value


def settled(value, during=0.5, within=10.0):
    """Returns `value()` once it has stayed the same for `during` seconds."""
    deadline = time.monotonic() + within
    last, since = value(), time.monotonic()
    while time.monotonic() - since < during:
        assert time.monotonic() < deadline, f"it still changes after {within} s: {last}"
        time.sleep(POLL)
        if (now := value()) != last:
            last, since = now, time.monotonic()
    return last
