"""`martlet stop`, `martlet wait` and POST /quitquitquit control a running daemon, also one that serves a program."""

import socket
import time

import pytest

from support.http1.recorder import OK, Recorder
from support.martlet import Command
from support.wait import eventually

REQUEST = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"


def admin(proxy):
    return ["--admin", f"unix:{proxy.admin_socket}"]


@pytest.fixture
def waiting(recorder):
    """An upstream that sends nothing by itself."""
    return recorder(script=lambda peer: peer.rest())


@pytest.fixture
def busy(martlet, waiting):
    """A daemon with a call under way, its caller and its upstream."""
    proxy = martlet(upstream=waiting.url, more="drain: { max: 60s }")
    caller = proxy.connect()
    caller.send(REQUEST)
    peer = waiting.wait_for_connections(1)
    eventually(lambda: peer.received, what="the request upstream")
    return proxy, caller, peer


def test_stop_drains(busy, command):
    proxy, caller, peer = busy
    result = command("stop", "-c", proxy.file)
    assert (result.code, result.stdout.text) == (0, "draining")
    assert proxy.process.poll() is None
    peer.send(OK)
    assert caller.response().body == b"ok"
    assert proxy.exit_code() == 0


def test_stop_waits_for_the_end(busy, running):
    proxy, caller, peer = busy
    stop = running(Command("stop", "--wait", *admin(proxy)))
    stop.stdout.wait("^draining$")
    proxy.stderr.wait(r" draining\b")
    assert stop.process.poll() is None and proxy.process.poll() is None
    peer.send(OK)
    assert caller.response().body == b"ok"
    assert stop.exit_code() == 0 and list(stop.stdout) == ["draining", "stopped"]
    assert proxy.exit_code() == 0


class Daemons(Recorder):
    """Stands for daemons on one socket: the one that is asked to stop, and the next, which has the same number."""

    def __init__(self, path):
        self.start, self.is_full = 1, False
        super().__init__(script=self._respond_once, path=path)

    def _respond_once(self, peer):
        self.requests.append(peer.request())
        peer.send(self._response_to(self.requests[-1]))

    def _response_to(self, request):
        if request.target == "/drain":
            return b"HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 8\r\n\r\ndraining"
        if self.is_full:
            return b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        body = f"process_start_time_seconds {self.start}\n".encode()
        return b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def test_stop_does_not_wait_for_the_next_daemon(running, tmp_path):
    daemons = running(Daemons(tmp_path / "admin.sock"))
    stop = running(Command("stop", "--wait", "--admin", f"unix:{tmp_path}/admin.sock"))
    stop.stdout.wait("^draining$")
    for is_full in (False, True):
        daemons.is_full = is_full
        asked = len(daemons.requests)
        eventually(lambda: len(daemons.requests) > asked + 2, what="more questions")
        assert stop.process.poll() is None
    daemons.start, daemons.is_full = 2, False
    assert stop.exit_code() == 0 and list(stop.stdout) == ["draining", "stopped"]


def test_stop_without_a_daemon(command, tmp_path):
    for options in ([], ["--wait"]):
        result = command("stop", *options, "--admin", f"unix:{tmp_path}/none.sock")
        assert result.code == 1 and f"no daemon is listening at unix:{tmp_path}/none.sock" in result.stderr.text


@pytest.mark.parametrize("way", ["stop", "/drain", "/quitquitquit"])
def test_the_program_is_asked_to_end(job, command, way):
    proxy = job("sh", "-c", "trap 'exit 5' TERM; echo on; while :; do sleep 0.05; done")
    proxy.stdout.wait("^on$")
    if way == "stop":
        assert command("stop", "--wait", *admin(proxy)).code == 0
    else:
        response = proxy.admin(way, method="POST")
        assert (response.status_code, response.text) == (202, "draining\n")
    assert proxy.exit_code() == 5


def test_quitquitquit_stops_a_daemon(martlet, recorder):
    proxy = martlet(upstream=recorder().url)
    assert proxy.admin("/quitquitquit").status_code == 405
    assert proxy.admin("/quitquitquit", method="POST").status_code == 202
    assert proxy.exit_code() == 0


def test_wait_for_a_daemon_that_is_ready(martlet, recorder, command):
    proxy = martlet(upstream=recorder().url)
    result = command("wait", "-c", proxy.file)
    assert (result.code, result.stdout.text) == (0, "ready")


def test_wait_for_a_token(martlet, recorder, running, tmp_path):
    proxy = martlet(upstream=recorder().url, more=f"interceptors:\n  - token: {{ file: {tmp_path}/token }}")
    wait = running(Command("wait", "--timeout", "none", *admin(proxy)))
    (tmp_path / "token").write_text("t0ken")
    assert wait.exit_code() == 0 and wait.stdout.text == "ready"


def test_wait_for_a_daemon_that_starts_later(martlet, recorder, running, tmp_path):
    wait = running(Command("wait", "--admin", f"unix:{tmp_path}/admin.sock"))
    martlet(upstream=recorder().url, directory=tmp_path)
    assert wait.exit_code() == 0 and wait.stdout.text == "ready"


def test_wait_says_what_is_missing(martlet, recorder, command, tmp_path):
    proxy = martlet(upstream=recorder().url, more=f"interceptors:\n  - token: {{ file: {tmp_path}/token }}")
    result = command("wait", "--timeout", "100ms", *admin(proxy))
    assert result.code == 1 and result.stderr.text == "martlet: not ready in time: missing credentials: token"


def test_wait_without_a_daemon(command, tmp_path):
    result = command("wait", "--timeout=100ms", "--admin", f"unix:{tmp_path}/none.sock")
    assert result.code == 1 and f"no daemon is listening at unix:{tmp_path}/none.sock" in result.stderr.text


def test_a_wait_is_over_soon_if_the_daemon_is_stuck(command, tmp_path):
    began = time.monotonic()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "admin.sock"))
        listener.listen()
        result = command("wait", "--timeout=200ms", "--admin", f"unix:{tmp_path}/admin.sock")
    assert result.code == 1 and f"no response from unix:{tmp_path}/admin.sock; the daemon is stuck" in result.stderr.text
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    "words, problem",
    [
        (["wait", "--timeout", "soon"], '--timeout cannot be "soon"; write a time such as 30s, or none'),
        (["stop", "--wait=1s"], "--wait takes no value"),
        (["wait", "--wait"], "--wait needs a value: --wait TIME"),
    ],
)
def test_a_wrong_command_line(command, words, problem):
    result = command(*words)
    assert result.code == 2 and problem in result.stderr.text
