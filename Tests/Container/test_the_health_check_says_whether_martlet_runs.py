"""HEALTHCHECK: 0 while Martlet runs, whatever the file says about the admin socket; 1 if there is no response."""

import subprocess

import pytest

import dockerfile


@pytest.mark.parametrize(
    "admin",
    ["", "admin: unix:/run/martlet/admin.sock", "admin: unix:/shared/admin.sock", "admin: 127.0.0.1:9901"],
    ids=["not named", "named", "elsewhere", "TCP"],
)
def test_alive(container, own, admin):
    assert container(configuration=f"{own}\n{admin}\n").wait().healthcheck() == 0


def test_no_response(container, own):
    command = dockerfile.HEALTHCHECK
    assert command[:1] == dockerfile.ENTRYPOINT
    alone = container(*command[1:], configuration=own)
    assert alone.exit_code() == 1


def test_a_stopped_daemon_is_not_alive(container, own):
    """Docker's timeout of the health check is two seconds; the command itself waits longer."""
    ours = container(configuration=own).wait()
    ours.kill("STOP")
    with pytest.raises(subprocess.TimeoutExpired):
        ours.exec(*dockerfile.HEALTHCHECK, within=2)
    ours.kill("CONT")
    assert ours.healthcheck() == 0
