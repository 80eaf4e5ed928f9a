"""If a worker's thread does not run, the health check fails and names it, systemd gets no keep-alive, and status still responds."""

import signal
import time

import pytest

from support.martlet import Command
from support.stopped_thread import StoppedThread, may_trace
from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: {}\nworkers: 2\n"
THROUGH = ["sh", "-c", 'WATCHDOG_PID=$$ exec "$0" "$@"']

pytestmark = [pytest.mark.waits, pytest.mark.skipif(not may_trace(), reason="this user may not trace processes")]


def test_one_of_two_workers(martlet, command, notify, recorder, running):
    manager = notify()
    environment = manager.environment | {"WATCHDOG_USEC": "1000000"}
    proxy = martlet(CONFIGURATION.format(recorder().url), environment=environment, through=THROUGH)
    manager.next("WATCHDOG", within=5)
    healthy = proxy.metrics()
    stuck = running(StoppedThread(proxy.pid, "martlet-1"))
    eventually(lambda: proxy.admin("/healthz").status_code == 503, what="a health check that fails")
    assert proxy.admin("/healthz").text.startswith("worker martlet-1 has not responded for ")
    assert proxy.stderr.wait(r" error worker stuck reason=\"worker martlet-1 has not responded for \d+ s\"")
    manager.wait_for_silence("WATCHDOG", 1.0)
    check = command("healthcheck", "-c", proxy.file)
    assert check.code == 1 and "martlet-1" in check.stderr.text
    status = command("status", "-c", proxy.file)
    assert status.code == 0 and status.stdout.text.startswith("worker martlet-1 has not responded for ")
    assert command("healthcheck", "--ready", "-c", proxy.file).code == 1
    reload = command("reload", "-c", proxy.file)
    assert reload.code == 1 and "martlet-1" in reload.stderr.text
    # The stuck worker's counts stay.
    assert proxy.metrics().total("martlet_rpc_started_total") >= healthy.total("martlet_rpc_started_total")
    assert proxy.admin("/calls/recent").status_code == 200
    proxy.signal(signal.SIGHUP)
    proxy.stderr.wait(r" error reload rejected ", count=2)
    assert proxy.metrics().total("martlet_config_last_reload_successful") == 0
    stuck.stop()
    eventually(lambda: proxy.admin("/healthz").status_code == 200, what="a health check that succeeds")
    proxy.stderr.wait(r" info worker responds again worker=martlet-1")
    manager.next("WATCHDOG", within=5)
    assert command("reload", "-c", proxy.file).code == 0


def test_a_reload_does_not_wait_for_it(martlet, recorder, running):
    environment = {"WATCHDOG_USEC": "1000000"}
    proxy = martlet(CONFIGURATION.format(recorder().url), environment=environment, through=THROUGH)
    stuck = running(StoppedThread(proxy.pid, "martlet-1"))
    rejected = proxy.admin("/reload", method="POST")
    assert rejected.status_code == 422 and "worker martlet-1 has not responded" in rejected.text
    stuck.stop()
    proxy.stderr.wait(r" reloaded generation=2\b")


def test_a_change_of_the_file_waits_for_it(recorder, running, tmp_path):
    environment = {"WATCHDOG_USEC": "1000000"}
    configuration = CONFIGURATION.format(recorder().url)
    file = tmp_path / "martlet.yaml"
    file.write_text(configuration)
    proxy = running(Command("run", "--watch", "-c", file, environment=environment, through=THROUGH))
    proxy.stderr.wait(r" ready ")
    stuck = running(StoppedThread(proxy.pid, "martlet-1"))
    proxy.stderr.wait(r" error worker stuck ")
    file.write_text(configuration + "log_level: debug\n")
    proxy.stderr.wait(r" error reload rejected ")
    stuck.stop()
    proxy.stderr.wait(r" reloaded generation=2\b")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT], ids=["SIGTERM", "SIGQUIT"])
def test_a_stop_does_not_wait_for_it_before_it_is_noticed(martlet, recorder, running, number):
    proxy = martlet(CONFIGURATION.format(recorder().url) + "drain: { max: 1s }\n")
    stuck = running(StoppedThread(proxy.pid, "martlet-1"))
    proxy.signal(number)
    proxy.stderr.wait(r' error stopped reason="martlet-1 did not stop"')
    proxy.stderr.wait_for_end()
    stuck.stop()
    assert proxy.exit_code() == 1


def test_a_stop_does_not_wait_for_it_for_ever(martlet, recorder, running):
    configuration = CONFIGURATION.format(recorder().url) + "drain: { max: 1s }\n"
    proxy = martlet(configuration, environment={"WATCHDOG_USEC": "1000000"}, through=THROUGH)
    stuck = running(StoppedThread(proxy.pid, "martlet-1"))
    proxy.stderr.wait(r" error worker stuck ")
    proxy.signal(signal.SIGTERM)
    proxy.stderr.wait(r' error stopped reason="worker martlet-1 has not responded for \d+ s"')
    proxy.stderr.wait_for_end()
    stuck.stop()
    assert proxy.exit_code() == 1


def test_a_stopped_process_blames_no_worker(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(recorder().url), environment={"WATCHDOG_USEC": "400000"})
    proxy.signal(signal.SIGSTOP)
    until = time.monotonic() + 1.0
    eventually(lambda: time.monotonic() > until, what="the end of a second")
    proxy.signal(signal.SIGCONT)
    assert proxy.admin("/healthz").status_code == 200
    assert "worker stuck" not in proxy.stderr.text
