"""A signal to stop comes when the new process may accept calls and has not said so: its calls are not cut off."""

import signal
import socket
import sys
import threading

import pytest
from support.wait import eventually

# The new process, as far as the old one can tell: it says that it is ready, and goes on when the test says how.
PROGRAM = """
import os, socket, sys
channel = socket.socket(fileno=int(os.environ["MARTLET_UPGRADE"]))
test = socket.create_connection(("127.0.0.1", {port}))
channel.send(b"ready")
while word := channel.recv(100):
    test.send(word + b"\\n")
    if word in (b"own", b"stop"):
        continue
    if word == b"serve" and (reply := test.recv(100)) == b"end":
        sys.exit(1)
    channel.send(b"serving")
"""


class NewProcess:
    """The test's end of it."""

    def __init__(self, replace, path):
        self._listener = socket.create_server(("127.0.0.1", 0))
        path.write_text(PROGRAM.format(port=self._listener.getsockname()[1]))
        replace(f"exec {sys.executable} {path}")

    def wait_for_turn(self):
        self.peer, _ = self._listener.accept()
        self.peer.settimeout(10)
        self.words = self.peer.makefile("rb")
        assert self.word() == b"serve\n"

    def say(self, word):
        self.peer.send(word)

    def word(self):
        return self.words.readline()

    def stop(self):
        self.peer.close()
        self._listener.close()


@pytest.fixture
def proxy(upgraded, address, recorder):
    return upgraded(f"listen: {address}\nupstream: {recorder().url}\ndrain: {{ min: 0s }}\n")


@pytest.fixture
def turning(proxy, replace, running, tmp_path):
    """The new process, at its turn; the command that waits for it is over when the test is."""
    new = running(NewProcess(replace, tmp_path / "new.py"))
    thread = threading.Thread(target=proxy.upgrade)
    thread.start()
    new.wait_for_turn()
    yield new
    thread.join(10)


def stop_twice(proxy):
    """As systemd does, which repeats the signal to whoever is left; the state that it logs shows that it has come."""
    for count in (1, 2):
        proxy.process.send_signal(signal.SIGTERM)
        proxy.process.send_signal(signal.SIGUSR2)
        eventually(lambda: len(proxy.stderr.matches(" state ")) == count)
    assert not proxy.stderr.matches(" draining ") and proxy.process.poll() is None


def test_the_new_process_serves(proxy, turning):
    stop_twice(proxy)
    turning.say(b"serve")
    assert turning.word() == b"own\n"
    assert turning.word() == b"stop\n"
    proxy.stderr.wait(" draining ")
    assert proxy.process.wait(10) == 0


def test_the_new_process_fails(proxy, turning):
    stop_twice(proxy)
    turning.say(b"end")
    proxy.stderr.wait("upgrade failed")
    proxy.stderr.wait(" draining ")
    assert proxy.process.wait(10) == 0


@pytest.fixture
def old():
    """The old process, as far as the new one can tell: both ends of what they say to each other."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ends[0].settimeout(10)
    yield ends
    for end in ends:
        end.close()


def begin_turn(martlet, recorder, old):
    """A daemon that has its turn, and does not own the service yet."""
    ours, theirs = old
    options = {"environment": {"MARTLET_UPGRADE": str(theirs.fileno())}, "pass_fds": [theirs.fileno()], "wait": False}
    proxy = martlet(upstream=recorder().url, **options)
    assert ours.recv(100) == b"ready"
    ours.send(b"serve")
    assert ours.recv(100) == b"serving"
    return proxy


def test_the_new_process_is_told(martlet, recorder, old):
    proxy = begin_turn(martlet, recorder, old)
    old[0].send(b"own")
    old[0].send(b"stop")
    proxy.stderr.wait(" draining ")
    assert proxy.process.wait(10) == 0


def test_the_new_process_does_not_mind_the_end_of_the_old_one(martlet, recorder, old):
    proxy = begin_turn(martlet, recorder, old)
    old[0].send(b"own")
    proxy.stderr.wait(" ready ")
    old[0].close()
    proxy.reload()
    assert not proxy.stderr.matches(" draining | error ")
