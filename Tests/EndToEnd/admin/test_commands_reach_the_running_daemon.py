"""healthcheck, status and reload find the daemon by its file or by the address of its admin socket."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\n"


@pytest.mark.parametrize("by", ["file", "address"])
def test_healthcheck(martlet, command, by):
    proxy = martlet(CONFIGURATION)
    where = ["-c", proxy.file] if by == "file" else ["--admin", f"unix:{proxy.admin_socket}"]
    assert command("healthcheck", *where).code == 0
    status = command("status", *where)
    assert status.code == 0 and status.stdout.text
    reload = command("reload", *where)
    # It asks once, whatever the way to the socket.
    assert reload.code == 0 and '"generation":2' in reload.stdout.text
    assert proxy.stderr.wait(r" reloaded generation=2\b")
    proxy.write("listn: 1\n")
    rejected = command("reload", "--admin", f"unix:{proxy.admin_socket}")
    assert rejected.code != 0
    assert 'unknown key "listn"' in rejected.stderr.text + rejected.stdout.text


def test_status_shows_why_a_reload_was_rejected(martlet, command):
    proxy = martlet(CONFIGURATION)
    proxy.write("listn: 1\n" * 12)
    assert command("reload", "-c", proxy.file, "--admin", f"unix:{proxy.admin_socket}").code == 1
    reported = command("status", "--admin", f"unix:{proxy.admin_socket}").stdout.text
    assert "last reload: rejected\n" in reported and 'unknown key "listn"' in reported
    assert reported.count("\n  ") == 11 and "\n  and 4 more; run martlet check\n" in reported
    proxy.write(CONFIGURATION)
    assert command("reload", "--admin", f"unix:{proxy.admin_socket}").code == 0
    assert "last reload: succeeded\n" in command("status", "--admin", f"unix:{proxy.admin_socket}").stdout.text


def test_a_daemon_without_its_token_is_healthy_but_not_ready(martlet, command, tmp_path):
    token = tmp_path / "token"
    proxy = martlet(f"{CONFIGURATION}interceptors:\n  - token: {{ file: {token} }}\n")
    assert command("healthcheck", "-c", proxy.file).code == 0
    unready = command("--ready", "healthcheck", "-c", proxy.file)
    assert unready.code == 1 and "missing credentials: token" in unready.stderr.text
    token.write_text("t0ken")
    eventually(lambda: command("healthcheck", "-c", proxy.file, "--ready").code == 0, what="a daemon that is ready")


def test_a_draining_daemon_is_not_healthy_for_long(martlet, command):
    proxy = martlet(CONFIGURATION)
    proxy.process.terminate()
    proxy.exit_code()
    assert command("healthcheck", "--admin", f"unix:{proxy.admin_socket}").code == 1


@pytest.mark.skipif(os.getuid() != 0, reason="root alone can become another user")
def test_a_user_without_permission_gets_an_error(martlet, command):
    proxy = martlet(CONFIGURATION)
    for directory in [proxy.directory, *proxy.directory.parents]:
        directory.chmod(directory.stat().st_mode | 0o111)
    result = command("status", "--admin", f"unix:{proxy.admin_socket}", preexec_fn=lambda: os.setuid(65534))
    assert result.code == 1 and f"permission denied at unix:{proxy.admin_socket}" in result.stderr.text


def test_a_change_that_needs_a_restart_is_reported(martlet, command):
    proxy = martlet(CONFIGURATION + "workers: 1\n")
    proxy.write(CONFIGURATION + "workers: 2\n")
    assert command("reload", "-c", proxy.file).stdout.text == '{"generation":2,"needs_restart":["workers"]}'
    reported = command("status", "-c", proxy.file).stdout.text
    assert "last reload: succeeded; a change of workers requires a restart\n" in reported


def test_no_daemon_runs(command, tmp_path):
    for name in ("healthcheck", "status", "reload"):
        result = command(name, "--admin", f"unix:{tmp_path}/none.sock")
        assert result.code == 1 and result.stderr.text


def test_a_file_that_is_wrong_elsewhere_still_names_the_admin_socket(martlet, command):
    proxy = martlet(CONFIGURATION)
    proxy.write("listn: 1\nupstream: 7\n")
    for name in ("healthcheck", "status"):
        assert command(name, "-c", proxy.file).code == 0


def test_a_file_without_an_admin_socket(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION)
    result = command("healthcheck", "-c", file)
    assert result.code == 78 and f"{file} has no admin socket" in result.stderr.text
    assert "or use --admin ADDRESS" in result.stderr.text


def test_a_service_that_does_not_run_does_not_respond(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION)
    result = command("healthcheck", "-c", file, environment={"RUNTIME_DIRECTORY": str(tmp_path)})
    assert result.code == 1 and f"no daemon is listening at unix:{tmp_path}/admin.sock" in result.stderr.text


@pytest.mark.parametrize("directories", ["{0}", "{0}:{0}/other"], ids=["one", "two"])
def test_a_file_without_an_admin_socket_in_a_service(martlet, command, tmp_path, directories):
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    environment = {"RUNTIME_DIRECTORY": directories.format(runtime)}
    proxy = martlet(CONFIGURATION, environment=environment, admin=False)
    assert (runtime / "admin.sock").stat().st_mode & 0o777 == 0o600
    for name in ("healthcheck", "status", "reload"):
        assert command(name, "-c", proxy.file, environment=environment).code == 0


def test_a_daemon_that_runs_by_an_earlier_file_is_found(martlet, command, tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    environment = {"RUNTIME_DIRECTORY": str(runtime)}
    proxy = martlet(CONFIGURATION, environment=environment, admin=False)
    proxy.write(CONFIGURATION + f"admin: unix:{tmp_path}/other.sock\n")
    assert command("reload", "-c", proxy.file, environment=environment).code == 0
    proxy.stderr.wait(r" warn a change of admin requires a restart")


def test_a_user_finds_a_service_of_their_own(martlet, command, tmp_path):
    runtime = tmp_path / "runtime" / "martlet"
    runtime.mkdir(parents=True)
    martlet(CONFIGURATION, environment={"RUNTIME_DIRECTORY": str(runtime)}, admin=False)
    file = tmp_path / "config" / "martlet" / "martlet.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(CONFIGURATION)
    environment = {"XDG_RUNTIME_DIR": str(runtime.parent), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    assert command("status", "-c", file, environment=environment).code == 0


def test_a_command_does_not_reach_the_daemon_of_another_file(martlet, command, tmp_path):
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    other = martlet(CONFIGURATION, environment={"RUNTIME_DIRECTORY": str(runtime)}, admin=False)
    file = tmp_path / "mine.yaml"
    file.write_text(CONFIGURATION + f"admin: unix:{tmp_path}/mine.sock\n")
    environment = {"XDG_RUNTIME_DIR": str(tmp_path)}
    (tmp_path / "martlet").symlink_to(runtime)
    for name in ("healthcheck", "status", "reload"):
        result = command(name, "-c", file, environment=environment)
        assert result.code == 1 and f"no daemon is listening at unix:{tmp_path}/mine.sock" in result.stderr.text
    assert " reloaded " not in other.stderr.text


def test_a_slow_reload_is_requested_once(command, tmp_path):
    path = tmp_path / "admin.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        file = tmp_path / "martlet.yaml"
        file.write_text(CONFIGURATION + f"admin: unix:{path}\n")
        environment = {"RUNTIME_DIRECTORY": str(tmp_path)}
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(command, "reload", "-c", file, environment=environment)
            connection, _ = listener.accept()
            assert connection.recv(1024).startswith(b"POST /reload ")
            # A daemon that ends in the middle of it; one that is stuck is reported in the same words, ten seconds later.
            connection.close()
            result = asked.result()
        assert result.code == 1 and f"no response from unix:{path}; the daemon is stuck" in result.stderr.text
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_default_admin_socket_may_be_missing(martlet, recorder, tmp_path):
    environment = {"RUNTIME_DIRECTORY": str(tmp_path / "none")}
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {recorder().url}\n", environment=environment, admin=False)
    proxy.stderr.wait(r" warn no admin socket reason=.*/none/admin\.sock: the directory does not exist")
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    proxy.reload()
    assert "a change of admin requires a restart" not in proxy.stderr.text


def test_a_file_that_is_not_yaml_is_an_error(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION + "\tx: 1\n")
    result = command("healthcheck", "-c", file)
    assert result.code == 78 and f"{file}:3:" in result.stderr.text
    assert "has no admin socket" not in result.stderr.text


def test_a_changed_admin_socket_is_reported(martlet, tmp_path):
    proxy = martlet(CONFIGURATION + f"admin: unix:{tmp_path}/a.sock\n")
    warning = "a change of admin requires a restart"
    for generation, name in enumerate("bba", start=2):
        before = proxy.stderr.text.count(warning)
        proxy.write(CONFIGURATION + f"admin: unix:{tmp_path}/{name}.sock\n")
        proxy.signal(signal.SIGHUP)
        proxy.stderr.wait(rf" reloaded generation={generation}\b")
        assert proxy.stderr.text.count(warning) - before == (name == "b")


def test_a_file_that_is_not_there(command, tmp_path):
    result = command("healthcheck", "-c", tmp_path / "none.yaml")
    assert result.code == 78 and f"cannot read {tmp_path}/none.yaml: " in result.stderr.text


@pytest.mark.parametrize("address", ["nonsense", "example.test:9901", "abstract:martlet", "unix:" + "x" * 200])
def test_an_invalid_address(command, address):
    result = command("status", "--admin", address)
    shown = address if len(address) <= 60 else address[:60] + "…"
    assert result.code == 2 and f'"{shown}" is not a valid admin address' in result.stderr.text
