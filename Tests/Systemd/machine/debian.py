"""A Debian with Martlet installed, booted under systemd in namespaces of its own."""

import json
import os
import subprocess
from pathlib import Path

from machine.network import network_of
from support.martlet import BINARY, ROOT
from support.wait import eventually

NAMESPACES = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"]
# The filter of nspawn forbids these, and with them the sandbox that users get.
LANDLOCK = "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self"
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}


class Debian:
    """A machine of a suite. Its root is a copy below `directory`, so that what a test does there stays there.

    Martlet is there as `make install` installs it, unless the machine is to be bare.
    """

    def __init__(self, suite, directory, bare=False):
        self.suite = suite
        self.root = directory / "root"
        kept = subprocess.check_output([ROOT / "scripts/systemd-root", suite], text=True).strip()
        subprocess.run(["cp", "--archive", "--reflink=auto", kept, self.root], check=True)
        install = ["make", "install", f"DESTDIR={self.root}", "PREFIX=/usr", f"BINARY={BINARY}"]
        if not bare:
            subprocess.run(install, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        self._console = directory / "console"
        with self._console.open("wb") as console:
            self._nspawn = subprocess.Popen(
                # setpriv: the machine does not outlive the tests, however they end.
                ["setpriv", "--pdeathsig", "TERM", "systemd-nspawn", "--quiet", "--boot", "--directory", self.root]
                + ["--register=no", "--keep-unit", "--private-network", "--console=pipe", LANDLOCK]
                + [f"--machine=martlet-{'bare-' * bare}{suite}-{os.getpid()}"],
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
            )
        try:
            self.leader = eventually(self._find_leader, 20, "the machine's first process")
            eventually(lambda: self._state() in ("running", "degraded"), 40, "a booted machine")
        except BaseException:
            print(self._console.read_text(errors="replace"))
            self.stop()
            raise
        assert self._state() == "running", self.run("systemctl --failed").stdout

    def _find_leader(self):
        assert self._nspawn.poll() is None, self._console.read_text(errors="replace")
        pid = self._nspawn.pid
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if os.readlink(f"/proc/{child}/ns/pid") != os.readlink("/proc/self/ns/pid"):
                return int(child)

    def _state(self):
        return self.run("systemctl is-system-running", check=False).stdout.strip()

    def run(self, command, *, user=None, check=True, timeout=60):
        """Runs a line of shell in the machine, as root or as `user` with all groups of that user."""
        command = ["sh", "-c", command]
        if user:
            command = ["runuser", "-u", user, "--", *command]
        result = subprocess.run(
            ["nsenter", "--target", str(self.leader), *NAMESPACES, *command],
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        if check:
            assert result.returncode == 0, f"{command} ended with {result.returncode}: {result.stdout}{result.stderr}"
        return result

    def path(self, path):
        """The path by which this process reaches a file of the machine, also one in a tmpfs there."""
        return Path(f"/proc/{self.leader}/root{path}")

    def write(self, path, text, mode=0o644):
        file = self.path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    def network(self):
        return network_of(self.leader)

    def host_pid(self, pid):
        """The process id here of a process id there."""
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                ids = status.read_text().partition("NSpid:")[2].partition("\n")[0].split()
                mine = os.readlink(status.parent / "ns/pid") == os.readlink(f"/proc/{self.leader}/ns/pid")
            except OSError:
                continue
            if mine and ids[-1] == str(pid):
                return int(ids[0])
        raise AssertionError(f"no process {pid} in {self.suite}")

    def journal(self, since, options=""):
        """The entries since a time in seconds, as of `time.time()`.

        Not since a cursor: with that, journalctl of systemd 252 leaves out the first line of a priority.
        """
        lines = self.run(f"journalctl --sync; journalctl --quiet --all --output=json --since=@{since:.6f} {options}").stdout
        return [json.loads(line) for line in lines.splitlines()]

    def stop(self):
        self._nspawn.terminate()
        try:
            self._nspawn.wait(20)
        except subprocess.TimeoutExpired:
            self._nspawn.kill()
            self._nspawn.wait()
        subprocess.run(["rm", "-rf", "--one-file-system", self.root], check=True)
