"""The process that starts the program anew is outside of the sandbox, and whoever takes Martlet over gets nothing from it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.users import NOBODY, need_root


def helper(proxy):
    """The number of the process."""
    (number,) = children(proxy)
    return int(number)


def children(proxy):
    return Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split()


def test_its_memory_is_not_its_users(martlet, tmp_path):
    """Also where the kernel has no Landlock, which would forbid that, too."""
    need_root()
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_mode & 0o777 == 0o700:
            directory.chmod(0o755)
    proxy = martlet("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nsandbox: off\n", admin=False, through=NOBODY)
    process = Path(f"/proc/{helper(proxy)}")
    status = (process / "status").read_text()
    assert "\nUid:\t65534\t65534\t" in status
    assert {(process / name).stat().st_uid for name in ("mem", "environ", "fd")} == {0}


def test_it_reads_no_standard_input(martlet, installed):
    """Who is in the sandbox can write to a pipe through /proc."""
    need_root()
    proxy = martlet("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", stdin=subprocess.PIPE, directory=installed)
    assert os.readlink(f"/proc/{helper(proxy)}/fd/0") == "/dev/null"


REFUSED = "the sandbox allows writing in {}, where {} is; move it to another directory, and restart instead"


@pytest.fixture
def replaceable(binary, tmp_path):
    """A program in a directory for temporary files, where the sandbox lets Martlet write."""
    shutil.copy(binary, tmp_path / "martlet")
    return tmp_path / "martlet"


def upgrade(command, proxy):
    result = command("upgrade", "--admin", f"unix:{proxy.admin_socket}")
    assert result.code == 1
    return result.stderr.text


def test_a_program_that_can_be_replaced_is_not_started_again(martlet, command, replaceable, installed, tmp_path):
    proxy = martlet("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", binary=replaceable, directory=installed)
    scratch = f"/{replaceable.parts[1]}"
    proxy.stderr.wait(f"warn the sandbox allows writing in {scratch}, where the program {replaceable} is: .*; move it to another")
    replaceable.unlink()
    replaceable.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    replaceable.chmod(0o755)
    assert REFUSED.format(scratch, f"the program {replaceable}") in upgrade(command, proxy)
    # Neither can it be asked for behind the daemon's back: no process is there that could do it.
    assert children(proxy) == []
    assert os.readlink(f"/proc/{proxy.pid}/fd/0") == "/dev/null"
    assert not (tmp_path / "executed").exists()


def test_a_configuration_that_can_be_replaced_is_not_loaded_again(martlet, command, installed):
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\ninterceptors: [ log: {{ to: {installed}/calls.log }} ]\n",
        directory=installed,
    )
    refused = REFUSED.format(installed, f"the configuration {proxy.file}")
    assert refused in upgrade(command, proxy)
    assert children(proxy) == []
    proxy.stderr.wait("a restart could use what an attacker wrote, and upgrades are off; keep logs and tapes in another directory")


def test_a_socket_beside_the_configuration_is_no_reason(martlet, installed):
    """The sandbox lets Martlet make sockets there, and no files."""
    proxy = martlet(f"listen: unix:{installed}/rpc.sock\nupstream: http://127.0.0.1:9\n", directory=installed)
    assert len(children(proxy)) == 1
