"""A server that stops resets the connections that it has not accepted: their calls go to another one, if that is safe."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.http1.recorder import Recorder
from support.servers.replicas import listed
from support.wait import eventually

CALLS = 12


class Stopping:
    """Its kernel takes connections and what is sent on them; it accepts none, and resets them all when it stops."""

    def __init__(self, host):
        self.listener = socket.create_server((host, 0), backlog=64)
        self.name = "{}:{}".format(*self.listener.getsockname())

    def stop(self):
        self.listener.close()


@pytest.fixture
def stopping(running):
    return running(Stopping("127.0.0.31"))


@pytest.fixture
def other(running):
    server = running(Recorder(host="127.0.0.32"))
    server.name = server.url.removeprefix("http://")
    return server


def calls(proxy, stopping, method, body=b""):
    """Calls at the same time, some of which wait at a server until it stops; returns the responses and the retries."""
    with proxy.http() as http, ThreadPoolExecutor(CALLS) as threads:
        responses = [threads.submit(http.request, method, "/orders", content=body) for _ in range(CALLS)]
        eventually(lambda: sum(response.done() for response in responses) == CALLS - waiting(proxy), what="the others")
        assert waiting(proxy) > 0
        stopping.stop()
        return [response.result(10) for response in responses], proxy.metrics().total("martlet_upstream_retries_total")


def waiting(proxy):
    """How many connections have a call that has been sent, and no response."""
    return proxy.metrics().total("martlet_upstream_connections", state="active")


@pytest.mark.parametrize("method, body", [("GET", b""), ("PUT", b"some pieces" * 4000), ("DELETE", b"")])
def test_what_may_be_done_twice_is_retried(martlet, stopping, other, method, body):
    responses, retries = calls(martlet(listed([stopping, other], scheme="http")), stopping, method, body)
    assert [(response.status_code, response.text) for response in responses] == [(200, "ok")] * CALLS
    assert retries > 0
    assert [(request.method, request.body) for request in other.requests] == [(method, body)] * CALLS


def test_what_may_not_is_an_error(martlet, stopping, other):
    responses, retries = calls(martlet(listed([stopping, other], scheme="http")), stopping, "POST", b"pay")
    failed = [response.json()["message"] for response in responses if response.status_code == 502]
    assert len(failed) == CALLS - len(other.requests) > 0 == retries
    assert all("closed before the response" in message for message in failed)


def test_an_upstream_of_one_address_has_no_other(martlet, stopping):
    responses, retries = calls(martlet(upstream=f"http://{stopping.name}"), stopping, "GET")
    assert [response.status_code for response in responses] == [502] * CALLS and retries == 0
