"""A container of the image, run by runc the way that Docker and Kubernetes run one."""

import json
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

import dockerfile
from support.program import Program

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
MOST_FILES = 16384 if HARD == resource.RLIM_INFINITY else min(HARD, 16384)
SYSTEM = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "strictatime", "mode=755"]},
    {"destination": "/dev/pts", "type": "devpts", "source": "devpts", "options": ["nosuid", "noexec", "newinstance"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "noexec", "nodev", "mode=1777"]},
    {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["nosuid", "noexec", "nodev", "ro"]},
]


def mount(source, target, mode="rw"):
    return {"destination": target, "type": "bind", "source": str(source), "options": ["bind", mode]}


class Container(Program):
    """A running container: without capabilities, with a network of its own that is loopback alone.

    `mounts` are sources by target; `read_only` is `docker run --read-only`; without `volumes` the image's volumes are
    left out, as CRI-O does. `memory` bounds it, in bytes. With `network`, the container is in the machine's network. What
    runs is the entry point with `arguments`; in another image, `entry` and `environment` replace what this one says.
    """

    def __init__(
        self, root, directory, *arguments, user=dockerfile.USER, read_only=False, volumes=True, mounts=(), memory=None, network=False,
        entry=dockerfile.ENTRYPOINT, environment=dockerfile.ENVIRONMENT,
    ):
        isolated = ["pid", "ipc", "uts", "mount"] + ([] if network else ["network"])
        self.mounts = dict(mounts)
        self.name = f"martlet-{os.getpid()}-{time.monotonic_ns()}"
        self.directory = Path(directory)
        self._state = self.directory / "state"
        bundle = self.directory / "bundle"
        bundle.mkdir(parents=True)
        places = [mount(source, target) for target, source in self.mounts.items()]
        places += [self._volume(root, path) for path in dockerfile.VOLUMES if volumes and path not in self.mounts]
        specification = {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": user[0], "gid": user[1]},
                "args": [*entry, *arguments],
                "env": [f"PATH={PATH}", *(f"{name}={value}" for name, value in environment.items())],
                "cwd": "/",
                "capabilities": {},
                "noNewPrivileges": True,
                "rlimits": [{"type": "RLIMIT_NOFILE", "soft": min(1024, MOST_FILES), "hard": MOST_FILES}],
            },
            "root": {"path": str(root), "readonly": read_only},
            "hostname": "martlet",
            "mounts": SYSTEM + places,
            "linux": {
                "namespaces": [{"type": kind} for kind in isolated],
                "cgroupsPath": f"/{self.name}",
                "resources": {"devices": [{"allow": False, "access": "rwm"}]} | ({"memory": {"limit": memory}} if memory else {}),
                "readonlyPaths": ["/proc/sys", "/proc/irq", "/proc/bus"],
                "maskedPaths": ["/proc/kcore", "/sys/firmware"],
            },
        }
        (bundle / "config.json").write_text(json.dumps(specification))
        super().__init__(self._runc("run", "--bundle", bundle, self.name))

    def _runc(self, *arguments):
        return ["runc", "--root", self._state, *arguments]

    def _try(self, *arguments, within=10):
        return subprocess.run(list(map(str, self._runc(*arguments))), capture_output=True, text=True, timeout=within)

    def _volume(self, root, path):
        """An empty volume with the owner and the mode that the image's directory has."""
        volume = self.directory / "volumes" / path.strip("/").replace("/", "-")
        volume.mkdir(parents=True)
        status = (root / path.lstrip("/")).stat()
        os.chown(volume, status.st_uid, status.st_gid)
        volume.chmod(status.st_mode)
        return mount(volume, path)

    def wait(self):
        """Waits until Martlet says that it is ready, and returns the container."""
        self.stderr.wait(r"\bready\b")
        return self

    def exec(self, *command, within=10):
        """Runs a command in the container as its user, as `docker exec` and a probe do."""
        return self._try("exec", self.name, *command, within=within)

    def exec_as(self, user, *command):
        """Runs a command in the container as another user."""
        return self._try("exec", "--user", f"{user[0]}:{user[1]}", self.name, *command)

    def healthcheck(self):
        """The exit code of the image's health check."""
        return self.exec(*dockerfile.HEALTHCHECK).returncode

    def kill(self, signal):
        """Sends a signal to PID 1 of the container."""
        self._try("kill", self.name, signal).check_returncode()

    def _first(self):
        return json.loads(self._try("state", self.name).stdout)["pid"]

    def children(self):
        """(name, state) of each child of PID 1; state `Z` is a zombie."""
        first = self._first()
        found = []
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, _, rest = place.read_text().partition("(")[2].rpartition(")")
            except (FileNotFoundError, ProcessLookupError):
                continue
            state, parent = rest.split()[:2]
            if int(parent) == first:
                found.append((name, state))
        return found

    def memory(self):
        """The resident bytes of Martlet."""
        status = Path(f"/proc/{self._first()}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) << 10

    def mapped(self):
        """The files that Martlet has in memory: itself and its libraries, by their names in the image."""
        maps = Path(f"/proc/{self._first()}/maps").read_text()
        return set(re.findall(r" (/\S+)$", maps, re.MULTILINE)) - {"/dev/zero"}

    def inside(self, *command, **options):
        """Starts a program of this machine in the container's network, where another container of its pod would be."""
        return Program(["nsenter", f"--target={self._first()}", "--net", *command], **options)

    def curl(self, *arguments):
        """Runs the machine's curl in the container's network; returns what it prints."""
        command = ["nsenter", f"--target={self._first()}", "--net", "curl", "--silent", "--max-time", "10", *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def stop(self):
        if self.process.poll() is None:
            self._try("kill", self.name, "KILL")
        self._try("delete", "--force", self.name)
        super().stop()
        shutil.rmtree(self.directory / "bundle", ignore_errors=True)
