"""With `core_dumps`, a crash leaves a core that shows a debugger the stack of each thread and contains no secret."""

import re
import resource
import secrets
import shutil
import signal
import subprocess

import pytest

from process.crash import PATTERN, signal_thread, symbols
from support.martlet import BINARY
from support.users import need_root

pytestmark = pytest.mark.alone

# What of a secret may be left, in a register.
PIECE = 12


@pytest.fixture
def cores(tmp_path):
    """A directory in which cores are dumped, whatever the machine does with others."""
    need_root()
    before = PATTERN.read_text()
    try:
        PATTERN.write_text(f"{tmp_path}/core.%p")
    except OSError:
        pytest.skip("where cores are dumped cannot be changed here")
    limit = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, limit[1]))
        yield tmp_path
    finally:
        PATTERN.write_text(before)
        resource.setrlimit(resource.RLIMIT_CORE, limit)


class Secrets:
    """Values that are found in a core as a whole and in pieces."""

    def __init__(self):
        names = ["token of a file", "token of the environment", "header of a caller", "body", "response"]
        self.values = {name: secrets.token_hex(32) for name in names}

    def __getitem__(self, name):
        return self.values[name]

    def found(self, memory):
        """Of which of them there is a piece."""
        def is_in(value):
            return any(value[i : i + PIECE].encode() in memory for i in range(len(value) - PIECE + 1))

        return sorted(name for name, value in self.values.items() if is_in(value))


def memory(pid):
    """All of a process's memory that can be written."""
    found = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as file:
        for start, end in re.findall(r"^(\w+)-(\w+) rw", maps.read(), re.MULTILINE):
            file.seek(int(start, 16))
            found.append(file.read(int(end, 16) - int(start, 16)))
    return b"".join(found)


@pytest.fixture
def planted():
    return Secrets()


@pytest.fixture
def busy(martlet, recorder, planted, tmp_path):
    """Starts a daemon that has secrets, calls that have ended, and one under way on each of many connections."""
    (tmp_path / "token").write_text(planted["token of a file"])
    response = planted["response"].encode()

    def script(peer):
        # A body that is not whole is waited for.
        while peer.request():
            peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(response), response))

    def start(more=""):
        tokens = [f"token: {{ file: {tmp_path}/token }}", "token: { env: TOKEN, header: x-env }"]
        chain = ", ".join(f"{{ {item} }}" for item in [*tokens, "log: {}"])
        proxy = martlet(
            upstream=recorder(script=script).url,
            more=f"workers: 2\n{more}\ninterceptors: [ {chain} ]",
            environment={"TOKEN": planted["token of the environment"]},
        )
        with proxy.http(headers={"x-secret": planted["header of a caller"]}) as http:
            for _ in range(20):
                assert http.post("/", content=planted["body"]).text == planted["response"]
        head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n"
        head += f"x-secret: {planted['header of a caller']}\r\n\r\n"
        proxy.callers = [proxy.connect() for _ in range(8)]
        for caller in proxy.callers:
            caller.send((head + planted["body"]).encode())
        return proxy

    return start


def dumped(directory, proxy, number=signal.SIGSEGV, thread=None):
    """Ends the daemon by a signal; returns its core, None if there is none."""
    if thread:
        signal_thread(proxy.pid, thread, number)
    else:
        proxy.signal(number)
    assert proxy.exit_code() == -number
    file = directory / f"core.{proxy.pid}"
    return file if file.exists() else None


@pytest.mark.parametrize("thread", [None, "martlet-0", "martlet-1"])
def test_no_secret(cores, busy, planted, thread):
    proxy = busy("core_dumps: true")
    # Calls that came later may have overwritten the responses.
    assert {*planted.found(memory(proxy.pid)), "response"} == {*planted.values}
    core = dumped(cores, proxy, thread=thread).read_bytes()
    assert len(core) > 1 << 20
    assert planted.found(core) == []


def test_stacks(cores, busy, tmp_path):
    """A debugger finds its way by the symbol file of the same build ID."""
    if not shutil.which("gdb"):
        pytest.skip("there is no gdb")
    core = dumped(cores, busy("core_dumps: true"), thread="martlet-1")
    notes = subprocess.check_output(["readelf", "-n", BINARY], text=True)
    arguments = []
    if build := re.search(r"Build ID: (..)(\w+)", notes):
        directory = tmp_path / "symbols/.build-id" / build[1]
        directory.mkdir(parents=True)
        shutil.copy(symbols(), directory / f"{build[2]}.debug")
        arguments = ["-iex", f"set debug-file-directory {tmp_path}/symbols"]
    stripped = tmp_path / "stripped"
    subprocess.run(["strip", "-s", "-o", stripped, BINARY], check=True)
    command = ["gdb", "-batch", "-nx", *arguments, "-ex", "thread apply all bt", stripped, core]
    text = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    assert "Program terminated with signal SIGSEGV" in text
    threads = text.split("\nThread ")[1:]
    assert len(threads) >= 4
    assert sum("EventLoop" in thread for thread in threads) >= 3, text
    assert "WorkerPool" in next(thread for thread in threads if thread.startswith("1 "))


def test_without_privileges(cores, as_nobody, planted):
    """As the service runs: the core is that user's."""
    cores.chmod(0o777)
    for parent in cores.parents[:2]:
        parent.chmod(0o755)
    environment = {"TOKEN": planted["token of the environment"]}
    token = "interceptors: [ token: { env: TOKEN } ]\ncore_dumps: true"
    proxy = as_nobody("http://127.0.0.1:9", token, environment=environment)
    core = dumped(cores, proxy)
    assert core.owner() == "nobody" and core.stat().st_size > 1 << 20
    assert planted.found(core.read_bytes()) == []


def test_no_core_is_dumped_by_default(cores, busy):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    assert dumped(cores, busy()) is None


def test_a_change_needs_a_restart(martlet):
    proxy = martlet(upstream="http://127.0.0.1:9")
    proxy.reload("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\ncore_dumps: true\n")
    proxy.stderr.wait("a change of core_dumps requires a restart")
