"""The process that starts the program anew is outside of the sandbox, and whoever takes Martlet over gets nothing from it."""

import os
import subprocess
from pathlib import Path

from support.users import NOBODY, need_root


def helper(proxy):
    """The number of the process."""
    (number,) = Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split()
    return int(number)


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


def test_it_reads_no_standard_input(martlet):
    """Who is in the sandbox can write to a pipe through /proc."""
    need_root()
    proxy = martlet("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", stdin=subprocess.PIPE)
    assert os.readlink(f"/proc/{helper(proxy)}/fd/0") == "/dev/null"
