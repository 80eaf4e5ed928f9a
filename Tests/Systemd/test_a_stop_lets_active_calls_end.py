"""systemctl stop waits for a call that is under way, also beyond TimeoutStopSec, and the service ends well."""

from support.callers import SlowCall
from machine.service import responses


def test_a_call_is_under_way(service):
    service.drop_in("[Service]\nTimeoutStopSec=2s\n")
    service.start(responses(delay="4s"))
    slow = SlowCall()
    service.wait_for_calls(1)
    assert service.control("stop").returncode == 0
    assert slow.result() == (200, "ok")
    assert service.state == "inactive"
    assert (service.show("Result"), service.show("ExecMainStatus")) == ("success", "0")


def test_a_call_takes_longer_than_the_drain(machine, service):
    """It is ended, and the service has stopped in order: no unit is `failed`."""
    service.start(responses(delay="30s", more="drain: { max: 300ms, handover: 300ms }"))
    slow = SlowCall()
    service.wait_for_calls(1)
    assert service.control("stop").returncode == 0
    assert slow.result()[0] == 503
    assert service.state == "inactive", service.log()
    assert machine.run("systemctl is-system-running", check=False).stdout.strip() == "running"


def test_a_listener_that_is_gone_leaves_no_file(machine, service):
    """systemd does not say whether a stop is part of a restart, so the file of a socket stays until the next start."""
    text = responses(listen="unix:/run/martlet/old.sock")
    service.start(text)
    assert service.control("stop").returncode == 0
    service.start(text.replace("old.sock", "new.sock"))
    names = {path.name for path in machine.path("/run/martlet").iterdir()}
    assert names == {"admin.sock", "new.sock"}
