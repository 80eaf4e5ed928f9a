"""Replicas of one service, and daemons that ask a name server of ours."""

import os
import subprocess

import pytest
from support.ports import free_port
from support.servers.replicas import GRPCReplica, Hole, NameServer, states
from support.wait import eventually


@pytest.fixture
def replicas():
    """Starts so many replicas, on 127.0.0.11 and so on, at one port."""
    started = []

    def start(count, kind=GRPCReplica, first=11):
        hosts = [f"127.0.0.{first + number}" for number in range(count)]
        port = free_port(hosts)
        new = [kind(host, port) for host in hosts]
        started.extend(new)
        return new

    yield start
    for one in started:
        one.stop()


@pytest.fixture
def hole():
    made = Hole("127.0.0.31")
    yield made
    made.stop()


@pytest.fixture
def until_state():
    def wait(proxy, address, state, within=5.0):
        eventually(lambda: states(proxy).get(address, {}).get("state") == state, within, what=f"{address} is {state}")

    return wait


# In a mount namespace of its own the daemon sees our files in the place of /etc/resolv.conf and /etc/hosts.
MOUNT = ["unshare", "--mount", "sh", "-c", 'mount --bind "$RESOLV" /etc/resolv.conf && mount --bind "$HOSTS" /etc/hosts && exec "$0" "$@"']


@pytest.fixture
def names(tmp_path):
    """A name server, and how to start a daemon that asks it."""
    try:
        server = NameServer()
    except OSError as error:
        pytest.skip(f"no name server: {error}")
    # They are written to, and not replaced, as they are mounted.
    server.resolv, server.hosts = tmp_path / "resolv.conf", tmp_path / "hosts"
    server.resolv.write_text(f"nameserver {server.host}\noptions timeout:1 attempts:1\n")
    server.hosts.write_text("127.0.0.1 localhost\n")
    server.options = {"through": MOUNT, "environment": {"RESOLV": str(server.resolv), "HOSTS": str(server.hosts)}}
    if subprocess.run([*MOUNT, "true"], env=os.environ | server.options["environment"], stderr=subprocess.DEVNULL).returncode != 0:
        server.close()
        pytest.skip("this needs the right to mount")
    yield server
    server.close()
