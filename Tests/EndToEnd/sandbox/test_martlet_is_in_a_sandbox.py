"""Martlet puts itself into a sandbox before it serves, and says so."""

import re
import socket
from pathlib import Path

import pytest


def statuses(proxy, key):
    """What each thread has of it."""
    tasks = Path(f"/proc/{proxy.pid}/task").glob("*/status")
    return {re.search(rf"^{key}:\s+(\d+)$", task.read_text(), re.MULTILINE)[1] for task in tasks}


@pytest.mark.parametrize("sandbox", ["", "sandbox: on"])
def test_every_thread_is(martlet, command, sandbox):
    proxy = martlet(upstream="http://127.0.0.1:9", more=sandbox)
    assert statuses(proxy, "NoNewPrivs") == {"1"} and statuses(proxy, "Seccomp") == {"2"}
    words = "files=yes ports=no unix_sockets=yes syscalls=yes new_privileges=no"
    proxy.stderr.wait(f"info sandbox {words}$")
    assert f"\nsandbox: {words}\n" in command("status", "-c", proxy.file).stdout.text


def test_off(martlet):
    proxy = martlet(upstream="http://127.0.0.1:9", more="sandbox: off")
    assert statuses(proxy, "NoNewPrivs") == {"0"} and statuses(proxy, "Seccomp") == {"0"}
    proxy.stderr.wait("info sandbox mode=off$")


@pytest.fixture
def runtime(tmp_path):
    """The directory of a user's sockets, with those of systemd and D-Bus."""
    with socket.socket(socket.AF_UNIX) as bus, socket.socket(socket.AF_UNIX) as systemd:
        (tmp_path / "run/systemd").mkdir(parents=True)
        bus.bind(str(tmp_path / "run/bus"))
        systemd.bind(str(tmp_path / "run/systemd/private"))
        yield tmp_path / "run"


@pytest.mark.parametrize("upstream, warns", [("http://127.0.0.1:9", False), ("unix:/not/there.sock", True)])
def test_sockets_of_service_managers(martlet, runtime, upstream, warns):
    proxy = martlet(upstream=upstream, environment={"XDG_RUNTIME_DIR": str(runtime)})
    proxy.stderr.wait(f"info sandbox .* unix_sockets={'no' if warns else 'yes'} ")
    words = f"programs can be started outside of it by {runtime}/bus, {runtime}/systemd/private"
    assert (words in proxy.stderr.text) == warns


def test_fixed_ports(martlet, recorder):
    """The ports of listeners, upstreams and servers of tokens are those of the file."""
    proxy = martlet(upstream=recorder().url, more="sandbox: { ports: fixed }")
    proxy.stderr.wait("info sandbox files=yes ports=yes")
    with proxy.http() as http:
        assert http.get("/").status_code == 200


def test_ports_that_are_not_known(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(
        "listen: 127.0.0.1:0\nsandbox: { ports: fixed }\n"
        "upstreams: { a: { url: http://a.example, addresses: { srv: _a._tcp.a.example } } }\n"
    )
    check = command("check", "-c", file)
    assert check.code == 78
    assert ":3:60: these addresses have ports that are known only at run time; write a list" in check.stderr.text


def test_logs_of_every_kind(martlet, recorder):
    """What /dev/stdout leads to is known only at startup."""
    log = "interceptors: [ log: { to: /dev/stdout } ]"
    proxy = martlet(upstream=recorder(b"HTTP/1.1 204 Any\r\n\r\n").url, more=log)
    with proxy.http() as http:
        assert http.get("/").status_code == 204
        proxy.stdout.wait('"status":204')
        proxy.reload()
        assert http.get("/").status_code == 204
        proxy.stdout.wait('"status":204', count=2)
