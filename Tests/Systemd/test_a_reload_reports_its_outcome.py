"""systemctl reload exits with 0 when the new file is valid. It fails when the daemon rejects the file, and the reason is in the journal."""

import socket

from support.callers import call
from machine.service import responses


def test_a_good_file(service):
    service.start(responses())
    service.configure(responses(body="new"))
    assert service.control("reload").returncode == 0
    assert call() == (200, "new")
    service.wait_for_log("reloaded generation=2")
    assert "generation=3" not in service.log()


def test_a_bad_file(service):
    service.start(responses())
    service.configure("listn: 1\n")
    assert service.control("reload").returncode != 0
    service.wait_for_log('unknown key "listn"')
    assert call() == (200, "ok") and service.state == "active"


def test_a_file_that_this_machine_cannot_serve(service):
    service.start(responses())
    with socket.create_server(("127.0.0.1", 8081)):
        service.configure(responses(listen="[127.0.0.1:8080, 127.0.0.1:8081]", body="new"))
        assert service.martlet("check").returncode == 0
        assert service.control("reload").returncode != 0
    service.wait_for_log("cannot listen on 127.0.0.1:8081")
    assert call() == (200, "ok")
    assert service.control("reload").returncode == 0
    assert call(address=("127.0.0.1", 8081)) == (200, "new")
