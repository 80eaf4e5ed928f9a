"""The service restarts under socket activation while a call of eight seconds is under way. New calls get their response at once."""

from support.callers import Callers, SlowCall
from machine.service import responses


def test_a_restart_under_a_long_call(machine, service, running, capsys):
    machine.run("systemctl start martlet.socket")
    service.start(responses(listen="systemd:rpc", delay="8s"))
    old = SlowCall()
    service.wait_for_calls(1)
    callers = running(Callers(count=2, gap=0.1))
    service.control("restart", check=True)
    callers.stop()
    assert old.result() == (200, "ok")
    with capsys.disabled():
        print(f"\n{machine.suite}, a restart beside a call of 8 s: {callers}")
    assert callers.refused == callers.lost == 0, callers.errors
    assert callers.longest < 4
