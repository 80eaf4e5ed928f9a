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
