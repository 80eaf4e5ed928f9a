"""bash, zsh and fish complete commands, options, values, files and operands, as a user sees it who presses Tab."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

# What is typed, and what it becomes or what is offered.
CASES = [
    ("martlet heal", {"healthcheck"}),
    ("martlet help ta", {"tap", "tape"}),
    ("martlet -c a.yaml call --protocol gr", {"grpc", "grpc-web"}),
    ("martlet test -o ", {"text", "json"}),
    ("martlet tap -o ", {"text", "json", "curl", "grpcurl", "buf"}),
    ("martlet types ", {"decode", "encode"}),
    ("martlet completion ", {"bash", "zsh", "fish"}),
    ("martlet check --con", {"--config"}),
    ("martlet healthcheck --r", {"--ready"}),
    ("martlet -t --con", {"--config"}),
    ("martlet --wat", {"--watch"}),
    ("martlet check -c ord", {"orders.yaml"}),
    ("martlet verify ord", {"orders.yaml"}),
]


@pytest.fixture
def script(command, tmp_path):
    """Writes the script for a shell into an empty directory beside a file to be completed; returns its path."""
    (tmp_path / "orders.yaml").touch()

    def write(shell, name):
        if not shutil.which(shell):
            pytest.skip(f"{shell} is not installed")
        result = command("completion", shell)
        assert result.code == 0
        file = tmp_path / name
        file.write_text(result.stdout.text)
        return file

    return write


class Terminal:
    """An interactive shell on a terminal of its own."""

    def __init__(self, *command, directory):
        self._pid, self._end = pty.fork()
        if self._pid == 0:
            os.chdir(directory)
            os.environ.update(TERM="dumb", PS1="$ ", COLUMNS="200", HISTFILE="/dev/null")
            os.execvp(command[0], command)

    def type(self, text, until, within=10):
        """Types, and returns what the shell prints until a pattern matches that."""
        os.write(self._end, text.encode())
        output, end = "", time.monotonic() + within
        while not re.search(until, output):
            assert time.monotonic() < end, output
            if select.select([self._end], [], [], 0.1)[0]:
                output += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\x07", "", os.read(self._end, 65536).decode(errors="replace"))
        return output

    def stop(self):
        os.close(self._end)
        os.waitpid(self._pid, 0)


def words(*words):
    """A pattern for a text that has all these words."""
    return "(?s)" + "".join(rf"(?=.*(?<![\w-]){re.escape(word)}(?![\w-]))" for word in words)


@pytest.fixture
def bash(script, running, tmp_path):
    file = script("bash", "completion.bash")
    shell = running(Terminal("bash", "--norc", "--noprofile", "-i", directory=tmp_path))
    shell.type("bind 'set enable-bracketed-paste off'; bind 'set show-all-if-ambiguous on'\n", r"\$ .*\n\$ ")
    shell.type(f"source {file}; echo so''urced\n", "sourced")
    return shell


@pytest.fixture
def zsh(script, running, tmp_path):
    (tmp_path / "functions").mkdir()
    script("zsh", "functions/_martlet")
    shell = running(Terminal("zsh", "-f", "-i", directory=tmp_path))
    shell.type(f"fpath=({tmp_path}/functions $fpath); autoload -U compinit; compinit -u -D; unsetopt list_ambiguous; echo lo''aded\n", "loaded")
    return shell


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_with_the_tab_key(shell, request):
    terminal = request.getfixturevalue(shell)
    for line, offered in CASES:
        terminal.type(f"{line}\t", words(*offered))
        # Control-U clears the line.
        terminal.type("\x15echo ne''xt\n", "next")


def test_in_fish(script):
    file = script("fish", "martlet.fish")
    for line, offered in CASES:
        told = subprocess.check_output(["fish", "-N", "-c", f"source {file}; complete -C '{line}'"], text=True, cwd=file.parent)
        assert {entry.split("\t")[0] for entry in told.splitlines()} >= offered, line


def test_bash_divides_a_line_at_equals_signs_and_colons(script):
    file = script("bash", "completion.bash")

    def complete(*line):
        text = f"source {file}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _martlet martlet \"${{@: -1}}\" \"${{@: -2:1}}\"; echo \"${{COMPREPLY[@]}}\""
        return subprocess.check_output(["bash", "-c", text, "bash", *line], text=True, cwd=file.parent).split()

    assert complete("martlet", "call", "--protocol", "=", "gr") == ["grpc", "grpc-web"]
    assert complete("martlet", "tap", "--output", "=") == ["text", "json", "curl", "grpcurl", "buf"]
    assert complete("martlet", "types", "--config", "=", "a.yaml", "de") == ["decode"]
    assert complete("martlet", "--admin", "unix", ":", "/run/a.sock", "sta") == ["status"]
    assert complete("martlet", "status", "--admin", "") == []


def test_a_shell_that_is_not_known(command):
    result = command("completion", "tcsh")
    assert result.code == 2 and 'unknown shell "tcsh"' in result.stderr.text
