"""The main thread or a worker hangs. systemd's watchdog ends the daemon and starts it again."""

import os

import pytest

from support.callers import call
from machine.service import responses
from support.stopped_thread import StoppedThread
from support.wait import eventually

WALL = 0x40000000


@pytest.fixture
def watched(service):
    """A service with two workers and a watchdog of four seconds."""
    service.drop_in("[Service]\nWatchdogSec=4s\n")
    service.start(responses(more="workers: 2"))
    return service


def test_the_main_thread(watched):
    stopped = StoppedThread(watched.pid, "martlet")
    watched.wait_for_log("Watchdog timeout", within=15)
    # All signals are for this thread. One that hangs would handle them; one that is traced cannot.
    stopped.stop()
    watched.wait_for_restart()
    watched.wait_for_log("status=6/ABRT")
    assert call() == (200, "ok")


def test_a_worker(watched):
    stopped = StoppedThread(watched.pid, "martlet-0")
    eventually(lambda: watched.admin("GET", "/healthz")[0] == 503, what="a health check that fails")
    assert "martlet-0" in watched.admin("GET", "/healthz")[1]
    status = watched.admin("GET", "/status")
    assert status[0] == 200 and "martlet-0" in status[1]
    watched.wait_for_log("Watchdog timeout", within=15)
    # A traced thread stays until its tracer learns of its end, and so does the process.
    os.waitpid(stopped.thread, WALL)
    watched.wait_for_restart()
    watched.wait_for_log("status=6/ABRT")
    assert call() == (200, "ok")
