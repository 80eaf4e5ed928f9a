"""Processes that a program leaves behind come to Martlet, which reaps them: as PID 1, and as any other process."""

import contextlib
import os
import signal
import subprocess

import pytest

from jobs.programs import children, python, state
from support.wait import eventually

COUNT = 1000
IN_A_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


def may_unshare():
    return os.getuid() == 0 and subprocess.run([*IN_A_NAMESPACE, "true"], stderr=subprocess.DEVNULL).returncode == 0


@pytest.fixture(params=[pytest.param(True, id="as PID 1"), pytest.param(False, id="as any other process")])
def orphaning(request, job):
    """A job whose program has made orphans; the numbers of Martlet's process, the program's, and that of an orphan that lives."""
    if request.param and not may_unshare():
        pytest.skip("this machine allows no PID namespace")
    proxy = job(*python("orphaning", COUNT), through=IN_A_NAMESPACE if request.param else ())
    proxy.stdout.wait("^orphaned$", within=30)
    martlet = children(proxy.pid)[0] if request.param else proxy.pid
    # The program and the orphan that lives are left.
    eventually(lambda: len(children(martlet)) == 2, within=10, what="the end of all orphans")
    program, orphan = sorted(children(martlet), key=lambda child: os.getpgid(child) != os.getpgid(martlet))
    yield proxy, martlet, program, orphan
    for process in (orphan, program):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_no_zombie_is_left(orphaning):
    proxy, martlet, program, orphan = orphaning
    assert "Z" not in state(program) + state(orphan)
    with proxy.http() as http:
        assert http.get("/").text == "ok"


def test_only_the_end_of_the_program_counts(orphaning):
    proxy, martlet, program, orphan = orphaning
    os.kill(orphan, signal.SIGKILL)
    eventually(lambda: children(martlet) == [program], within=10, what="the end of the orphan")
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    os.kill(program, signal.SIGTERM)
    assert proxy.exit_code() == 143
