"""As PID 1 of a container, Martlet reaps orphans and ends on a fatal signal, which the kernel would otherwise ignore."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from support.wait import eventually

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - token: {{ exec: {{ command: [{program}] }}}}
"""
# Each time a child in its own session outlives the program.
PROGRAM = """#!/bin/sh
setsid sleep 0.2 >/dev/null 2>&1 &
echo x >>{count}
echo token
"""


def in_a_namespace(*command):
    return ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *command]


def allowed():
    return os.getuid() == 0 and subprocess.run(in_a_namespace("true"), stderr=subprocess.DEVNULL).returncode == 0


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


pytestmark = [pytest.mark.waits, pytest.mark.skipif(not allowed(), reason="this machine allows no PID namespace")]


def test_orphans(martlet, recorder, tmp_path):
    count = tmp_path / "count"
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(count=count))
    program.chmod(0o755)
    url = recorder().url
    proxy = martlet(CONFIGURATION.format(url=url, program=program), through=in_a_namespace())
    (first,) = children(proxy.pid)
    for refresh in range(2, 7):
        # A reload with another name for the program fetches the token again.
        other = tmp_path / f"program{refresh}"
        os.link(program, other)
        proxy.write(CONFIGURATION.format(url=url, program=other))
        os.kill(first, 1)
        proxy.stderr.wait(rf" reloaded generation={refresh}\b")
        eventually(lambda: len(count.read_text().split()) == refresh, what="another token")
    eventually(lambda: not children(first), what="the end of all orphans, with no zombie left")
    with proxy.http() as http:
        assert http.get("/").text == "ok"


@pytest.mark.parametrize("number", [signal.SIGABRT, signal.SIGSEGV], ids=lambda number: number.name)
@pytest.mark.parametrize("core_dumps", ["true", "false"])
def test_a_fatal_signal_ends_it(martlet, recorder, number, core_dumps):
    configuration = f"listen: 127.0.0.1:0\nupstream: {recorder().url}\ncore_dumps: {core_dumps}\n"
    proxy = martlet(configuration, through=in_a_namespace())
    (first,) = children(proxy.pid)
    os.kill(first, number)
    assert proxy.exit_code() == 128 + number
    assert any(f"ended by {number.name} from process" in line for line in proxy.stderr)
