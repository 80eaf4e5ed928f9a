"""A reader of the documents, who runs their blocks of code."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path

from support.documents import blocks
from support.martlet import BINARY, ENVIRONMENT, ROOT, Command
from support.wait import eventually
from support.program import Program

# What Martlet serves without a file.
DEMO = textwrap.dedent((ROOT / "Sources/Sidecar/Daemon/Demo.swift").read_text().split('"""\n')[1]).removesuffix(" " * 8)
VARIABLES = re.compile(r"<!-- environment: (.+) -->")
# Every number of a port on this machine, as it stands in a URL, in a configuration and in Python.
PORT = re.compile(r"((?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\])(?::|\", | ))(\d{4,5})\b")
DIRECTORY = re.compile(r"(?<![\w./])/(?=(?:etc/martlet|run|tmp|var/log/martlet|var/lib|var/run)\b)")


class Wrong(Exception):
    """A block does not do what the page says."""


def accepts(port):
    """Whether somebody listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


def whole(configuration):
    """A fragment of a configuration with the listener and the upstream that it lacks."""
    if not re.search(r"^listen(ers)?:", configuration, re.MULTILINE):
        configuration = f"listen: 127.0.0.1:8080\n{configuration}"
    if not re.search(r"^upstreams?:", configuration, re.MULTILINE):
        configuration = f"{configuration}upstream: http://127.0.0.1:3000\n"
    return configuration


def pattern(expected):
    """A pattern for an expected output, in which `…` stands for anything within a line."""
    lines = [re.escape(line.rstrip()).replace("…", ".*") for line in expected.rstrip().split("\n")]
    return re.compile("\n".join(lines))


def visible(file):
    """What a program has written, as a terminal shows it."""
    text = file.read_text(errors="replace").replace("\0", "")
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def free_port(digits, taken):
    """A free port with so many digits, so that lengths in the documents stay as they are."""
    candidates = range(1100, 10000) if digits == 4 else range(10000, 24000)
    for port in random.sample(candidates, len(candidates)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if str(port) not in taken:
            return str(port)
    raise AssertionError("no port is free")


class Reader:
    """Reads one page from top to bottom and does what it says, in a directory and with ports of its own."""

    def __init__(self, page):
        self._blocks = blocks(page)
        self._outcomes = {}
        self._ports = {}
        self._stack = ExitStack()
        # Short, since the path of a Unix socket has to be.
        self._directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="d", dir="/tmp")))
        for name in ["etc/martlet", "run/martlet", "run/secrets", "tmp", "var/log/martlet", "home", "bin"]:
            (self._directory / name).mkdir(parents=True)
        (self._directory / "bin/martlet").symlink_to(BINARY)
        self._file = self._directory / "etc/martlet/martlet.yaml"
        self._configuration = DEMO
        self._variables = {}
        self._martlet = None
        self._upstream = None

    def error(self, line):
        """Runs all blocks down to the one at a line that have not run yet; says what is wrong with that one, or None."""
        for block in self._blocks:
            if block.line not in self._outcomes:
                self._outcomes[block.line] = self._run(block) if block.is_run else None
            if block.line == line:
                break
        return self._outcomes[line]

    def stop(self):
        self._stop_martlet()
        self._stop_upstream()
        self._stack.close()

    def _run(self, block):
        run = {"sh": self._run_commands, "python": self._run_program}.get(block.language, self._check)
        try:
            run(block)
        except (Wrong, AssertionError) as error:
            return str(error)

    # What stands on the page, and what it is here

    def _local(self, text):
        """A text of the page with the ports and the paths of this reader."""
        text = PORT.sub(lambda match: match[1] + self._port(match[2]), text)
        text = text.replace(".build/release/martlet", "martlet")
        return DIRECTORY.sub(f"{self._directory}/", text)

    def _port(self, number):
        if number not in self._ports:
            self._ports[number] = free_port(len(number), self._ports.values())
        return self._ports[number]

    @property
    def _options(self):
        """How programs are started: as in a shell of the reader's."""
        path = f"{self._directory}/bin:{Path(sys.executable).parent}:{ENVIRONMENT['PATH']}"
        more = {"PATH": path, "MARTLET_CONFIG": str(self._file), "HOME": str(self._directory / "home")}
        return {"env": ENVIRONMENT | more | self._variables, "cwd": self._directory / "home"}

    # The kinds of blocks

    def _check(self, block):
        """Makes a block the configuration of the page from here on, and checks it."""
        self._stop_martlet()
        self._configuration = block.text if block.language == "yaml" else whole(block.text)
        self._variables = {name: "value" for name in re.findall(r"\{?env:\s*(\w+)", self._configuration)}
        if match := VARIABLES.search(block.comment):
            self._variables |= dict(pair.split("=", 1) for pair in match[1].split())
        self._write_configuration()
        command = [BINARY, "check", "-c", self._file]
        result = subprocess.run(command, capture_output=True, text=True, timeout=20, **self._options)
        if result.returncode != 0:
            raise Wrong(f"martlet check says:\n{result.stdout}{result.stderr}")

    def _run_commands(self, block):
        """Runs commands with Martlet and an upstream beside them."""
        self._start_upstream()
        self._start_martlet()
        process, output, errors = self._start(["bash", "-c", self._local(block.text)], block)
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired as error:
            raise Wrong("it does not end") from error
        said = f"{visible(output)}\n--- standard error\n{visible(errors)}\n--- Martlet\n{self._martlet.stderr.text}"
        if block.expected is None and code != 0:
            raise Wrong(f"it exits with {code} and says\n{said}")
        self._compare(block, output, said)

    def _run_program(self, block):
        """Starts a Python program, and waits until it ends or listens on the ports that it names."""
        if "8080" in block.text:
            self._start_martlet()
        if "3000" in block.text:
            self._stop_upstream()
        text = self._local(block.text)
        ports = [match[2] for match in PORT.finditer(text)]
        process, output, errors = self._start([sys.executable, "-c", text], block)
        deadline = time.monotonic() + 20
        while process.poll() is None and (block.expected or not all(accepts(port) for port in ports)):
            if time.monotonic() > deadline:
                raise Wrong("it neither ends nor listens")
            time.sleep(0.05)
        if process.poll():
            raise Wrong(f"it fails:\n{visible(errors)}")
        self._compare(block, output, visible(errors))

    def _start(self, command, block):
        """Starts a program in a group of its own, which ends with the page.

        Its output goes into files, since what a block leaves running would keep a pipe open.
        """
        output, errors = (self._directory / f"{block.line}.{name}" for name in ("out", "err"))
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, **self._options
            )
        self._stack.callback(self._end_group, process)
        return process, output, errors

    def _compare(self, block, output, said):
        if block.expected is not None:
            expected = self._local(block.expected)
            if not pattern(expected).fullmatch(visible(output)):
                raise Wrong(f"expected:\n{expected}\nbut it says:\n{visible(output)}\n---\n{said}")

    # What runs beside the page

    def _start_upstream(self):
        port = self._port("3000")
        # A program of the page may be there.
        if not accepts(port):
            self._upstream = Program([sys.executable, ROOT / "Examples/echo.py", port])
            eventually(lambda: accepts(port), what="the upstream of the examples")

    def _stop_upstream(self):
        if self._upstream:
            self._upstream.stop()
            self._upstream = None

    def _write_configuration(self):
        self._file.write_text(self._local(self._configuration))

    def _start_martlet(self):
        """Starts Martlet with the last configuration of the page; one that runs is left as it is.

        The file holds what stands on the page again, whatever a block before has done to it.
        """
        self._write_configuration()
        if self._martlet and self._martlet.process.poll() is None:
            return
        self._stop_martlet()
        environment, directory = self._options.values()
        self._martlet = Command("run", "-c", self._file, environment=environment, cwd=directory)
        self._martlet.stderr.wait(r"\bready\b")

    def _stop_martlet(self):
        if self._martlet:
            # At once: there may be calls that never end.
            self._martlet.process.kill()
            self._martlet.stop()
            self._martlet = None

    @staticmethod
    def _end_group(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
