"""Fixtures: booted machines with Martlet installed, and its service in the state that it was shipped in."""

import shutil
import time
from contextlib import ExitStack

import pytest

from machine.debian import Debian
from machine.service import Service
from support.http1.recorder import Recorder
from support.load import Load

SUITES = ["bookworm", "trixie"]
UNITS = "martlet.socket martlet.service 'martlet@*.service'"


@pytest.fixture(scope="session", params=SUITES)
def booted(request, tmp_path_factory):
    """A machine of each suite, one after the other."""
    machine = Debian(request.param, tmp_path_factory.mktemp(request.param))
    machine.run("systemd-sysusers && cp --archive /etc/martlet /var/lib/martlet-shipped")
    yield machine
    machine.stop()


@pytest.fixture
def machine(booted):
    """The machine as it is after the installation. This process is in its network."""
    began = time.time()
    with booted.network():
        yield booted
    print("\n".join(str(entry.get("MESSAGE")) for entry in booted.journal(began)[-200:]))
    booted.run(f"systemctl stop {UNITS}", check=False, timeout=80)
    for unit in ["martlet.service", "martlet@.service", "martlet.socket"]:
        shutil.rmtree(booted.path(f"/etc/systemd/system/{unit}.d"), ignore_errors=True)
    booted.run(
        f"systemctl daemon-reload; systemctl reset-failed;"
        " rm -rf /etc/martlet /var/lib/martlet /var/cache/martlet /var/log/martlet /run/martlet /run/secrets"
        " /var/lib/private/martlet /var/cache/private/martlet /var/log/private/martlet;"
        " cp --archive /var/lib/martlet-shipped /etc/martlet"
    )


@pytest.fixture
def service(machine):
    """martlet.service, installed and not started."""
    return Service(machine)


@pytest.fixture
def running():
    """Starts a thing and stops it when the test ends; the last started stops first."""
    with ExitStack() as stack:

        def start(thing):
            stack.callback(thing.stop)
            return thing

        yield start


@pytest.fixture
def recorder(machine, running):
    """Starts an upstream in the machine that records every byte."""
    return lambda *arguments, **options: running(Recorder(*arguments, **options))


@pytest.fixture
def load(machine, running):
    """Starts a constant load of calls in the machine."""
    return lambda *arguments, **options: running(Load(*arguments, **options))
