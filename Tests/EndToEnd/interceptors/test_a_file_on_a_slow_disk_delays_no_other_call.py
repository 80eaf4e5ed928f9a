"""The file that a named call sends may be on a slow disk. Only calls that need the file wait for it."""

import json

import pytest

from support.compiler import SLOW_OPEN, compiled
from support.wait import eventually

LOGIN = {"data": {"file": "{file}"}}, {"multipart": [{"name": "part", "file": "{file}"}]}
RETRIED = "{ when: { path: /needs }, validate: { rules: [ { when: { status: 503 }, retry: { after: login } } ], max_retries: 1 } }"
REQUEST = b"GET /needs HTTP/1.1\r\nhost: a.example\r\n\r\n"


class Server:
    """Responds with 503 until there was a login."""

    def __init__(self):
        self.needed = 0
        self.logins = []

    def __call__(self, request):
        if request.target == "/login":
            self.logins.append(request.body)
        if request.target != "/needs":
            return response(200)
        self.needed += 1
        return response(200 if self.logins else 503)


def response(status):
    return b"HTTP/1.1 %d Any\r\ncontent-length: 0\r\n\r\n" % status


@pytest.fixture
def start(martlet, recorder, tmp_path):
    """Starts a daemon with one worker that logs in with a file, which is on a slow disk from then on."""

    def run(body):
        file = tmp_path / "body.slow"
        ready = tmp_path / "body.slow.ready"
        file.write_bytes(b"first")
        ready.touch()
        server = Server()
        upstream = recorder(server)
        body = json.loads(json.dumps(body).replace("{file}", str(file)))
        calls = {"login": {"url": f"{upstream.url}/login", "body": body}}
        more = f"workers: 1\ncalls: {json.dumps(calls)}\ninterceptors: [ {RETRIED} ]\n"
        library = compiled(SLOW_OPEN, tmp_path / "slow.so")
        proxy = martlet(upstream=upstream.url, more=more, environment={"LD_PRELOAD": library})
        ready.unlink()
        return proxy, server, file, ready

    return run


def waiting(proxy, server):
    """A caller whose call goes again after a login, which has begun."""
    caller = proxy.connect()
    caller.send(REQUEST)
    eventually(lambda: server.needed == 1, what="the first attempt")
    return caller


def is_served(proxy, calls=20):
    """Whether others are, meanwhile."""
    with proxy.http() as http:
        return [http.get("/other").status_code for _ in range(calls)] == [200] * calls


@pytest.mark.parametrize("body", LOGIN, ids=lambda body: next(iter(body)))
def test_only_the_call_that_needs_the_file_waits(start, body):
    proxy, server, file, ready = start(body)
    file.write_bytes(b"second")
    caller = waiting(proxy, server)
    assert is_served(proxy)
    assert not server.logins
    ready.touch()
    assert caller.read_exactly(12) == b"HTTP/1.1 200"
    assert len(server.logins) == 1 and b"second" in server.logins[0]


def test_nothing_is_sent_after_the_caller_disconnects(start):
    proxy, server, _, ready = start(LOGIN[0])
    waiting(proxy, server).close()
    proxy.wait_for_rest()
    ready.touch()
    assert is_served(proxy)
    assert not server.logins


def test_a_deleted_file_is_named_in_the_error(start):
    proxy, server, file, ready = start(LOGIN[0])
    file.unlink()
    ready.touch()
    with proxy.http() as http:
        response = http.get("/needs")
    assert (response.status_code, server.logins) == (503, [])
    assert f"call login: cannot read {file}: No such file or directory" in response.text
