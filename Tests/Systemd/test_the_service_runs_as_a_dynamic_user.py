"""With DynamicUser= in a drop-in the service needs no user of its own."""

from support.callers import call
from machine.service import responses


def test_it_serves(machine, service):
    service.drop_in("[Service]\nDynamicUser=yes\nUser=martlet-dynamic\nGroup=\n")
    service.start(responses())
    assert call() == (200, "ok")
    assert 61184 <= machine.path(f"/proc/{service.show('MainPID')}").stat().st_uid <= 65519
    assert service.control("reload").returncode == 0, service.log()
