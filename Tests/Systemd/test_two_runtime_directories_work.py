"""A drop-in adds a second runtime directory. The admin socket is in the first."""

from support.callers import call
from machine.service import responses


def test_it_starts(machine, service):
    service.drop_in("[Service]\nRuntimeDirectory=martlet-other\n")
    service.start(responses())
    assert machine.path("/run/martlet/admin.sock").is_socket() and machine.path("/run/martlet-other").is_dir()
    assert service.martlet("healthcheck").returncode == 0
    assert service.control("reload").returncode == 0, service.log()
    assert call() == (200, "ok")
