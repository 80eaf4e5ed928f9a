"""Another program has the port for twelve seconds. The service says so, waits, and comes up by itself."""

import socket
import time

from support.callers import call
from machine.service import responses
from support.wait import eventually


def test_the_port_becomes_free(service):
    service.configure(responses())
    with socket.create_server(("127.0.0.1", 8080)):
        until = time.monotonic() + 12
        service.control("start --no-block", check=True)
        eventually(lambda: "127.0.0.1:8080" in service.show("StatusText"), what="a status that names the port")
        eventually(lambda: time.monotonic() > until, 15, "the end of twelve seconds")
        assert service.state == "activating"
    service.wait_for_state("active", within=15)
    assert service.show("NRestarts") == "0"
    assert call() == (200, "ok")
