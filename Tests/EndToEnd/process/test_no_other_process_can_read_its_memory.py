"""Another process of the same user, such as a token program, can read neither the memory nor the environment."""

import subprocess
from pathlib import Path

import pytest

from support.users import NOBODY, need_root

pytestmark = pytest.mark.alone

SECRETS = ["mem", "environ", "maps", "fd"]


def can_read(pid, name):
    """Whether a process of that user can open a file of another one's /proc."""
    path = f"/proc/{pid}/{name}"
    command = ["ls", path] if name == "fd" else ["dd", f"if={path}", "count=0"]
    result = subprocess.run([*NOBODY, *command], capture_output=True, text=True)
    assert result.returncode == 0 or "Permission denied" in result.stderr, result.stderr
    return result.returncode == 0


def test_of_the_same_user(as_nobody):
    proxy = as_nobody("http://127.0.0.1:9")
    assert [name for name in SECRETS if can_read(proxy.pid, name)] == []


def test_another_program_would_be_readable():
    """Else the test above would prove nothing."""
    need_root()
    with subprocess.Popen([*NOBODY, "sleep", "60"]) as other:
        try:
            while Path(f"/proc/{other.pid}/comm").read_text() != "sleep\n":
                pass
            assert [name for name in SECRETS if can_read(other.pid, name)] == SECRETS
        finally:
            other.kill()


def test_a_program_that_it_starts(as_nobody, recorder):
    upstream = recorder()
    words = "cat /proc/$PPID/mem /proc/$PPID/environ 2>&1 | grep -c denied"
    program = f'{{ command: [/bin/sh, -c, "{words}"], format: text }}'
    proxy = as_nobody(upstream.url, f"interceptors: [ token: {{ exec: {program} }} ]")
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert upstream.requests[0].header("authorization") == "Bearer 2"


def test_what_it_reads_of_itself(as_nobody):
    """/metrics still shows it."""
    metrics = as_nobody("http://127.0.0.1:9", "interceptors: [ metrics: {} ]").metrics()
    assert metrics.total("process_open_fds") > 5
    assert metrics.total("process_resident_memory_bytes") > 1 << 20
    assert metrics.total("process_start_time_seconds") > 1.7e9
