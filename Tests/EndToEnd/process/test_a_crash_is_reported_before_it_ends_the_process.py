"""On a fatal signal Martlet writes the signal and the stacks of its threads to standard error. The signal still ends it."""

import fcntl
import os
import re
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from process.crash import signal_thread, symbols
from support.compiler import compiled
from support.martlet import ENVIRONMENT, ROOT

pytestmark = pytest.mark.alone

FRAME = r"crash: #\d+ \S+\+0x[0-9a-f]+$"


def report(proxy, number):
    """What has been written, once the process has ended of the signal."""
    assert proxy.exit_code() == -number
    lines = [line for line in proxy.stderr if line.startswith("crash: ")]
    assert re.fullmatch(r"crash: martlet \S+, build \w+, ended by .*", lines[0])
    return lines


def threads(lines):
    """The frames by the name of their thread; of those with one name, the first."""
    found = {}
    for line in lines[1:]:
        if name := re.fullmatch(r"crash: thread (\S+)", line):
            frames = found.setdefault(name[1], [])
        else:
            assert re.fullmatch(FRAME, line), line
            frames.append(line)
    return found


def symbolized(lines):
    """The report with the functions, in one text."""
    command = [ROOT / "scripts/symbolize", symbols()]
    return subprocess.run(command, input="\n".join(lines), check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.fixture
def crashing(martlet, tmp_path):
    """Starts a daemon of which a worker goes wrong at the first connection, in one of the ways of crash.c."""

    def start(way):
        library = compiled(Path(__file__).parent / "crash.c", tmp_path / "crash.so")
        proxy = martlet(upstream="http://127.0.0.1:9", environment={"LD_PRELOAD": library, "CRASH": way})
        try:
            proxy.connect().close()
        except ConnectionResetError:
            # The process ends while the connection is being made.
            assert proxy.exit_code() < 0
        return proxy

    return start


def test_a_write_to_an_invalid_address(crashing):
    lines = report(crashing("write"), signal.SIGSEGV)
    assert lines[0].endswith("ended by SIGSEGV at address 0x10")
    (name,) = threads(lines)
    assert re.fullmatch(r"martlet-\d+", name)
    assert re.search(r"#0 crash\.so\+0x", lines[2]) and re.search(r"#1 martlet\+0x", lines[3])
    text = symbolized(lines)
    assert "Listener" in text and ("EventLoop.run()" in text or "EventLoopC3runyyF" in text)


def test_an_abort(crashing):
    lines = report(crashing("abort"), signal.SIGABRT)
    assert lines[0].endswith("ended by SIGABRT")
    assert any("crash.so+0x" in line for line in lines) and any("martlet+0x" in line for line in lines)


def test_a_trap(crashing):
    """As of Swift's run-time checks; which of the two signals is the processor's."""
    proxy = crashing("trap")
    number = -proxy.exit_code()
    assert number in (signal.SIGILL, signal.SIGTRAP)
    assert f"ended by {signal.Signals(number).name}" in report(proxy, number)[0]


def test_a_stack_overflow(crashing):
    lines = report(crashing("overflow"), signal.SIGSEGV)
    frames = [frame for thread in threads(lines).values() for frame in thread]
    assert sum("crash.so+0x" in frame for frame in frames) > 50
    assert len(frames) <= 66


def test_a_signal_from_outside(martlet):
    """Such as a watchdog's, when it cannot know which thread hangs: all of them are reported."""
    proxy = martlet(upstream="http://127.0.0.1:9", more="workers: 3")
    proxy.signal(signal.SIGABRT)
    lines = report(proxy, signal.SIGABRT)
    assert re.search(r"SIGABRT from process \d+$", lines[0])
    found = threads(lines)
    assert {"martlet", "martlet-log", "martlet-0", "martlet-1", "martlet-2"} <= set(found)
    for name, frames in found.items():
        assert any("martlet+0x" in frame for frame in frames), name


def test_two_threads_that_crash_at_once(martlet):
    """One report is written, and the process ends of the first."""
    proxy = martlet(upstream="http://127.0.0.1:9", more="workers: 2")
    proxy.signal(signal.SIGSTOP)
    signal_thread(proxy.pid, "martlet-0", signal.SIGBUS)
    signal_thread(proxy.pid, "martlet-1", signal.SIGSEGV)
    proxy.signal(signal.SIGCONT)
    assert proxy.exit_code() in (-signal.SIGBUS, -signal.SIGSEGV)
    assert len(proxy.stderr.matches("ended by")) == 1


@contextmanager
def with_error_to(writing, binary, directory, **environment):
    """Runs a daemon whose standard error is the end of a pipe, which it closes here."""
    file = directory / "martlet.yaml"
    file.write_text("upstream: http://127.0.0.1:9\nlisten: 127.0.0.1:0\n")
    command = [binary, "run", "-c", file]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=writing, env=ENVIRONMENT | environment)
    os.close(writing)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_until_ready(journal, process):
    while " ready " not in journal.readline():
        assert process.poll() is None


def test_the_journal_shows_it_as_critical(binary, tmp_path):
    """Lines to the journal begin with their priority; the journal is what $JOURNAL_STREAM says."""
    reading, writing = os.pipe()
    stream = os.fstat(writing)
    environment = {"JOURNAL_STREAM": f"{stream.st_dev}:{stream.st_ino}"}
    with open(reading, encoding="utf-8") as journal, with_error_to(writing, binary, tmp_path, **environment) as process:
        wait_until_ready(journal, process)
        process.send_signal(signal.SIGSEGV)
        assert process.wait(10) == -signal.SIGSEGV
        lines = journal.read().splitlines()
    assert len(lines) > 5 and all(line.startswith("<2>crash: ") for line in lines)


def test_standard_error_that_is_full(binary, tmp_path):
    """The process ends of the signal all the same, without the report."""
    reading, writing = os.pipe()
    filler = os.dup(writing)
    with open(reading, encoding="utf-8") as journal, with_error_to(writing, binary, tmp_path) as process:
        wait_until_ready(journal, process)
        fcntl.fcntl(filler, fcntl.F_SETPIPE_SZ, 4096)
        assert os.write(filler, bytes(4096)) == 4096
        os.close(filler)
        process.send_signal(signal.SIGSEGV)
        assert process.wait(8) == -signal.SIGSEGV
        assert "crash" not in journal.read()
