"""Makes orphans, so many as it is told, of which the last one lives on; then it waits for a signal."""

import os
import signal
import sys
import time

for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.fork()
        os._exit(0)
    os.waitpid(child, 0)

child = os.fork()
if child == 0:
    if os.fork() == 0:
        os.setsid()
        # Nobody shall wait for the end of its streams.
        for stream in range(3):
            os.dup2(os.open("/dev/null", os.O_RDWR), stream)
        time.sleep(60)
    os._exit(0)
os.waitpid(child, 0)
print("orphaned", flush=True)
signal.pause()
