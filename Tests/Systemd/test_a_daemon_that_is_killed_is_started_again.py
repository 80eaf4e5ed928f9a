"""The daemon gets SIGKILL. Two seconds later it serves again, however often."""

import os
import signal

from support.callers import call
from machine.service import responses


def test_it_comes_back(service):
    # More than systemd's own limit of starts, five in ten seconds.
    service.drop_in("[Service]\nRestartSec=100ms\n")
    service.start(responses())
    for number in range(1, 8):
        os.kill(service.pid, signal.SIGKILL)
        service.wait_for_restart(number)
        assert call() == (200, "ok")
