"""Socket activation: the service manager passes the listening socket, and Martlet finds it by its name."""

from support.http1.peer import connect
from support.martlet import Martlet

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


def test_systemd_socket_activate(binary, running, recorder, tmp_path):
    path = tmp_path / "passed.sock"
    proxy = running(
        Martlet(
            f"listen: 'systemd:rpc'\nupstream: '{recorder().url}'\n",
            tmp_path,
            wait=False,
            through=["systemd-socket-activate", "-l", path, "--fdname=rpc"],
        )
    )
    proxy.stderr.wait("Listening on")
    caller = connect(str(path))  # the first connection starts the daemon and waits for it
    for _ in range(2):
        caller.send(REQUEST)
        assert caller.response().status == 200
    proxy.process.terminate()
    assert proxy.exit_code() == 0
    assert path.exists()  # it belongs to the service manager


def test_a_name_that_was_not_passed_is_an_error(martlet):
    proxy = martlet("listen: 'systemd:rpc'\nupstream: 'http://127.0.0.1:80'\n", wait=False)
    assert proxy.exit_code() == 1
    assert "systemd:rpc" in proxy.stderr.text
