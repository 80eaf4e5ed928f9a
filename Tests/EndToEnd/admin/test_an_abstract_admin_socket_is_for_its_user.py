"""An admin socket without a file serves root and the user of the daemon, and no one else."""

import json
import os
import shutil
import socket
import tempfile

import httpx
import pytest

from support.martlet import CLEAR_TEXT, Command
from support.users import NOBODY, need_root
from support.wait import eventually

OTHER = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
COMMANDS = [["status"], ["healthcheck"], ["healthcheck", "--ready"], ["reload"], ["calls"], ["wait"]]
REJECTED = "only root and the user of the daemon may ask here"


@pytest.fixture
def name(tmp_path):
    return f"martlet-test-{os.getpid()}-{tmp_path.name}"


def configuration(url, name):
    return f"listen: 127.0.0.1:0\nupstream: {url}\ninterceptors:\n  - log: {{}}\nadmin: unix:@{name}\n"


def response(name, request):
    """What an abstract socket responds to a request of this process."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(f"\0{name}")
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_every_command_but_the_dashboard_reaches_it(martlet, recorder, command, running, name):
    proxy = martlet(configuration(recorder().url, name))
    for words in COMMANDS:
        for where in (["-c", proxy.file], ["--admin", f"unix:@{name}"]):
            result = command(*words, *where)
            assert result.code == 0, (words, where, result.stderr.text)
    assert f"admin: unix:@{name}" in command("status", "-c", proxy.file).stdout.text
    tap = running(Command("tap", "-n", "1", "-o", "json", "-c", proxy.file))
    with httpx.Client(base_url=f"http://{proxy.addresses[-1]}", **CLEAR_TEXT) as http:
        eventually(lambda: http.get("/").text == "ok" and tap.process.poll() is not None, within=10, what="a call in the tap")
    assert tap.exit_code() == 0 and json.loads(list(tap.stdout)[0])
    dashboard = command("dashboard", "-c", proxy.file)
    assert dashboard.code == 1 and f"the dashboard needs an admin address such as unix:/path or 127.0.0.1:9901, not unix:@{name}" in dashboard.stderr.text
    assert command("stop", "--wait", "-c", proxy.file).code == 0
    assert proxy.exit_code() == 0


def test_a_job_stops_by_it(martlet, recorder, command, name):
    proxy = martlet(
        configuration(recorder().url, name).replace("log: {}", "log: { to: stderr }"),
        command=["exec"],
        trailing=["--", "sleep", "60"],
    )
    proxy.stderr.wait("program started")
    assert command("stop", "--wait", "--admin", f"unix:@{name}").code == 0
    assert proxy.exit_code() == 143


def test_another_user_is_rejected(martlet, recorder, command, name):
    need_root()
    proxy = martlet(configuration(recorder().url, name))
    for words in [*COMMANDS[:-1], ["stop"], ["wait", "--timeout", "100ms"]]:
        result = command(*words, "--admin", f"unix:@{name}", through=NOBODY)
        assert result.code == 1 and REJECTED in result.stderr.text, words
    assert " reloaded " not in proxy.stderr.text and "draining" not in proxy.stderr.text


@pytest.fixture
def of_nobody(martlet, recorder, binary, name):
    """A daemon of a user without privileges."""
    need_root()
    with tempfile.TemporaryDirectory() as place:
        shutil.chown(place, 65534, 65534)
        yield martlet(configuration(recorder().url, name), directory=place, through=NOBODY)


def test_root_and_the_user_of_the_daemon_may_ask(of_nobody, command, name):
    """Commands of others ask nothing: any user could have taken the name."""
    request = b"GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert response(name, request).startswith(b"HTTP/1.1 200 ")
    for through, code in [(NOBODY, 0), (OTHER, 1), ((), 1)]:
        result = command("status", "--admin", f"unix:@{name}", through=through)
        assert result.code == code, (through, result.stderr.text)
        assert ("which is neither root nor this user; if that is the daemon" in result.stderr.text) == (code == 1)


def test_a_web_page_is_rejected(martlet, recorder, name):
    martlet(configuration(recorder().url, name))
    request = b"POST /drain HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    assert response(name, request).startswith(b"HTTP/1.1 403 ")


def test_a_name_that_is_taken(martlet, recorder, name):
    martlet(configuration(recorder().url, name))
    other = martlet(configuration(recorder().url, name), wait=False)
    assert other.exit_code() == 1
    assert f"unix:@{name}" in other.stderr.text


@pytest.mark.parametrize(
    "admin, problem",
    [
        ("{ address: 'unix:@martlet', mode: '0660' }", "mode"),
        ("{ address: 'unix:@martlet', group: root }", "group"),
    ],
)
def test_it_has_no_permissions(command, tmp_path, admin, problem):
    file = tmp_path / "martlet.yaml"
    file.write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nadmin: {admin}\n")
    result = command("check", "-c", file)
    assert result.code == 78 and problem in result.stderr.text
