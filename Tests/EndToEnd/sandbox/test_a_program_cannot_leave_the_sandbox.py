"""A program that Martlet starts, and so whoever takes Martlet over, has no file, socket or system call beside those it needs."""

import json
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest

from support.users import need_root

ESCAPE = Path(__file__).with_name("escape.py")
NOT_KNOWN = {"ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT"}


@pytest.fixture
def abstract():
    """The name of an abstract socket that listens outside."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"\0martlet-test-{os.getpid()}")
        listener.listen()
        yield listener.getsockname()[1:].decode()


@pytest.fixture
def escape(martlet, recorder, private, writable, abstract, tmp_path):
    """Has a program try to leave; returns how each attempt ended."""
    need_root()
    (private / "secret").write_text("secret")
    (writable / "old").touch()
    (writable / "long").write_text("long")

    def run(sandbox, listener=tmp_path / "rpc.sock", other="http://127.0.0.1:9"):
        upstream, outside = recorder(), recorder()
        script, results = tmp_path / "escape.py", tmp_path / "results"
        shutil.copy(ESCAPE, script)
        words = [sys.executable, script, results, private / "secret", writable, abstract, outside.port, os.getpid()]
        command = json.dumps([str(word) for word in words])
        proxy = martlet(
            f"listen: [ 127.0.0.1:0, 'unix:{listener}' ]\n"
            f"upstreams: {{ default: {{ url: {upstream.url} }}, other: {{ url: '{other}' }} }}\n"
            f"routes: [ {{ match: {{ path: /other }}, upstream: other }}, {{ upstream: default }} ]\n"
            f"sandbox: {sandbox}\ninterceptors: [ token: {{ exec: {{ command: {command} }} }} ]\n"
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
    # A kernel without SCTP does not know it, and a filter forbids it.
    assert (found["SCTP"], found["SCTP over IPv6"]) == ("EPERM", "EPERM")


def test_unix_sockets_for_an_upstream(escape, landlock):
    """Those in the abstract namespace stay out of reach."""
    assert landlock >= 6
    found = escape("on", other="unix:/not/there.sock")
    assert (found["a Unix socket"], found["a pair of datagram sockets"]) == ("ok", "ok")
    assert found["connect to an abstract socket"] == "EPERM"


def test_the_directory_of_a_socket(escape, writable):
    """Sockets are made and removed there, and no file is written."""
    found = escape("on", listener=writable / "rpc.sock")
    assert {found[name] for name in ("write a file", "make a directory", "shorten a file")} == {"EACCES"}


def test_all_unix_sockets(escape):
    found = escape("{ unix_sockets: any }")
    assert found["a Unix socket"] == found["connect to an abstract socket"] == "ok"
    assert found["SCTP"] == "EPERM"


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
        "a Unix socket",
        "a pair of datagram sockets",
        "connect to an abstract socket",
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
