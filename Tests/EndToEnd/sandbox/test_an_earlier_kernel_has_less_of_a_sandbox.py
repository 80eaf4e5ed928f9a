"""Where the kernel or a container has no Landlock or no seccomp, Martlet says so and serves."""

import errno
import platform
import sys
from pathlib import Path

import pytest
from support.wait import eventually

WITHOUT = Path(__file__).with_name("without.py")
LANDLOCK = 444
SECCOMP = {"x86_64": 317, "aarch64": 277}[platform.machine()]


def without(*numbers, error=errno.ENOSYS):
    """What a program is started through so that the kernel seems not to have these system calls."""
    return [sys.executable, WITHOUT, *(f"{number}={error}" for number in numbers), "--"]


CASES = [
    ([LANDLOCK], errno.ENOSYS, 'files=no .*syscalls=yes .*reason="Landlock: Function not implemented"'),
    ([LANDLOCK], errno.EPERM, 'files=no .*syscalls=yes .*reason="Landlock: Operation not permitted"'),
    ([SECCOMP], errno.ENOSYS, 'files=yes .*syscalls=no .*reason="seccomp: Function not implemented"'),
    ([LANDLOCK, SECCOMP], errno.ENOSYS, "files=no .*syscalls=no new_privileges=no reason="),
]


@pytest.mark.parametrize("numbers, error, line", CASES)
def test_it_serves(martlet, recorder, numbers, error, line):
    proxy = martlet(upstream=recorder().url, through=without(*numbers, error=error))
    proxy.stderr.wait(f"info sandbox {line}")
    with proxy.http() as http:
        assert http.get("/").status_code == 200


def test_a_reload_needs_no_more_than_the_kernel_denies(martlet, writable):
    log = f"interceptors: [ log: {{ to: {writable}/calls.log }} ]"
    proxy = martlet(upstream="http://127.0.0.1:9", through=without(LANDLOCK))
    proxy.reload(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n{log}")
    # A thread of its own opens the file.
    eventually((writable / "calls.log").exists, what="the log")


def test_ports_that_the_kernel_cannot_limit(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nsandbox: { ports: fixed }\n")
    check = command("check", "-c", file, through=without(LANDLOCK))
    assert check.code == 0
    assert "warning for this machine: the kernel cannot limit ports; use Linux 6.7" in check.stderr.text
    assert "cannot limit ports" not in command("check", "-c", file).stderr.text
