"""The shipped unit within the sandbox of systemd and its own: no file of others, and no socket that leads out."""

import ctypes

import pytest

from machine.service import responses
from support.callers import call

LANDLOCK_CREATE_RULESET = 444
LANDLOCK_CREATE_RULESET_VERSION = 1
# curl: cannot connect.
REFUSED = 7


def need_landlock():
    if ctypes.CDLL(None).syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1:
        pytest.skip("the kernel has no Landlock")


def test_every_part_of_it_is_in_force(service):
    need_landlock()
    service.start(responses())
    assert "sandbox: files=yes ports=no unix_sockets=yes syscalls=yes new_privileges=no" in service.martlet("status").stdout
    assert "reason=" not in service.wait_for_log(r"sandbox files=yes .*")[0]
    # Also for the process that an upgrade starts.
    assert service.martlet("upgrade").returncode == 0
    assert "sandbox: files=yes" in service.martlet("status").stdout
    assert call() == (200, "ok")


@pytest.mark.parametrize("path", ["/run/dbus/system_bus_socket", "/run/systemd/private"])
def test_service_managers_are_out_of_reach(machine, service, path):
    """Even for root in the unit's mount namespace, and when systemd has made its sockets anew."""
    service.start(responses())
    connect = f"curl --silent --max-time 1 --unix-socket {path} http://a/"
    inside = f"nsenter --target {service.show('MainPID')} --mount {connect}"
    assert machine.run(connect, check=False).returncode != REFUSED
    assert machine.run(inside, check=False).returncode == REFUSED
    machine.run("systemctl daemon-reexec")
    assert machine.run(connect, check=False).returncode != REFUSED
    assert machine.run(inside, check=False).returncode == REFUSED
    # Martlet still notifies systemd.
    assert service.control("reload").returncode == 0, service.log()
    assert service.martlet("upgrade").returncode == 0 and call() == (200, "ok")
