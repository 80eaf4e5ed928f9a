"""systemctl restart under load: every call gets a response, with the socket unit and without it."""

import pytest

from support.callers import Callers
from machine.service import responses

# On one system many, on the other enough to see that it is no different.
RESTARTS = {"bookworm": 100, "trixie": 20}


@pytest.fixture
def restart(service, running, capsys):
    """Restarts the service under callers, and prints what became of their calls."""

    def under(title, count=4, **options):
        callers = running(Callers(**options))
        for _ in range(count):
            service.control("restart", check=True)
        callers.stop()
        with capsys.disabled():
            print(f"\n{service.machine.suite}, {count} restarts {title}: {callers}")
        return callers

    return under


@pytest.mark.timeout(300)
def test_new_connections_with_the_socket_unit(machine, service, restart):
    machine.run("systemctl start martlet.socket")
    service.start(responses(listen="systemd:rpc"))
    callers = restart("with the socket unit", 20)
    assert callers.refused == callers.lost == 0, callers.errors
    assert callers.longest < 5


@pytest.mark.timeout(300)
def test_new_connections_without_the_socket_unit(service, restart):
    service.start(responses())
    assert service.show("NFileDescriptorStore") != "0"
    callers = restart("without the socket unit, sockets kept by systemd", RESTARTS[service.machine.suite])
    assert callers.refused == callers.lost == 0, callers.errors


def test_new_connections_that_nobody_keeps_a_socket_for(service, restart):
    """Without what the other tests are about, calls are lost: they would notice."""
    service.drop_in("[Service]\nFileDescriptorStoreMax=0\n")
    service.start(responses())
    callers = restart("without the socket unit and the store", 10)
    assert callers.refused > 0


def test_kept_connections(machine, service, restart):
    machine.run("systemctl start martlet.socket")
    service.start(responses(listen="systemd:rpc", more="drain: { min: 2s }"))
    callers = restart("with kept connections that are idle for 100 ms", keep=True, gap=0.1)
    assert callers.refused == callers.lost == 0, callers.errors
