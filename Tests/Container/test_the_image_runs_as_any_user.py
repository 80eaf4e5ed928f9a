"""The image runs as its own user and as any other, OpenShift's among them, and with a read-only root file system."""

import os

import pytest

import dockerfile
from calling import say
from support.http1.recorder import JSON, Recorder

USERS = {"its own": dockerfile.USER, "of OpenShift": (1000680000, 0), "any": (1234, 5678), "root": (0, 0)}


@pytest.mark.parametrize("read_only", [False, True], ids=["writable", "read-only"])
@pytest.mark.parametrize("user", USERS.values(), ids=USERS)
def test_user(container, own, shared, running, user, read_only):
    upstream = running(Recorder(JSON, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    ours = container(configuration=own, user=user, read_only=read_only).wait()
    assert say(shared).json() == {} and len(upstream.requests) == 1
    assert ours.healthcheck() == 0
    assert ours.exec(*dockerfile.ENTRYPOINT, "reload", "--admin", "unix:/run/martlet/admin.sock").returncode == 0
    ours.kill("TERM")
    assert ours.exit_code() == 0


def test_without_a_place_for_the_admin_socket_calls_are_served(container, own, shared, running):
    """CRI-O makes no volumes: the read-only root file system has no room for the socket then."""
    running(Recorder(JSON, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    ours = container(configuration=own, read_only=True, volumes=False).wait()
    ours.stderr.wait(r" warn .*/run/martlet/admin\.sock")
    assert say(shared).json() == {}
    assert ours.healthcheck() == 1


def test_a_second_user_cannot_use_the_admin_socket(container, own):
    """The directory is open to all, so the socket itself is what is closed."""
    ours = container(configuration=own).wait()
    other = ours.exec_as((4321, 4321), *dockerfile.ENTRYPOINT, "healthcheck", "--admin", "unix:/run/martlet/admin.sock")
    assert other.returncode == 1
    assert ours.healthcheck() == 0
