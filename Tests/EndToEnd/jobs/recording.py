"""Writes a line for each signal that it gets, and ends by the first SIGTERM with 3, or by a later one if it is told so."""

import os
import signal
import sys

ENDS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
NAMES = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "CONT", "TSTP"]
terms = 0


def record(number, _):
    global terms
    os.write(1, f"{signal.Signals(number).name}\n".encode())
    terms += number == signal.SIGTERM
    if terms == ENDS:
        sys.exit(3)


# With `signal.pause()` a signal that comes just before it would be shown with the next one.
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.set_wakeup_fd(writing)
for name in NAMES:
    signal.signal(getattr(signal, f"SIG{name}"), record)
print("recording", flush=True)
while True:
    os.read(reading, 1)
