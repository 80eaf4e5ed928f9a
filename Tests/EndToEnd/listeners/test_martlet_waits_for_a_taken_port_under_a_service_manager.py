"""A taken port is an error at a prompt. Under a service manager Martlet waits for it."""

import signal
import socket

import pytest

pytestmark = pytest.mark.alone

CONFIGURATION = """
listen: 127.0.0.1:{port}
upstream: {url}
"""


def occupied():
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    return taken, taken.getsockname()[1]


def test_at_a_prompt(martlet, recorder):
    taken, port = occupied()
    with taken:
        proxy = martlet(CONFIGURATION.format(port=port, url=recorder().url), wait=False)
        assert proxy.exit_code() == 1
        assert f"cannot listen on 127.0.0.1:{port}: another process uses the address" in proxy.stderr.text


def test_until_it_is_free(martlet, recorder, notify):
    manager = notify()
    taken, port = occupied()
    proxy = martlet(
        CONFIGURATION.format(port=port, url=recorder().url), environment=manager.environment, wait=False
    )
    waiting = manager.next("STATUS")
    assert f"127.0.0.1:{port}: another process uses the address; retrying in 1 s" in waiting["STATUS"]
    assert int(waiting["EXTEND_TIMEOUT_USEC"]) > 1_000_000
    assert "retrying in 2 s" in manager.next("STATUS")["STATUS"]
    taken.close()
    assert manager.next("READY")["STATUS"] == "serving"
    proxy.stderr.wait(r" info ready ")
    with proxy.http() as http:
        assert http.get("/").text == "ok"


def test_a_stop_meanwhile(martlet, recorder, notify):
    manager = notify()
    taken, port = occupied()
    with taken:
        proxy = martlet(
            CONFIGURATION.format(port=port, url=recorder().url), environment=manager.environment, wait=False
        )
        manager.next("STATUS")
        proxy.signal(signal.SIGTERM)
        assert proxy.exit_code() == 0


def test_another_file_meanwhile(martlet, recorder, notify):
    manager = notify()
    taken, port = occupied()
    with taken:
        url = recorder().url
        proxy = martlet(CONFIGURATION.format(port=port, url=url), environment=manager.environment, wait=False)
        manager.next("STATUS")
        proxy.write("listn: 1\n")
        proxy.signal(signal.SIGHUP)
        proxy.stderr.wait(r'unknown key "listn"')
        proxy.write(CONFIGURATION.format(port=0, url=url))
        proxy.signal(signal.SIGHUP)
        proxy.stderr.wait(r" info ready ")
        with proxy.http() as http:
            assert http.get("/").text == "ok"
