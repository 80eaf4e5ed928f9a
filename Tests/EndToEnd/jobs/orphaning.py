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
        time.sleep(600)
    os._exit(0)
os.waitpid(child, 0)
print("orphaned", flush=True)
signal.pause()
