"""A reload that is asked for while the daemon drains is rejected, with a line in the log, and counted."""

import threading

import pytest

from support.http1.recorder import OK
from support.wait import eventually

TEXT = "listen: 127.0.0.1:0\nupstream: {url}\n"
REASON = "martlet.yaml: the daemon is draining"


@pytest.fixture
def draining(martlet, recorder):
    """Starts a daemon that drains until the test ends, since a call is under way."""
    gate, callers = threading.Event(), []

    def response(_):
        gate.wait(30)
        return OK

    upstream = recorder(response)

    def start(**options):
        proxy = martlet(TEXT.format(url=upstream.url), **options)
        callers.append(proxy.connect())
        callers[0].send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        eventually(lambda: upstream.requests)
        proxy.admin("/drain", "POST")
        proxy.stderr.wait(r" draining\b")
        return proxy

    yield start
    gate.set()


def rejections(proxy):
    return proxy.metrics().total("martlet_config_reloads_total", result="error")


def test_a_signal(draining, notify):
    manager = notify()
    proxy = draining(environment=manager.environment)
    manager.next("STOPPING")
    proxy.reload(outcome="reload rejected")
    proxy.stderr.wait(rf" error \S+/{REASON}")
    assert rejections(proxy) == 1
    # The service manager hears no more that the daemon serves.
    seen = len(manager.seen)
    manager.wait_for_silence("READY", 0.2)
    assert not any("READY" in message for message in manager.seen[seen:])


def test_the_admin_page(draining):
    proxy = draining()
    response = proxy.admin("/reload", "POST")
    assert response.status_code == 422 and REASON in response.text
    assert rejections(proxy) == 1


def test_a_file_that_is_watched(draining):
    proxy = draining(trailing=["--watch"])
    proxy.write("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n")
    proxy.stderr.wait(r" error reload rejected\b")
    proxy.stderr.wait(rf" error \S+/{REASON}")
    assert rejections(proxy) == 1
