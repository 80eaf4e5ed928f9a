"""The documents: their blocks of code, run as a reader would run them, and their links."""

import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from support.echo import Echo
from support.martlet import BINARY, ENVIRONMENT, ROOT, Command

# The pages whose examples are run. The reference is generated; the others have pictures and commands for maintainers.
RUN = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = [page for page in RUN if page.name != "reference.md"]

# What Martlet serves without a file.
DEMO = textwrap.dedent((ROOT / "Sources/Sidecar/Daemon/Demo.swift").read_text().split('"""\n')[1]).removesuffix(" " * 8)
NOT_RUN = re.compile(r"<!-- not run: .+ -->")
VARIABLES = re.compile(r"<!-- environment: (.+) -->")
# Every number of a port on this machine, as it stands in a URL, in a configuration and in Python.
PORT = re.compile(r"((?:127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1?\])(?::|\", | ))(\d{4,5})\b")
DIRECTORY = re.compile(r"(?<![\w./])/(?=(?:etc/martlet|run|tmp|var/log/martlet|var/lib|var/run)\b)")


@dataclass
class Block:
    """One block of code: its line on the page, the words behind the fence, its text and the comment above it."""

    line: int
    language: str
    text: str
    comment: str
    expected: str | None = None

    @property
    def is_run(self):
        return not NOT_RUN.search(self.comment) and self.language in ("yaml", "yaml part", "sh", "python")


def blocks(page):
    """The blocks of a page in their order. A text block behind another one is what that one is to write."""
    found, between = [], []
    lines = iter(enumerate(page.read_text().splitlines(), 1))
    for number, line in lines:
        if not line.startswith("```"):
            between.append(line)
            continue
        code = itertools.takewhile(lambda numbered: numbered[1] != "```", lines)
        text = "".join(f"{line}\n" for _, line in code)
        prose = [line for line in between if line.strip()]
        comment = next((line for line in reversed(between[-1:]) if line.startswith("<!--")), "")
        language = line.removeprefix("```").strip()
        if language == "text" and found and found[-1].expected is None and len(prose) <= 1:
            found[-1].expected = text
        else:
            found.append(Block(number, language, text, comment))
        between = []
    return found


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


def visible(output):
    """An output as a terminal shows it."""
    return "\n".join(line.rstrip() for line in output.replace("\0", "").split("\n")).rstrip()


def free_port(digits):
    """A free port with so many digits, so that lengths in the documents stay as they are."""
    candidates = range(1100, 10000) if digits == 4 else range(10000, 32768)
    start = int.from_bytes(os.urandom(2)) % len(candidates)
    for port in itertools.chain(candidates[start:], candidates[:start]):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


class Reader:
    """Somebody who reads one page from top to bottom and does what it says, in a directory and with ports of their own."""

    def __init__(self, page):
        self._page = page
        self._blocks = blocks(page)
        self._outcomes = []
        self._ports = {}
        self._stack = ExitStack()
        # Short, since the path of a Unix socket has to be.
        self._directory = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="d", dir="/tmp")))
        self._file = self._directory / "etc/martlet/martlet.yaml"
        self._configuration = None
        self._variables = {}
        self._martlet = None
        self._upstream = None
        for name in ["etc/martlet", "run/martlet", "run/secrets", "tmp", "var/log/martlet", "home", "bin"]:
            (self._directory / name).mkdir(parents=True)
        (self._directory / "bin/martlet").symlink_to(BINARY)

    def outcome(self, line):
        """What became of the block at a line, after all blocks above it: None if it is as good as it looks, else the error."""
        for block in self._blocks[len(self._outcomes) :]:
            self._outcomes.append((block.line, self._attempt(block)))
            if block.line == line:
                break
        return dict(self._outcomes)[line]

    def stop(self):
        self._stop_martlet()
        self._stop_upstream()
        self._stack.close()

    def _attempt(self, block):
        if not block.is_run:
            return None
        try:
            if block.language.startswith("yaml"):
                self._check(block)
            elif block.language == "sh":
                self._run(block)
            else:
                self._start_program(block)
        except AssertionError as error:
            return str(error)
        return None

    # What stands on the page, and what it is here

    def _local(self, text):
        """A text of the page with the ports and the paths of this reader."""
        text = PORT.sub(lambda match: match[1] + self._port(match[2]), text)
        text = text.replace(".build/release/martlet", "martlet")
        return DIRECTORY.sub(f"{self._directory}/", text)

    def _port(self, number):
        if number not in self._ports:
            self._ports[number] = str(free_port(len(number)))
        return self._ports[number]

    @property
    def _environment(self):
        path = f"{self._directory}/bin:{Path(sys.executable).parent}:{ENVIRONMENT['PATH']}"
        return ENVIRONMENT | {"PATH": path, "MARTLET_CONFIG": str(self._file), "HOME": str(self._directory / "home")} | self._variables

    # The kinds of blocks

    def _check(self, block):
        self._stop_martlet()
        configuration = block.text if block.language == "yaml" else whole(block.text)
        self._configuration = self._local(configuration)
        self._variables = {name: "value" for name in re.findall(r"\{?env:\s*(\w+)", configuration)}
        if match := VARIABLES.search(block.comment):
            self._variables |= dict(pair.split("=", 1) for pair in match[1].split())
        self._file.write_text(self._configuration)
        result = subprocess.run(
            [BINARY, "check", "-c", self._file], env=self._environment, cwd=self._directory / "home", capture_output=True, text=True, timeout=20
        )
        assert result.returncode == 0, f"{self._page.name}:{block.line}: martlet check:\n{result.stdout}{result.stderr}"

    def _run(self, block):
        self._start_upstream()
        self._start_martlet()
        # Into files, since what a block leaves running keeps a pipe open.
        output, errors = (self._directory / f"block-{block.line}.{name}" for name in ("out", "err"))
        with output.open("w") as out, errors.open("w") as err:
            process = subprocess.Popen(
                ["bash", "-c", self._local(block.text)],
                env=self._environment,
                cwd=self._directory / "home",
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._stack.callback(self._end_group, process.pid)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{self._page.name}:{block.line}: it does not end") from error
        output, errors = output.read_text(errors="replace"), errors.read_text(errors="replace")
        said = f"{visible(output)}\n--- its standard error\n{errors}\n--- the log of Martlet\n{self._martlet.stderr.text if self._martlet else ''}"
        if block.expected is None:
            assert process.returncode == 0, f"{self._page.name}:{block.line}: exit code {process.returncode}\n{said}"
            return
        expected = self._local(block.expected)
        assert pattern(expected).fullmatch(visible(output)), f"{self._page.name}:{block.line}: expected\n{expected}\nbut it says\n{said}"

    def _start_program(self, block):
        """Starts a Python program, and waits until it ends or listens on the ports that it names."""
        text = self._local(block.text)
        ports = [match[2] for match in PORT.finditer(text)]
        if "8080" in block.text:
            self._start_martlet()
        if "3000" in block.text:
            self._stop_upstream()
        output = self._directory / f"program-{block.line}"
        with output.open("w") as file:
            process = subprocess.Popen(
                [sys.executable, "-c", text], env=self._environment, cwd=self._directory / "home", stdout=file, stderr=file, start_new_session=True
            )
        self._stack.callback(self._end_group, process.pid)
        deadline = time.monotonic() + 20
        while process.poll() is None and (block.expected or not all(accepts(port) for port in ports)):
            assert time.monotonic() < deadline, f"{self._page.name}:{block.line}: neither ends nor listens"
            time.sleep(0.05)
        said = output.read_text()
        assert process.poll() in (None, 0), f"{self._page.name}:{block.line}: it fails\n{said}"
        if block.expected is not None:
            assert pattern(self._local(block.expected)).fullmatch(visible(said)), f"{self._page.name}:{block.line}: it says\n{said}"

    # What runs beside the page

    def _start_upstream(self):
        port = int(self._port("3000"))
        # A program of the page may be there.
        if not accepts(port):
            self._upstream = Echo(port)

    def _stop_upstream(self):
        if self._upstream:
            self._upstream.stop()
            self._upstream = None

    def _start_martlet(self):
        """Starts Martlet with the last configuration of the page, or the demo; one that runs is left as it is.

        The file holds what stands on the page again, whatever a block before has done to it.
        """
        if self._configuration is not None:
            self._file.write_text(self._configuration)
        if self._martlet and self._martlet.process.poll() is None:
            return
        self._stop_martlet()
        if self._configuration is None:
            self._configuration = self._local(DEMO)
            self._file.write_text(self._configuration)
        self._martlet = Command("run", "-c", self._file, environment=self._environment, cwd=self._directory / "home")
        self._martlet.stderr.wait(r"\bready\b")

    def _stop_martlet(self):
        if self._martlet:
            self._martlet.process.kill()
            self._martlet.stop()
            self._martlet = None

    @staticmethod
    def _end_group(leader):
        """Ends what a block has left running: its process group."""
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            pass


def accepts(port):
    """Whether somebody listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


# Links

LINK = re.compile(r"\]\(([^()\s]+)\)")


def links(page):
    """(line, target) of each link of a page to a file of this repository or to a heading."""
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        if not is_code:
            for match in LINK.finditer(re.sub(r"`[^`]*`", lambda code: "`" + "x" * (len(code[0]) - 2) + "`", line)):
                if not re.match(r"\w+:", match[1]):
                    yield number, match[1]


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found, is_code = [], False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            is_code = not is_code
        if not is_code and (match := re.match(r"#+ (.*)", line)):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
            found.append(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return {f"{anchor}-{found[:index].count(anchor)}" if anchor in found[:index] else anchor for index, anchor in enumerate(found)}


def broken(page, target):
    """Why a link leads nowhere, or None."""
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if not file.exists():
        return f"{path} is missing"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{file.name} has no heading #{anchor}"
    return None
