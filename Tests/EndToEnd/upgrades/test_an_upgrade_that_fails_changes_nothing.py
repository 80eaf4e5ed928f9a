"""A new process that fails, hangs or is not ready leaves the old one as it is."""

import os
import signal
import socket
import stat
import threading
from pathlib import Path

import pytest

from support.http1.recorder import OK, Recorder
from support.martlet import BINARY, Command, Martlet
from support.wait import eventually


@pytest.fixture
def proxy(upgraded, address, recorder):
    return upgraded(f"listen: {address}\nupstream: {recorder().url}\n")


def serves(proxy):
    with proxy.http() as client:
        return client.get("/").status_code == 200 and f"PID {proxy.pid}" in proxy.admin("/status").text


@pytest.mark.parametrize(
    "script, reason",
    [
        ("exit 1", "the new process has ended"),
        ("kill -9 $$", "the new process has ended"),
        ("exec sleep 60", "the new process was not ready within 500ms"),
    ],
)
def test_another_program(proxy, replace, script, reason):
    replace(script)
    command = proxy.upgrade("--timeout", "500ms")
    assert command.code == 1 and reason in command.stderr.text
    proxy.stderr.wait(f"error upgrade failed reason=.*{reason}")
    assert serves(proxy)


@pytest.mark.parametrize("rest", ["sleep 60", "exit 1"], ids=["late", "failed"])
def test_the_child_of_a_script_ends_too(proxy, replace, tmp_path, rest):
    """It would keep the listening sockets."""
    replace(f"sleep 300 & echo $! > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/child; exec {rest}".replace("exec exit", "exit"))
    thread = threading.Thread(target=lambda: proxy.upgrade("--timeout", "1s"))
    thread.start()
    child = int(eventually(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text()))
    thread.join(30)
    proxy.wait_for_end(child)
    assert serves(proxy)


def test_the_process_that_starts_the_program_is_killed(proxy):
    (launcher,) = Path(f"/proc/{proxy.pid}/task/{proxy.pid}/children").read_text().split()
    os.kill(int(launcher), signal.SIGKILL)
    reason = "the process that starts the new program was killed"
    proxy.stderr.wait(f" warn no upgrade until a restart reason=\"{reason}\"")
    assert f"upgrade: not possible until a restart, because {reason}" in proxy.admin("/status").text
    command = proxy.upgrade()
    assert command.code == 1 and f"{reason}; restart Martlet instead" in command.stderr.text
    assert serves(proxy)


def test_no_program(proxy, program):
    program.unlink()
    assert proxy.upgrade().code == 1
    proxy.stderr.wait(r"martlet: cannot execute \S+/martlet: No such file or directory")
    assert serves(proxy)


def test_an_upgrade_after_one_that_failed(proxy, program, replace):
    kept = program.with_name("kept")
    kept.hardlink_to(program)
    replace("exit 1")
    assert proxy.upgrade().code == 1
    kept.replace(program)
    assert proxy.upgrade().code == 0
    assert serves(proxy)


def test_a_file_with_errors(proxy):
    proxy.write("listen: nowhere\n")
    command = proxy.upgrade()
    assert command.code == 1 and '"nowhere" is not a valid address' in command.stderr.text
    assert serves(proxy)


def test_an_address_that_is_taken(proxy, address, recorder):
    taken = recorder()
    text = proxy.file.read_text()
    proxy.write(text.replace(f"listen: {address}", f'listeners: [ "{address}", "127.0.0.1:{taken.port}" ]'))
    command = proxy.upgrade()
    assert command.code == 1 and "another process uses the address" in command.stderr.text
    assert serves(proxy)


def test_a_token_that_the_new_process_does_not_get(upgraded, address, running, tmp_path):
    """The old one still has one."""
    upstream = running(Recorder())
    token = tmp_path / "token"
    token.write_text("secret")
    text = f"""
        listen: {address}
        upstream: {upstream.url}
        interceptors: [ {{ token: {{ file: {token} }} }} ]
        """
    proxy = upgraded(text)
    proxy.write(text.replace(str(token), str(tmp_path / "none")))
    command = proxy.upgrade("--timeout", "1s")
    assert command.code == 1 and "was not ready within 1s" in command.stderr.text
    assert serves(proxy)
    assert upstream.requests[-1].header("authorization") == "Bearer secret"


def test_one_at_a_time_and_no_reload_beside_it(proxy, replace, command):
    replace("exec sleep 60")
    results = []
    thread = threading.Thread(target=lambda: results.append(proxy.upgrade("--timeout", "2s")))
    thread.start()
    proxy.stderr.wait(r"\bupgrading pid=")
    assert "an upgrade is under way" in proxy.upgrade().stderr.text
    proxy.reload(outcome="reload rejected")
    thread.join(10)
    assert results[0].code == 1
    proxy.reload()
    assert serves(proxy)


def test_nothing_of_the_old_process_changes_before(upgraded, recorder, address, tmp_path):
    """Neither queues nor permissions nor admin pages, though the new process has more workers and another mode."""
    upstream, rpc = recorder(), tmp_path / "rpc.sock"
    text = """
        workers: {workers}
        listeners: [ "{address}", {{ address: "unix:{rpc}", mode: "{mode}" }} ]
        upstream: {url}
        interceptors: [ {{ token: {{ file: {token} }} }} ]
        """
    (tmp_path / "token").write_text("secret")
    options = {"address": address, "rpc": rpc, "url": upstream.url}
    proxy = upgraded(text.format(workers=1, mode="0600", token=tmp_path / "token", **options))
    proxy.write(text.format(workers=4, mode="0666", token=tmp_path / "none", **options))
    results = []
    thread = threading.Thread(target=lambda: results.append(proxy.upgrade("--timeout", "4s").code))
    thread.start()
    proxy.stderr.wait(r"\bupgrading pid=")
    calls = 0
    while thread.is_alive():
        with proxy.http(timeout=5) as client:
            assert client.get("/").status_code == 200
        assert proxy.admin("/readyz").status_code == 200
        calls += 1
    thread.join()
    assert results == [1] and calls > 5
    assert stat.S_IMODE(rpc.stat().st_mode) == 0o600
    assert serves(proxy)


@pytest.mark.parametrize("how", ["stop", "signal"])
def test_a_stop_meanwhile_stops_both(proxy, replace, how):
    replace("exec sleep 60")
    results = []
    thread = threading.Thread(target=lambda: results.append(proxy.upgrade("--timeout", "20s")))
    thread.start()
    new = int(proxy.stderr.wait(r"\bupgrading pid=(\d+)")[1])
    if how == "stop":
        proxy.admin("/drain", "POST")
    else:
        proxy.process.terminate()
    thread.join(10)
    assert results[0].code == 1
    proxy.wait_for_end(new)
    assert proxy.exit_code() == 0
    assert not proxy.admin_socket.exists()


def test_an_old_process_that_is_killed_meanwhile_ends_the_new_one(proxy, upgraded, replace, program, tmp_path):
    """Whoever starts the service anew finds its sockets free."""
    kept = program.with_name("kept")
    kept.hardlink_to(program)
    replace(f"sleep 0.5; exec {kept} \"$@\"")
    thread = threading.Thread(target=lambda: proxy.upgrade("--timeout", "20s"))
    thread.start()
    new = int(proxy.stderr.wait(r"\bupgrading pid=(\d+)")[1])
    proxy.process.kill()
    thread.join(10)
    proxy.wait_for_end(new)


def test_a_changed_file_is_loaded_when_the_upgrade_has_failed(upgraded, address, recorder, replace):
    proxy = upgraded(f"listen: {address}\nupstream: {recorder().url}\n", trailing=["--watch"])
    replace("exec sleep 60")
    thread = threading.Thread(target=lambda: proxy.upgrade("--timeout", "1500ms"))
    thread.start()
    proxy.stderr.wait(r"\bupgrading pid=")
    proxy.write(f"listen: {address}\nupstream: {recorder().url}\n")
    proxy.stderr.wait(r" reload rejected\b")
    thread.join(10)
    proxy.stderr.wait(r" reloaded generation=2")


def test_more_sockets_than_can_be_handed_over(upgraded, recorder, tmp_path):
    listeners = ", ".join(f"'unix:{tmp_path}/{number}.sock'" for number in range(251))
    proxy = upgraded(f"listeners: [ {listeners} ]\nupstream: {recorder().url}\n")
    command = proxy.upgrade()
    assert command.code == 1
    assert "listening sockets, and an upgrade hands over 250; restart instead" in command.stderr.text


def test_a_daemon_that_drains(proxy):
    caller = proxy.connect()
    caller.send(b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n")
    proxy.stderr.wait(r"\bready\b")
    proxy.admin("/drain", "POST")
    command = proxy.upgrade()
    assert command.code == 1 and "draining" in command.stderr.text


@pytest.mark.parametrize("text", ["0s", "soon", "-1s"])
def test_a_time_that_makes_no_sense(proxy, text):
    assert proxy.upgrade("--timeout", text).code == 2
    assert proxy.admin(f"/upgrade?timeout={text}", "POST").status_code == 400


def test_a_program_that_martlet_runs(martlet, command, tmp_path):
    """It has this process for a parent."""
    (tmp_path / "m.yaml").write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nadmin: unix:{tmp_path}/a.sock\n")
    one = command("exec", "-c", tmp_path / "m.yaml", "--", BINARY, "upgrade", "--admin", f"unix:{tmp_path}/a.sock")
    assert one.code == 1 and "runs a program" in one.stderr.text


def test_the_first_process_of_a_container(running, tmp_path):
    proxy = running(
        Martlet("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", tmp_path, through=["unshare", "--pid", "--fork", "--kill-child"])
    )
    one = running(Command("upgrade", "--admin", f"unix:{proxy.admin_socket}"))
    assert one.exit_code() == 1 and "start a new container" in one.stderr.text


def test_a_caller_that_connects_meanwhile_waits(upgraded, recorder, replace, program, tmp_path):
    """Both processes have the socket, so nobody is refused between them."""
    upstream = recorder(OK)
    proxy = upgraded(f"listen: unix:{tmp_path}/rpc.sock\nupstream: {upstream.url}\n")
    kept = program.with_name("kept")
    kept.hardlink_to(program)
    replace(f"sleep 0.3; exec {kept} \"$@\"")
    results = []
    thread = threading.Thread(target=lambda: results.append(proxy.upgrade().code))
    thread.start()
    while thread.is_alive():
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(10)
            caller.connect(str(tmp_path / "rpc.sock"))
            caller.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            assert caller.recv(100).startswith(b"HTTP/1.1 200")
    thread.join()
    assert results == [0]
