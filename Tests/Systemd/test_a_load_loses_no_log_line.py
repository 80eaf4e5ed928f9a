"""A hundred thousand calls in a few seconds: every error is in the journal, and the access log is whole, rotated meanwhile."""

import json
import re
import subprocess

import pytest

from machine.service import responses
from support.wait import eventually

REJECTIONS = 20
CLIENTS = 16


@pytest.fixture
def flood(machine, service):
    """Makes calls for some seconds while the service gets bad files; `meanwhile` runs in the middle."""

    def start(log, calls, seconds, meanwhile=lambda: None):
        service.start(responses().replace("  - metrics: {}", f"  - metrics: {{}}\n  - log: {log}"))
        service.configure("listn: 1\n")
        rate = calls // CLIENTS // seconds
        command = ["h2load", "--h1", f"--requests={calls}", f"--clients={CLIENTS}", f"--rps={rate}"]
        command.append("http://127.0.0.1:8080/")
        callers = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for number in range(REJECTIONS):
            eventually(lambda: responded(service) > calls * number / REJECTIONS, 60, "calls")
            assert service.admin("POST", "/reload")[0] == 422
            if number == REJECTIONS // 2:
                meanwhile()
        said = callers.communicate(timeout=60)[0]
        assert f" {calls} succeeded, 0 failed, 0 errored" in said, said
        print(said)

    return start


def responded(service):
    """How many calls have got a response so far."""
    counts = re.findall(r"^martlet_rpc_handled_total{.*} (\d+)$", service.admin("GET", "/metrics")[1], re.M)
    return sum(map(int, counts))


def every_rejection_is_logged(service):
    def reported():
        return [entry for entry in service.errors() if "reload rejected" in entry["MESSAGE"]]

    eventually(lambda: len(reported()) == REJECTIONS, what="a line for each rejected reload")


def test_an_access_log_of_its_own(machine, service, flood):
    log = "/var/log/martlet/access.log"
    flood(f'{{ to: {log}, mode: "0640" }}', 100_000, 3, lambda: machine.run("logrotate --force /etc/logrotate.d/martlet"))

    def lines():
        return [line for name in [f"{log}.1", log] for line in machine.path(name).read_bytes().splitlines()]

    eventually(lambda: len(lines()) >= 100_000, 20, "100 000 lines")
    assert len({json.loads(line)["call"] for line in lines()}) == 100_000
    for name in [f"{log}.1", log]:
        assert machine.path(name).stat().st_size > 0
        assert machine.run(f"stat --format '%a %U %G' {name}").stdout.split() == ["640", "_martlet", "_martlet"]
    every_rejection_is_logged(service)


@pytest.mark.timeout(240)
def test_the_journal(machine, service, flood):
    # More than journald lets through by itself in half a minute, also where it has a large disk, but no faster than it writes.
    flood("{ to: stdout }", 100_000, 15)
    command = "journalctl --sync; journalctl --unit=martlet --output=cat | grep --count '^{\"time\"'"

    def is_whole():
        dropped = re.findall(r"^martlet_log_lines_dropped_total (\d+)$", service.admin("GET", "/metrics")[1], re.M)
        assert dropped == ["0"]
        return int(machine.run(command, check=False).stdout) >= 100_000

    eventually(is_whole, 60, "100 000 lines")
    assert not re.search("Suppressed|rate-limit", machine.run("journalctl _COMM=systemd-journald").stdout)
    every_rejection_is_logged(service)
