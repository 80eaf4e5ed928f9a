"""A Unix socket has the configured mode, replaces a stale path, respects one in use, and is removed at exit."""

import os
import socket
import stat

import pytest

from listeners.forbidden_calls import forbid_chown
from support.wait import eventually


def serve(martlet, recorder, path, more="", **options):
    return martlet(
        f"""
        listeners: [ {{ address: "unix:{path}"{more} }} ]
        upstream: {recorder().url}
        """,
        **options,
    )


@pytest.mark.parametrize("mode", [None, 0o600, 0o666])
def test_mode(martlet, recorder, tmp_path, mode):
    path = tmp_path / "rpc.sock"
    proxy = serve(martlet, recorder, path, f', mode: "{mode:04o}"' if mode else "")
    assert stat.S_IMODE(path.stat().st_mode) == (mode or 0o660)
    with proxy.http() as http:
        assert http.get("/").text == "ok"


def test_group(martlet, recorder, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root may give a socket to another group")
    path = tmp_path / "rpc.sock"
    serve(martlet, recorder, path, ", owner: nobody, group: daemon")
    assert (path.owner(), path.group()) == ("nobody", "daemon")


def test_no_owner_is_changed_if_none_is_configured(martlet, recorder, tmp_path):
    path = tmp_path / "rpc.sock"
    proxy = serve(martlet, recorder, path, ', mode: "0600"', preexec_fn=forbid_chown)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with proxy.http() as http:
        assert http.get("/").text == "ok"


def test_an_owner_that_cannot_be_set_is_reported_with_its_cause(martlet, recorder, tmp_path):
    path = tmp_path / "rpc.sock"
    proxy = serve(martlet, recorder, path, ", group: daemon", preexec_fn=forbid_chown, wait=False)
    assert proxy.exit_code() == 1
    assert "cannot set group daemon: lchown: Operation not permitted (errno 1); the process must be" in proxy.stderr.text


def test_a_stale_socket_is_replaced_and_unlinked_at_exit(martlet, recorder, tmp_path):
    path = tmp_path / "rpc.sock"
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    proxy = serve(martlet, recorder, path)
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    proxy.process.terminate()
    assert proxy.exit_code() == 0
    assert not path.exists() and not proxy.admin_socket.exists()


def test_a_live_socket_is_an_error(martlet, recorder, tmp_path):
    first = serve(martlet, recorder, tmp_path / "rpc.sock")
    second = serve(martlet, recorder, tmp_path / "rpc.sock", wait=False)
    assert second.exit_code() == 1
    eventually(lambda: "rpc.sock" in second.stderr.text, what="the path in the log")
    with first.http() as http:
        assert http.get("/").text == "ok"


def test_a_file_that_is_not_a_socket_is_left_alone(martlet, recorder, tmp_path):
    path = tmp_path / "precious"
    path.write_text("data")
    assert serve(martlet, recorder, path, wait=False).exit_code() == 1
    assert path.read_text() == "data"
