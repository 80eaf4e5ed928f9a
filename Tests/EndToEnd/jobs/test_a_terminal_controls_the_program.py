"""In a terminal a job behaves as its program would: each key reaches it once, and the shell stops and continues both."""

import os
from pathlib import Path

import pytest

from jobs.programs import children, is_copy, python, state
from jobs.terminal import Terminal
from support.martlet import BINARY
from support.wait import eventually

TEXT = "listen: 127.0.0.1:0\nupstream: {url}\nadmin: unix:{path}/admin.sock\n"


class Shell(Terminal):
    """A terminal in which `martlet exec` runs, with its log in a file."""

    def __init__(self, directory, url):
        self.directory = directory
        (directory / "martlet.yaml").write_text(TEXT.format(url=url, path=directory))
        super().__init__({"MARTLET_CONFIG": str(directory / "martlet.yaml"), "LOG": str(directory / "log"), "BINARY": str(BINARY)})

    def job(self, *words, background=False):
        """Starts a job; returns the numbers of Martlet and of its program."""
        before = set(children(self.pid))
        line = f'"$BINARY" exec -- {" ".join(map(str, words))} 2>>"$LOG"'
        self.run(f"{line} &") if background else self.type(f"{line}\n")
        (martlet,) = eventually(lambda: set(children(self.pid)) - before, what="Martlet")
        program = eventually(lambda: self.program(martlet), within=10, what="the program")
        return martlet, program

    def program(self, martlet):
        found = children(martlet)
        return found[0] if found and not is_copy(found[0], martlet) else None

    def interrupt(self):
        """Types Ctrl-C at the prompt until there is another: bash drops one that comes just as it shows the first."""
        start = len(self.text)

        def has_prompt():
            self.type("\x03")
            try:
                return self.wait("ready> $", start, within=0.5)
            except AssertionError:
                return None

        eventually(has_prompt, what="another prompt")

    def code(self):
        """The exit code of the last command."""
        return int(self.run("echo code $?").split("code ")[-1].split()[0])


@pytest.fixture
def shell(running, recorder, tmp_path):
    shell = running(Shell(tmp_path, recorder().url))
    yield shell
    print(shell.text, (tmp_path / "log").read_text() if (tmp_path / "log").exists() else "")


@pytest.fixture
def recording(shell):
    """A job in the foreground whose program shows the names of its signals."""
    shell.job(*python("recording"))
    shell.wait("^recording$")
    return shell


def command_of(shell, inner):
    """The name of the command that an inner shell runs in the foreground."""
    found = children(inner)
    return Path(f"/proc/{found[0]}/comm").read_text().strip() if found and shell.foreground() == found[0] else None


def is_stopped(*processes):
    return all(state(process) == "T" for process in processes)


def is_running(*processes):
    return all(state(process) in "SR" for process in processes)


@pytest.mark.parametrize("key, name", [("\x03", "SIGINT"), ("\x1c", "SIGQUIT")], ids=["Ctrl-C", "Ctrl-\\"])
def test_a_key_reaches_the_program_once(recording, key, name):
    for time in range(1, 21):
        recording.type(key)
        recording.wait(f"(?:{name}[^$]*){{{time}}}")
    # Whatever came twice has come by now.
    martlet = children(recording.pid)[0]
    os.kill(children(martlet)[0], 15)
    recording.wait("ready> $", len(recording.text) - 1)
    assert recording.text.count(name) == 20
    assert recording.code() == 3


def test_a_new_size_reaches_the_program_once(recording):
    for time in range(1, 21):
        recording.resize(24, 80 + time)
        recording.wait(f"(?:SIGWINCH[^$]*){{{time}}}")
    recording.type("\x03")
    recording.wait("SIGINT")
    assert recording.text.count("SIGWINCH") == 20


def test_the_exit_code_is_that_of_ctrl_c(shell):
    shell.job("sleep", "600")
    start = len(shell.text)
    shell.type("\x03")
    shell.wait("ready> $", start)
    assert shell.code() == 130


def test_the_shell_stops_and_continues_both(shell):
    both = shell.job("sleep", "600")
    for _ in range(3):
        start = len(shell.text)
        shell.type("\x1a")
        shell.wait(r"Stopped.*\n(.*\n)*ready> $", start)
        eventually(lambda: is_stopped(*both), what="both stopped")
        shell.type("fg\n")
        eventually(lambda: is_running(*both), what="both running again")
        eventually(lambda: shell.foreground() == os.getpgid(both[0]), what="both in the foreground")
    shell.type("\x03")
    shell.wait("ready> $", len(shell.text))
    assert shell.code() == 130


def test_a_stopped_job_continues_in_the_background(shell):
    both = shell.job("sleep", "600")
    shell.type("\x1a")
    shell.wait(r"Stopped.*\n(.*\n)*ready> $")
    shell.run("bg")
    eventually(lambda: is_running(*both), what="both running again")
    # Ctrl-C is for the shell now.
    shell.interrupt()
    assert is_running(*both)
    shell.run("kill %1; wait %1")
    assert shell.code() == 143


def test_a_program_in_the_background_that_reads_the_terminal_stops(shell):
    both = shell.job("cat", background=True)
    eventually(lambda: is_stopped(*both), what="both stopped")
    # The shell continues only what it knows to be stopped.
    eventually(lambda: "Stopped" in shell.run("jobs"), what="the shell's notice of it")
    start = len(shell.text)
    shell.type("fg\n")
    eventually(lambda: is_running(*both), what="both running again")
    shell.type("hello\n")
    shell.wait(r"hello\nhello\n", start)
    shell.type("\x04")
    shell.wait("ready> $", len(shell.text))
    assert shell.code() == 0


def test_an_interactive_shell_as_the_program(shell):
    start = len(shell.text)
    # Its prompts are on standard error, which is a file otherwise.
    martlet, program = shell.job("bash", "-c", "'export PS1=\"ready> \"; exec bash --norc --noprofile -i 2>/dev/tty'")
    shell.wait("(?s)\n.*ready> $", start)
    start = len(shell.text)
    shell.type("sleep 600\n")
    eventually(lambda: command_of(shell, program) == "sleep", what="the command in the foreground")
    shell.type("\x1a")
    shell.wait(r"Stopped.*\n(.*\n)*ready> $", start)
    # The inner shell has stopped its command, and neither itself nor Martlet.
    assert is_running(martlet, program)
    shell.run("kill %1; curl -s http://$MARTLET_ADDRESS/; echo")
    assert "\nok" in shell.text[start:]
    start = len(shell.text)
    shell.type("exit 4\n")
    shell.wait(r"^exit\nready> $", start)
    assert shell.code() == 4


def test_a_terminal_that_hangs_up_ends_the_job(shell):
    both = shell.job("sleep", "600")
    shell.stop()
    eventually(lambda: all(state(process) in "XZ" for process in both), what="the end of both")
