"""A program that Martlet starts, and so whoever takes Martlet over, has no file, socket or system call beside those it needs."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from support.users import need_root

ESCAPE = Path(__file__).with_name("escape.py")
NOT_KNOWN = {"ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT"}


@pytest.fixture
def escape(martlet, recorder, private, writable, tmp_path):
    """Has a program try to leave; returns how each attempt ended."""
    need_root()
    (private / "secret").write_text("secret")
    (writable / "old").touch()
    (writable / "long").write_text("long")

    def run(sandbox):
        upstream, other = recorder(), recorder()
        script, results = tmp_path / "escape.py", tmp_path / "results"
        shutil.copy(ESCAPE, script)
        words = [sys.executable, script, results, private / "secret", writable, other.port, os.getpid()]
        command = json.dumps([str(word) for word in words])
        proxy = martlet(
            upstream=upstream.url,
            more=f"sandbox: {sandbox}\ninterceptors: [ token: {{ exec: {{ command: {command} }} }} ]",
        )
        with proxy.http(timeout=30) as http:
            assert http.get("/").status_code == 200
        assert upstream.requests[0].header("authorization") == "Bearer token"
        return json.loads(results.read_text())

    return run


def ways_out(found):
    """What is possible, or fails for another reason than that it is forbidden."""
    return {name for name, result in found.items() if result not in {"EPERM", "EACCES", *NOT_KNOWN}}


def test_every_way_out_is_closed(escape, landlock):
    assert landlock >= 6
    found = escape("on")
    assert ways_out(found) == {"connect to a port", "connect by fast open"}, json.dumps(found)


def test_without_a_sandbox_they_are_open(escape):
    """Else the test above would prove nothing."""
    found = escape("off")
    possible = {name for name, result in found.items() if result == "ok"}
    assert possible >= {
        "read a file",
        "write a file",
        "make a directory",
        "remove a file",
        "shorten a file",
        "make a set-user-ID program",
        "signal a process outside",
        "read the environment of another process",
        "unshare",
        "ptrace",
        "keyctl",
        "a netlink socket",
        "a raw socket",
        "connect to a port",
        "connect by fast open",
        "limit another process",
    }, found


def test_only_the_ports_of_the_file(escape):
    found = escape("{ ports: fixed }")
    assert (found["connect to a port"], found["connect by fast open"]) == ("EACCES", "EPERM")
    assert ways_out(found) == set(), json.dumps(found)


def test_directories_that_the_file_allows(escape, private, writable):
    found = escape(f"{{ read: {private}, write: {writable} }}")
    assert found["read a file"] == found["write a file"] == found["remove a file"] == "ok"
