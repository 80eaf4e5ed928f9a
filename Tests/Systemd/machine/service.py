"""A unit of a machine: its file, its settings, and what becomes of it."""

import re
import time

from support.callers import call
from support.wait import eventually

ADDRESS = ("127.0.0.1", 8080)


def responses(listen="127.0.0.1:8080", body="ok", delay="2s", more=""):
    """A configuration that needs no upstream: Martlet responds by itself, to /slow after `delay`."""
    return f"""
listen: {listen}
upstream: http://127.0.0.1:3000
{more}
interceptors:
  - metrics: {{}}
  - when: {{ path: /slow }}
    fault: {{ delay: {delay} }}
  - respond: {{ status: 200, body: "{body}" }}
"""


class Service:
    """A unit of Martlet in a machine, by its name, with the file that it reads."""

    def __init__(self, machine, unit="martlet.service", file="/etc/martlet/martlet.yaml"):
        self.machine = machine
        self.unit = unit
        self.file = file
        self._began = time.time()

    def configure(self, text):
        self.machine.write(self.file, text)

    def drop_in(self, text, unit=None):
        """Settings over and above those of the unit."""
        self.machine.write(f"/etc/systemd/system/{unit or self.unit}.d/test.conf", text)
        self.machine.run("systemctl daemon-reload")

    def control(self, verb, check=False, timeout=60):
        """What `systemctl VERB UNIT` says, with its exit code."""
        return self.machine.run(f"systemctl {verb} {self.unit}", check=check, timeout=timeout)

    def start(self, text=None):
        """Starts it, with a configuration text if there is one. It must come up."""
        if text is not None:
            self.configure(text)
        started = self.control("start")
        assert started.returncode == 0 and self.state == "active", started.stderr + self.log()

    def martlet(self, command):
        """Runs a command of Martlet as an operator would, by the unit's file."""
        return self.machine.run(f"martlet {command} -c {self.file}", check=False)

    def show(self, name):
        return self.machine.run(f"systemctl show --value --property={name} {self.unit}").stdout.strip()

    def admin(self, method, page):
        """What root gets from the admin socket of martlet.service: status and text."""
        return call(page, self.machine.path("/run/martlet/admin.sock"), method)

    def wait_for_calls(self, count, within=5.0):
        """Waits until so many calls are under way."""
        line = f"martlet_rpc_in_flight {count}\n"
        eventually(lambda: line in self.admin("GET", "/metrics")[1], within, f"{count} calls under way")

    @property
    def state(self):
        return self.show("ActiveState")

    @property
    def pid(self):
        """The process id of the daemon on this side of the machine's border."""
        return self.machine.host_pid(self.show("MainPID"))

    def wait_for_state(self, state, within=10.0):
        eventually(lambda: self.state == state, within, f"{self.unit} being {state}")

    def wait_for_restart(self, number=1, within=15.0):
        """Waits until systemd has started it again `number` times, and it serves."""
        eventually(
            lambda: int(self.show("NRestarts")) >= number and self.state == "active",
            within,
            f"restart {number} of {self.unit}",
        )

    def errors(self):
        """The daemon's own error lines in the journal."""
        return self.entries(f"--priority=err _PID={self.show('MainPID')}")

    def entries(self, options=""):
        """The journal's entries of this unit since this object was made."""
        return self.machine.journal(self._began, f"--unit={self.unit} {options}")

    def log(self):
        """The journal of this unit as text."""
        return "\n".join(str(entry.get("MESSAGE")) for entry in self.entries())

    def wait_for_log(self, pattern, within=10.0):
        """Waits for a line; returns the match."""
        return eventually(lambda: re.search(pattern, self.log()), within, f"a line that matches {pattern}")
