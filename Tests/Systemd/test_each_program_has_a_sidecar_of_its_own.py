"""martlet@NAME.service reads /etc/martlet/NAME.yaml and has directories of its own. Beside it martlet.service comes and goes."""

import pytest

from support.callers import call
from machine.service import Service, responses
from support.wait import eventually

FILE = """
listen: unix:/run/martlet/{name}/rpc.sock
upstream: http://127.0.0.1:3000
interceptors:
  - log: {{ to: /var/log/martlet/{name}/access.log, mode: "0640" }}
  - respond: {{ status: 200, body: "{name}" }}
"""


@pytest.fixture
def instances(machine):
    """Two sidecars, running."""
    made = []
    for name in ["orders", "users"]:
        instance = Service(machine, f"martlet@{name}.service", f"/etc/martlet/{name}.yaml")
        instance.name = name
        instance.socket = machine.path(f"/run/martlet/{name}/rpc.sock")
        instance.start(FILE.format(name=name))
        made.append(instance)
    return made


def test_both_serve_and_obey(instances):
    for instance in instances:
        assert call(address=instance.socket) == (200, instance.name)
        assert instance.martlet("healthcheck").returncode == 0
        status = instance.martlet("status")
        assert status.returncode == 0 and instance.file in status.stdout
        assert instance.control("reload").returncode == 0, instance.log()


def test_one_stops_and_the_others_stay(service, instances):
    orders, users = instances
    service.start(responses())
    assert orders.control("stop").returncode == 0
    assert call(address=users.socket) == (200, "users") and call() == (200, "ok")
    assert service.control("stop").returncode == 0
    assert call(address=users.socket) == (200, "users")
    assert users.martlet("healthcheck").returncode == 0
    assert not orders.socket.exists()


def test_their_logs_are_rotated(machine, instances):
    for number in [1, 2]:
        for instance in instances:
            assert call(address=instance.socket)[0] == 200
            log = machine.path(f"/var/log/martlet/{instance.name}/access.log")
            eventually(lambda: log.read_text().count("\n") == 1, what="one line in the log")
        machine.run("logrotate --force /etc/logrotate.d/martlet")
    for instance in instances:
        directory = machine.path(f"/var/log/martlet/{instance.name}")
        assert {file.name for file in directory.iterdir()} == {"access.log", "access.log.1", "access.log.2.gz"}
