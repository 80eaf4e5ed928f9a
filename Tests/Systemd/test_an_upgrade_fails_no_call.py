"""martlet upgrade under load: the new process is the main one of the service, and every call gets a response."""

import os
import signal

import pytest

from machine.service import responses
from support.callers import Callers, SlowCall, call

# On one system many, on the other enough to see that it is no different.
UPGRADES = {("bookworm", "martlet.service"): 100}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("unit", ["martlet.service", "martlet.socket"])
def test_under_load(machine, service, running, capsys, unit):
    machine.run(f"systemctl start {unit}" if unit == "martlet.socket" else "true")
    service.start(responses(listen="systemd:rpc" if unit == "martlet.socket" else "127.0.0.1:8080"))
    callers = running(Callers())
    pids = {service.show("MainPID")}
    count = UPGRADES.get((machine.suite, unit), 20)
    for _ in range(count):
        result = service.martlet("upgrade")
        assert result.returncode == 0, result.stderr + service.log()
        pids.add(service.show("MainPID"))
    callers.stop()
    with capsys.disabled():
        print(f"\n{machine.suite}, {count} upgrades with {unit}: {callers}")
    assert callers.refused == callers.lost == 0, callers.errors
    assert len(pids) == count + 1
    assert (service.state, service.show("NRestarts"), service.show("Result")) == ("active", "0", "success")


def test_the_service_goes_on_as_before(service):
    """systemd watches, reloads, kills, restarts and stops the new process as it did the old one."""
    service.drop_in("[Service]\nRestartSec=100ms\n")
    service.start(responses())
    assert service.martlet("upgrade").returncode == 0
    stored = service.show("NFileDescriptorStore")
    service.configure(responses(body="new"))
    assert service.control("reload").returncode == 0
    assert call() == (200, "new")
    os.kill(service.pid, signal.SIGKILL)
    service.wait_for_restart()
    assert call() == (200, "new")
    assert service.martlet("upgrade").returncode == 0
    assert service.control("restart").returncode == 0
    assert call() == (200, "new")
    assert service.show("NFileDescriptorStore") == stored
    assert service.martlet("upgrade").returncode == 0
    assert service.control("stop").returncode == 0
    assert service.state == "inactive" and service.show("Result") == "success"


@pytest.mark.parametrize("action", ["restart", "stop"])
def test_calls_of_the_old_process_end_through_a(service, action):
    """systemd sends SIGTERM to what is left of the service, too, and again when its main process has ended."""
    service.start(responses(delay="4s"))
    slow = SlowCall()
    service.wait_for_calls(1)
    assert service.martlet("upgrade").returncode == 0
    assert service.control(action).returncode == 0
    assert slow.result() == (200, "ok")
    assert service.state == ("active" if action == "restart" else "inactive")


def test_a_program_that_fails(machine, service):
    service.start(responses())
    pid = service.show("MainPID")
    machine.run("mv /usr/bin/martlet /usr/bin/martlet.kept && printf '#!/bin/sh\\nexit 1\\n' > /usr/bin/martlet && chmod 755 /usr/bin/martlet")
    try:
        result = machine.run("/usr/bin/martlet.kept upgrade -c /etc/martlet/martlet.yaml", check=False)
    finally:
        machine.run("mv /usr/bin/martlet.kept /usr/bin/martlet")
    assert result.returncode == 1 and "the new process has ended" in result.stderr
    assert (service.state, service.show("MainPID")) == ("active", pid)
    assert call() == (200, "ok")
