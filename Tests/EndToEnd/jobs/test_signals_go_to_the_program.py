"""Signals to Martlet go to its program; only SIGHUP is Martlet's own."""

import signal
import subprocess
import time

import pytest

from jobs.programs import python, state
from support.wait import eventually

# The C library keeps two signals to itself: no program can set them, and a starter such as make leaves them ignored.
OF_THE_C_LIBRARY = 1 << 31 | 1 << 32


def signals(line, status):
    """A set of signals, as the program of a job found it in its own /proc/self/status."""
    return int(status.wait(rf"{line}:\s+([0-9a-f]+)")[1], 16) & ~OF_THE_C_LIBRARY


@pytest.fixture
def recording(job):
    """A job whose program writes the names of its signals."""

    def start(*arguments, **options):
        proxy = job(*python("recording", *arguments), **options)
        proxy.stdout.wait("^recording$")
        return proxy

    return start


@pytest.mark.parametrize("name", ["INT", "QUIT", "USR1", "USR2", "WINCH", "CONT", "TSTP"])
def test_each_is_passed_once(recording, name):
    proxy = recording()
    proxy.signal(getattr(signal, f"SIG{name}"))
    proxy.stdout.wait(f"^SIG{name}$")
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 3
    assert list(proxy.stdout) == ["recording", f"SIG{name}", "SIGTERM"]


def test_a_second_term_is_passed_again(recording):
    proxy = recording(3)
    for count in range(1, 4):
        proxy.signal(signal.SIGTERM)
        proxy.stdout.wait("^SIGTERM$", count=count)
        if count < 3:
            with proxy.http() as http:
                assert http.get("/").text == "ok"
    assert proxy.exit_code() == 3


def test_hup_reloads_and_is_not_passed(recording):
    proxy = recording()
    proxy.reload()
    proxy.signal(signal.SIGUSR1)
    proxy.stdout.wait("^SIGUSR1$")
    assert list(proxy.stdout) == ["recording", "SIGUSR1"]


def test_signals_after_the_program_are_for_the_daemon(job, recorder):
    upstream = recorder(script=lambda peer: peer.rest())
    proxy = job("sh", "-c", "read line; exit 4", upstream=upstream.url, stdin=subprocess.PIPE, more="drain: { max: 60s }")
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    upstream.wait_for_connections(1)
    proxy.process.stdin.close()
    proxy.stderr.wait(r" draining\b")
    proxy.signal(signal.SIGUSR2)
    proxy.stderr.wait(r" state .*draining=true")
    # The first may end nothing that does not end already.
    proxy.signal(signal.SIGTERM)
    proxy.signal(signal.SIGUSR2)
    proxy.stderr.wait(r" state .*draining=true", count=2)
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 4


def test_a_signal_at_any_moment_ends_the_job(job):
    # Before the program begins, while it does, and when it has.
    for milliseconds in range(20):
        proxy = job("sleep", "60", wait=False)
        proxy.stderr.wait(r" listening\b")
        time.sleep(milliseconds / 1000)
        proxy.signal(signal.SIGTERM)
        assert proxy.exit_code() in (1, 128 + signal.SIGTERM)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV], ids=lambda number: number.name)
def test_the_program_gets_term_when_martlet_dies(job, program_of, tmp_path, how):
    script = f"trap 'echo term > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/told; exit' TERM; echo on; while :; do sleep 0.05; done"
    proxy = job("sh", "-c", script)
    proxy.stdout.wait("^on$")
    program = program_of(proxy)
    proxy.signal(how)
    eventually((tmp_path / "told").exists, what="the program's SIGTERM")
    eventually(lambda: state(program) in "XZ", what="the end of the program")


def test_what_the_starter_ignores_stays_ignored(job):
    # As by nohup, or for a job in the background of a script.
    proxy = job("grep", "SigIgn", "/proc/self/status", through=["env", "--ignore-signal=HUP,INT,QUIT,PIPE,CHLD,USR1"])
    assert proxy.exit_code() == 0
    assert signals("SigIgn", proxy.stdout) == sum(1 << (number - 1) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT))


def test_no_signal_is_ignored_or_blocked_otherwise(job):
    proxy = job("cat", "/proc/self/status")
    assert proxy.exit_code() == 0
    for key in ("SigBlk", "SigIgn", "SigCgt", "SigPnd", "ShdPnd"):
        assert signals(key, proxy.stdout) == 0, key
