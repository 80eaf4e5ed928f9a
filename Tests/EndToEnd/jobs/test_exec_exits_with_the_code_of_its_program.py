"""`martlet exec` exits with the code of its program, as a shell would, and never runs it beside a daemon that cannot serve."""

import signal
import socket

import pytest


@pytest.mark.parametrize("code", [0, 1, 7, 78, 255])
def test_a_code(job, code):
    proxy = job("sh", "-c", f"exit {code}")
    assert proxy.exit_code() == code
    proxy.stderr.wait(rf" program ended program=sh status={code}$")
    assert proxy.stderr.matches(r" stopped$")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=lambda number: number.name)
def test_a_signal(job, number):
    assert job("sh", "-c", f"kill -{int(number)} $$").exit_code() == 128 + number


def test_a_program_that_is_missing(job):
    proxy = job("no-such-program")
    assert proxy.exit_code() == 127
    assert "martlet: cannot execute no-such-program: No such file or directory" in proxy.stderr


def test_a_program_that_is_not_executable(job, tmp_path):
    file = tmp_path / "program"
    file.write_text("#!/bin/sh\n")
    proxy = job(file)
    assert proxy.exit_code() == 126
    assert f"martlet: cannot execute {file}: Permission denied" in proxy.stderr


def test_a_script_without_an_interpreter_line(job, tmp_path):
    file = tmp_path / "program"
    file.write_text("exit 5\n")
    file.chmod(0o755)
    assert job(file).exit_code() == 5


def test_arguments_reach_the_program_as_they_are(job):
    words = ["--help", "-c", "", "a b", "ü", "--", "--wait"]
    proxy = job("printf", "[%s]\\n", *words)
    assert proxy.exit_code() == 0
    assert list(proxy.stdout) == [f"[{word}]" for word in words]


def test_standard_input_and_output_are_the_programs(job):
    near, far = socket.socketpair()
    with near, far:
        near.sendall(b"one\ntwo\n")
        near.shutdown(socket.SHUT_WR)
        proxy = job("cat", stdin=far)
        assert proxy.exit_code() == 0
    assert list(proxy.stdout) == ["one", "two"]


def test_a_wrong_configuration(job, tmp_path):
    proxy = job("touch", tmp_path / "ran", more="nonsense: 1", wait=False)
    assert proxy.exit_code() == 78
    assert 'unknown key "nonsense"' in proxy.stderr.text
    assert not (tmp_path / "ran").exists()


def test_a_port_that_is_taken(job, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        configuration = f"listen: 127.0.0.1:{other.getsockname()[1]}\nupstream: http://127.0.0.1:9\n"
        proxy = job("touch", tmp_path / "ran", configuration=configuration, wait=False)
        assert proxy.exit_code() == 1
    assert "another process uses the address" in proxy.stderr.text
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "words, problem",
    [
        (["exec"], "exec needs -- COMMAND [ARGUMENT...]"),
        (["exec", "--"], "exec needs -- COMMAND [ARGUMENT...]"),
        (["exec", "true"], 'unexpected argument "true" for exec'),
        (["exec", "--wait", "soon", "--", "true"], '--wait cannot be "soon"; write a time such as 30s, or none'),
        (["exec", "--wait", "none", "--ready-or-fail", "--", "true"], "--ready-or-fail needs a time to wait; remove --wait none"),
        (["exec", "--wait"], "--wait needs a value: --wait TIME"),
    ],
)
def test_a_wrong_command_line(command, words, problem):
    result = command(*words)
    assert result.code == 2 and problem in result.stderr.text
