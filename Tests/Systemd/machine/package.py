"""Debian packages of Martlet: one of a version, and one of an earlier version that knows one key less."""

import os
import shutil
import subprocess
from pathlib import Path

from support.martlet import BINARY, ROOT

# The earlier version has another name for this key of `validate`.
NEW_KEY = "retriable_status"


def build(binary, version, directory, **environment):
    """Makes the packages of a program with scripts/build-deb; returns the path of the first."""
    told = subprocess.check_output(
        [ROOT / "scripts/build-deb", directory],
        text=True,
        env=os.environ | {"BINARY": str(binary), "VERSION": version} | environment,
    )
    return Path(told.splitlines()[0])


def build_two(directory):
    """The earlier package and the later one. Programs are copies, so that the packages of their symbols are not made."""
    later, earlier = directory / "later/martlet", directory / "earlier/martlet"
    for program in [later, earlier]:
        program.parent.mkdir()
        shutil.copy(BINARY, program)
    code = earlier.read_bytes()
    key = NEW_KEY.encode()
    assert code.count(key) == 1
    earlier.write_bytes(code.replace(key, key[:-2] + b"XX"))
    return build(earlier, "7.0.0", directory), build(later, "7.1.0", directory)


class Installation:
    """What dpkg does to a machine with these packages."""

    def __init__(self, machine, earlier, later):
        self.machine = machine
        self.earlier, self.later = (self._copy(package) for package in (earlier, later))

    def _copy(self, package):
        shutil.copy(package, self.machine.path("/root") / package.name)
        return f"/root/{package.name}"

    def install(self, package, check=True):
        command = f"DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends --allow-downgrades {package}"
        return self.machine.run(command, check=check, timeout=80)

    def version(self):
        """The status and the version of the installed package."""
        return self.machine.run("dpkg-query --show --showformat='${db:Status-Status} ${Version}' martlet", check=False).stdout

    def files(self):
        """Every file of the machine by its path, without those that dpkg, systemd and its journal keep for themselves."""
        kept = "/var/(lib/(dpkg|apt|systemd)|log/(journal|apt|dpkg.log|alternatives.log)|cache)|/run/(systemd|log|utmp|udev|dbus)|/tmp|/root"
        find = f"find / /run -xdev | grep -Ev '^({kept})(/|$)|^/(var/tmp/systemd|etc/(passwd|group|g?shadow)-|etc/[.]pwd.lock)'"
        users = self.machine.run("getent passwd; getent group; find /var/cache -path '*martlet*'").stdout
        return set(self.machine.run(find).stdout.split() + users.splitlines())
