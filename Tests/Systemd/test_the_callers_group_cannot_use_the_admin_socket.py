"""A member of _martlet may call by the socket, and may not administer. A group of operators may, if the file says so."""

import pytest

SOCKET = """
listen: unix:/run/martlet/rpc.sock
upstream: http://127.0.0.1:3000
interceptors:
  - respond: { status: 200, body: "ok" }
"""
ADMIN = 'admin: { address: "unix:/run/martlet/admin.sock", group: operators, mode: "0660" }\n'
CALL = "curl --silent --show-error --max-time 5 --unix-socket /run/martlet/rpc.sock http://martlet/"
DRAIN = "curl --silent --show-error --max-time 5 --unix-socket /run/martlet/admin.sock --request POST http://martlet/drain"


@pytest.fixture(scope="module", autouse=True)
def people(booted):
    """A program of the group, alice of the operators, and a stranger."""
    booted.run(
        "groupadd operators; useradd --groups _martlet app; useradd --groups operators alice; useradd stranger"
    )
    yield
    booted.run("userdel app; userdel alice; userdel stranger; groupdel operators")


def test_members_can_call(machine, service):
    service.start(SOCKET)
    assert machine.run(CALL, user="app").stdout == "ok"
    assert machine.run(CALL, user="stranger", check=False).returncode == 7


@pytest.mark.parametrize("user", ["app", "stranger", "alice"])
def test_callers_cannot_drain(machine, service, user):
    service.start(SOCKET)
    assert machine.run(DRAIN, user=user, check=False).returncode == 7
    assert service.state == "active" and machine.run(CALL).stdout == "ok"


def test_operators_may_administer(machine, service):
    service.drop_in("[Service]\nSupplementaryGroups=operators\n")
    service.start(ADMIN + SOCKET)
    assert machine.run("martlet status --admin unix:/run/martlet/admin.sock", user="alice").stdout
    assert machine.run(DRAIN, user="app", check=False).returncode == 7
    assert service.control("reload").returncode == 0, service.log()
    machine.run(DRAIN, user="alice")
    service.wait_for_state("inactive")
