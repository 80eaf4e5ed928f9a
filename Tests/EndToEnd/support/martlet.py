"""The daemon under test."""

import os
import re
import signal
import textwrap
from pathlib import Path

import httpx
import pytest

from support.http1.peer import connect
from support.http2 import h2_peer
from support.metrics import Metrics
from support.program import Program
from support.wait import eventually

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("MARTLET_BIN", ROOT / ".build/release/martlet")).absolute()
# The configuration files that are shipped; the others are for tests, Kubernetes, kustomize and Prometheus.
OTHERS = (".tests.yaml", ".k8s.yaml", "kustomization.yaml", ".prometheus.yaml")
SHIPPED = sorted(file for file in (ROOT / "etc").rglob("*.yaml") if not file.name.endswith(OTHERS))
# A descriptor set with a file that defines nothing, which is text as it happens.
DESCRIPTOR_SET = "\n\x0c\n\nshop.proto"
# Options of an httpx client without TLS. To load certificate authorities would cost each client 50 ms.
CLEAR_TEXT = {"trust_env": False, "verify": False}
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def endpoint(address):
    """What to connect to for an address as the log has it: (host, port), or the name of a Unix socket."""
    if address.startswith("unix:"):
        return address.removeprefix("unix:").replace("@", "\0", 1)
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


class Command(Program):
    """The binary with some arguments, run to its end or not."""

    def __init__(self, *arguments, environment=None, through=(), binary=BINARY, **options):
        environment = ENVIRONMENT | (environment or {})
        super().__init__([*through, binary, *arguments], env=environment, **options)


class Martlet(Command):
    """A running daemon with the given file, its admin socket beside it; ready when the constructor returns."""

    def __init__(self, configuration, directory, wait=True, admin=True, command=("run",), trailing=(), **options):
        self.directory = Path(directory)
        self.directory.mkdir(exist_ok=True)
        self.file = self.directory / "martlet.yaml"
        self.admin_socket = self.directory / "admin.sock"
        self._callers = []
        self._has_admin = admin
        self.write(configuration)
        super().__init__(*command, "-c", self.file, *trailing, **options)
        if wait:
            self.stderr.wait(r"\bready\b")

    def write(self, configuration):
        """Replaces the file as a whole, without a reload."""
        configuration = textwrap.dedent(configuration)
        if self._has_admin and not re.search(r"^admin:", configuration, re.MULTILINE):
            configuration += f"\nadmin: {{ address: unix:{self.admin_socket} }}\n"
        new = self.file.with_suffix(".new")
        new.write_text(configuration)
        new.replace(self.file)

    def reload(self, configuration=None, outcome="reloaded"):
        """Sends SIGHUP, with a new file if one is given, and waits for the outcome in the log."""
        if configuration is not None:
            self.write(configuration)
        pattern = rf" {outcome}\b"
        before = len(self.stderr.matches(pattern))
        self.signal(signal.SIGHUP)
        return self.stderr.wait(pattern, count=before + 1)

    # Where it listens

    @property
    def addresses(self):
        """The real address of each listener, in the order they were opened."""
        found = (match[1] for match in self.stderr.matches(r"\blistening address=(\S+)"))
        return [address for address in found if address != f"unix:{self.admin_socket}"]

    @property
    def address(self):
        """(host, port) or Unix name of the first listener."""
        return endpoint(self.addresses[0])

    @property
    def url(self):
        return f"http://{self.addresses[0]}"

    def connect(self, **options):
        """A raw connection to the first listener."""
        return connect(self.address, **options)

    def connect_h2(self, **options):
        """An HTTP/2 connection to the first listener, with prior knowledge."""
        self._callers.append(h2_peer.connect(self.address, **options))
        return self._callers[-1]

    def stop(self):
        for caller in self._callers:
            caller.close()
        super().stop()

    def http(self, **options):
        """An HTTP client for the first listener, in clear text."""
        if self.addresses[0].startswith("unix:"):
            options["transport"] = httpx.HTTPTransport(uds=self.address, **CLEAR_TEXT)
            return httpx.Client(base_url="http://localhost", **CLEAR_TEXT, **options)
        return httpx.Client(base_url=self.url, **CLEAR_TEXT, **options)

    # What it says of itself

    def admin(self, path, method="GET"):
        transport = httpx.HTTPTransport(uds=str(self.admin_socket), **CLEAR_TEXT)
        with httpx.Client(base_url="http://localhost", transport=transport, timeout=10) as client:
            return client.request(method, path)

    def metrics(self):
        return Metrics(self.admin("/metrics").text)

    def wait_for_rest(self):
        """Waits until no call and no connection is left but those it needs for itself."""

        def is_at_rest():
            metrics = self.metrics()
            return not (metrics.total("martlet_rpc_in_flight") or metrics.total("martlet_connections"))

        eventually(is_at_rest, what="the end of all calls and connections")

    # What the kernel says of it

    def _status(self, *keys):
        text = Path(f"/proc/{self.pid}/status").read_text()
        values = [int(re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024 for key in keys]
        return values[0] if len(values) == 1 else values

    def _roots(self, name):
        """A file of its /proc that is root's, since the daemon is not dumpable."""
        path = Path(f"/proc/{self.pid}/{name}")
        if path.owner() != "root" or os.geteuid() == 0:
            return path
        return pytest.skip(f"only root can use {path}")

    def rss(self):
        """Resident bytes now."""
        return self._status("VmRSS")

    def own_memory(self):
        """Resident bytes now without pages of files: more and more of the program is resident as more of it has run."""
        return self._status("RssAnon")

    def own_peak_memory(self):
        """About the most that `own_memory` has been since `reset_peak_memory`: pages of files count as they are now."""
        peak, files = self._status("VmHWM", "RssFile")
        return peak - files

    def reset_peak_memory(self):
        self._roots("clear_refs").write_text("5")

    def cpu_seconds(self):
        """The processor time it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def open_descriptors(self):
        return len(list(self._roots("fd").iterdir()))

    def open_files(self):
        """What its descriptors are of: `socket:[12345]`, or a path."""
        files = []
        for link in self._roots("fd").iterdir():
            try:
                files.append(os.readlink(link))
            except FileNotFoundError:
                pass  # closed meanwhile
        return files

    def thread_names(self):
        return [task.read_text().strip() for task in Path(f"/proc/{self.pid}/task").glob("*/comm")]

    def spool_files(self):
        """Its open files without a name."""
        return [file for file in self.open_files() if file.endswith("(deleted)")]

    def socket_inodes(self):
        """The inodes of its open sockets."""
        return {match[1] for file in self.open_files() if (match := re.fullmatch(r"socket:\[(\d+)\]", file))}

    def sockets(self):
        """Its TCP sockets over IPv4, as the kernel shows them: addresses, state, and the bytes that wait to be sent and read."""
        rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
        inodes = self.socket_inodes()
        return [" ".join(row[1:5]) for row in rows if row[9] in inodes]

    def listening_inodes(self, port):
        """The inodes of its sockets that listen on a TCP port of 127.0.0.1."""
        wanted = f"0100007F:{port:04X}"
        rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
        return {row[9] for row in rows if row[1] == wanted and row[3] == "0A"} & self.socket_inodes()
