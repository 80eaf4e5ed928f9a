"""healthcheck, status and reload find the daemon by its file or by the address of its admin socket."""

import pytest

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\n"


@pytest.mark.parametrize("by", ["file", "address"])
def test_healthcheck(martlet, command, by):
    proxy = martlet(CONFIGURATION)
    where = ["-c", proxy.file] if by == "file" else ["--admin", f"unix:{proxy.admin_socket}"]
    assert command("healthcheck", *where).code == 0
    status = command("status", *where)
    assert status.code == 0 and status.stdout.text
    assert command("reload", *where).code == 0
    assert proxy.stderr.wait(r" reloaded generation=2\b")
    proxy.write("listn: 1\n")
    refused = command("reload", "--admin", f"unix:{proxy.admin_socket}")
    assert refused.code != 0
    assert 'unknown key "listn"' in refused.stderr.text + refused.stdout.text


def test_a_draining_daemon_is_not_healthy_for_long(martlet, command):
    proxy = martlet(CONFIGURATION)
    proxy.process.terminate()
    proxy.exit_code()
    assert command("healthcheck", "--admin", f"unix:{proxy.admin_socket}").code == 1


def test_nobody_there(command, tmp_path):
    for name in ("healthcheck", "status", "reload"):
        result = command(name, "--admin", f"unix:{tmp_path}/none.sock")
        assert result.code == 1 and result.stderr.text
