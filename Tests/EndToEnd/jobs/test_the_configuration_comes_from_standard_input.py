"""`-c -` reads the configuration from standard input: a script can have it in itself."""

import subprocess

import pytest

from support.martlet import Command

TEXT = "listen: 127.0.0.1:0\nupstream: {url}\nadmin: unix:{path}\n"


@pytest.fixture
def start(running, recorder, tmp_path):
    """Starts a command with a text as its standard input."""

    def run(*words, text=None, **more):
        program = running(Command(*words, stdin=subprocess.PIPE, **more))
        program.process.stdin.write(text if text is not None else TEXT.format(url=recorder().url, path=tmp_path / "admin.sock"))
        program.process.stdin.close()
        return program

    return run


def test_check(start):
    check = start("check", "-c", "-")
    assert check.exit_code() == 0 and check.stdout.text.startswith("(standard input): valid: 1 listener")
    check = start("check", "-c", "-", text="listn: 1\n")
    assert check.exit_code() == 78 and '(standard input):1:1: unknown key "listn"' in check.stderr.text


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_run_and_reload(start, command, tmp_path, name):
    proxy = start("run", "-c", name)
    proxy.stderr.wait(r"\bready\b")
    reload = command("reload", "--admin", f"unix:{tmp_path}/admin.sock")
    # The same text again: a reload may still read other files anew.
    assert reload.code == 0 and '"generation":2' in reload.stdout.text
    assert "file: (standard input)" in command("status", "--admin", f"unix:{tmp_path}/admin.sock").stdout.text
    upgrade = command("upgrade", "--admin", f"unix:{tmp_path}/admin.sock")
    assert upgrade.code == 1 and "standard input can be read only once; restart instead" in upgrade.stderr.text


def test_exec(start):
    proxy = start("exec", "-c", "-", "--", "sh", "-c", 'wc -c; curl -s "http://$MARTLET_ADDRESS/"')
    assert proxy.exit_code() == 0
    # The program finds standard input at its end.
    assert [line.strip() for line in proxy.stdout] == ["0", "ok"]


def test_the_environment_names_standard_input(start):
    assert start("check", environment={"MARTLET_CONFIG": "-"}).exit_code() == 0


def test_a_file_that_never_ends(running):
    with open("/dev/zero") as zero:
        check = running(Command("check", "-c", "-", stdin=zero))
        assert check.exit_code() == 78 and "(standard input) has more than " in check.stderr.text


def test_an_empty_file(start):
    check = start("check", "-c", "-", text="")
    assert check.exit_code() == 78 and "(standard input)" in check.stderr.text
