"""The program starts when Martlet is ready, or after a time, or not at all."""

import signal
import socket

import pytest

from jobs.programs import children, state
from support.wait import eventually

TOKEN = "interceptors:\n  - token: {{ file: {file} }}"
CALL = 'curl -s "http://$MARTLET_ADDRESS/"'


@pytest.fixture
def waiting(job, tmp_path):
    """Starts a job whose daemon has no token yet."""

    def start(*options, program=("sh", "-c", CALL), **more):
        return job(*program, options=options, more=TOKEN.format(file=tmp_path / "token"), **more)

    return start


@pytest.mark.parametrize("options", [[], ["--wait", "1m"], ["--wait=1m", "--ready-or-fail"]], ids=" ".join)
def test_a_token_that_comes_late(waiting, recorder, tmp_path, options):
    upstream = recorder()
    proxy = waiting(*options, upstream=upstream.url)
    assert proxy.admin("/readyz").status_code == 503
    assert not proxy.stderr.matches("program started")
    (tmp_path / "token").write_text("t0ken")
    assert proxy.exit_code() == 0
    assert [request.header("authorization") for request in upstream.requests] == ["Bearer t0ken"]
    assert not proxy.stderr.matches("before Martlet is ready")


def test_a_reload_meanwhile(waiting, recorder, tmp_path):
    """The addresses are those of the daemon when the program begins."""
    upstream = recorder()
    proxy = waiting("--wait", "1m", upstream=upstream.url, program=("sh", "-c", 'echo "$MARTLET_ADDRESS_1 $MARTLET_ADDRESS_2"'))
    token = TOKEN.format(file=tmp_path / "token")
    proxy.write(f"listeners: [ 127.0.0.1:0, '[::1]:0' ]\nupstream: {upstream.url}\n{token}")
    proxy.reload()
    (tmp_path / "token").write_text("t0ken")
    assert proxy.exit_code() == 0
    assert list(proxy.stdout) == [" ".join(proxy.addresses[-2:])]


def test_a_taken_port_ends_it_under_a_service_manager_too(command, notify, tmp_path):
    """A daemon that serves for itself would wait for the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        file = tmp_path / "martlet.yaml"
        file.write_text(f"listen: 127.0.0.1:{taken.getsockname()[1]}\nupstream: http://127.0.0.1:9\n")
        result = command("exec", "-c", file, "--", "touch", tmp_path / "ran", environment=notify().environment)
    assert result.code == 1 and "cannot start" in result.stderr.text
    assert not (tmp_path / "ran").exists()


def test_a_token_that_never_comes(waiting):
    proxy = waiting("--wait", "100ms", program=["true"])
    assert proxy.exit_code() == 0
    (line,) = proxy.stderr.matches("program starts before Martlet is ready")
    assert " warn " in line.string and "missing credentials: token" in line.string


def test_no_wait(waiting):
    proxy = waiting("--wait", "none", program=["true"])
    assert proxy.exit_code() == 0
    assert not proxy.stderr.matches("before Martlet is ready")


def test_ready_or_fail(waiting, tmp_path):
    proxy = waiting("--wait", "100ms", "--ready-or-fail", program=["touch", tmp_path / "ran"])
    assert proxy.exit_code() == 1
    assert "program not started" in proxy.stderr.text and "Martlet is not ready: missing credentials: token" in proxy.stderr.text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGQUIT], ids=lambda number: number.name)
def test_a_signal_before_the_program(waiting, tmp_path, number):
    proxy = waiting(program=["touch", tmp_path / "ran"])
    (waiter,) = children(proxy.pid)
    proxy.signal(number)
    assert proxy.exit_code() == 1
    assert not (tmp_path / "ran").exists()
    assert "program" not in proxy.stderr.text and "error" not in proxy.stderr.text
    eventually(lambda: state(waiter) in "XZ", what="the end of the process that waits")


def test_martlet_killed_before_the_program(waiting, tmp_path):
    proxy = waiting(program=["touch", tmp_path / "ran"])
    (waiter,) = children(proxy.pid)
    proxy.process.kill()
    eventually(lambda: state(waiter) in "XZ", what="the end of the process that waits")
    assert not (tmp_path / "ran").exists()
