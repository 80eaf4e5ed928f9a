"""A member of _martlet-callers may call, and neither administer nor read a file. Operators may administer, if the file says so."""

import pytest

SOCKET = """
listen: unix:/run/martlet/rpc.sock
upstream: http://127.0.0.1:3000
interceptors:
  - log: { to: /var/log/martlet/access.log }
  - respond: { status: 200, body: "ok" }
"""
ADMIN = 'admin: { address: "unix:/run/martlet/admin.sock", group: operators, mode: "0660" }\n'
CALL = "curl --silent --show-error --max-time 5 --unix-socket /run/martlet/rpc.sock http://martlet/"
DRAIN = "curl --silent --show-error --max-time 5 --unix-socket /run/martlet/admin.sock --request POST http://martlet/drain"


@pytest.fixture(scope="module", autouse=True)
def people(booted):
    """A program of the group, alice of the operators, and a stranger."""
    booted.run(
        "groupadd operators; useradd --groups _martlet-callers app; useradd --groups operators alice; useradd stranger"
    )
    yield
    booted.run("userdel app; userdel alice; userdel stranger; groupdel operators")


@pytest.fixture
def files(machine, service):
    """The files of a service that has responded to a call: its configuration and a key as the documents say, and its log."""
    machine.write("/etc/martlet/tls/server.key", "secret")
    service.configure(SOCKET)
    owned = "/etc/martlet/tls/server.key /etc/martlet/martlet.yaml"
    machine.run(f"chown root:_martlet {owned} && chmod 0640 {owned}")
    service.start()
    assert machine.run(CALL).stdout == "ok"
    return [*owned.split(), "/var/log/martlet/access.log"]


def test_members_can_call(machine, service):
    service.start(SOCKET)
    assert machine.run("stat --format='%a %U:%G' /run/martlet/rpc.sock").stdout == "660 _martlet:_martlet-callers\n"
    assert machine.run(CALL, user="app").stdout == "ok"
    assert machine.run(CALL, user="stranger", check=False).returncode == 7
    # A restart keeps the socket, and an upgrade too.
    assert service.control("restart").returncode == 0 and service.martlet("upgrade").returncode == 0
    assert machine.run(CALL, user="app").stdout == "ok"


def test_members_read_no_file_of_the_service(machine, files):
    assert machine.run(CALL, user="app").stdout == "ok"
    for file in files:
        assert machine.run(f"cat {file}", user="_martlet").stdout
        result = machine.run(f"cat {file}", user="app", check=False)
        assert result.stdout == "" and "Permission denied" in result.stderr


def test_a_member_of_the_old_group_calls_until_a_restart(machine, service):
    """An upgrade does not change the groups of the process, and so not that of its sockets."""
    service.drop_in("[Service]\nSupplementaryGroups=\n")
    service.start(SOCKET)
    service.drop_in("")
    assert service.martlet("upgrade").returncode == 0
    assert machine.run(CALL, user="_martlet").stdout == "ok"
    assert machine.run("stat --format=%G /run/martlet/rpc.sock").stdout == "_martlet\n"
    assert service.control("restart").returncode == 0
    assert machine.run(CALL, user="app").stdout == "ok"


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
