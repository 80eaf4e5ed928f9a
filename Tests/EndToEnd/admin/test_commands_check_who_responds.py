"""A command asks no process of another user, and shows nothing of a response that a terminal would obey."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from support.users import NOBODY, need_root

COMMANDS = [["status"], ["healthcheck"], ["reload"], ["stop"], ["stop", "--wait"], ["upgrade"], ["wait"], ["calls"], ["tap"]]
HOSTILE = "\x1b]0;owned\x07 \x9b31m \u202e\nnext"
SHOWN = "\\x1b]0;owned\\x07 \\x9b31m \\u202e\nnext"
# Listens on a socket, and prints each request that it receives.
IMPOSTOR = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1].replace("@", "\\0", 1))
listener.listen()
print("listening", flush=True)
while True:
    connection, _ = listener.accept()
    request = connection.recv(65536)
    if request:
        print(request, flush=True)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\nready")
    connection.close()
"""


@pytest.fixture
def place():
    """A directory in which every user can make a socket."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o1777)
        yield Path(directory)


@pytest.fixture
def impostor():
    """Starts a process of nobody that listens on an address; returns it."""
    need_root()
    started = []

    def start(address):
        words = [*NOBODY, sys.executable, "-c", IMPOSTOR, address]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        assert started[-1].stdout.readline() == "listening\n"
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_a_process_of_another_user_is_asked_nothing(command, impostor, place, kind):
    address = f"{place}/admin.sock" if kind == "path" else f"@martlet-test-{place.name}"
    process = impostor(address)
    for words in COMMANDS:
        result = command(*words, "--admin", f"unix:{address}")
        owner = ", nor does it own the directory" if kind == "path" else ""
        problem = f"user 65534 listens at unix:{address}, which is neither root nor this user{owner}; if that is the daemon, run"
        assert result.code == 1 and problem in result.stderr.text and not result.stdout.text, (words, result.stderr.text)
    process.kill()
    assert process.stdout.read() == ""


def test_the_owner_of_the_directory_is_asked(command, impostor, place):
    """As root asks a service that runs as a user of its own."""
    shutil.chown(place, 65534)
    impostor(f"{place}/admin.sock")
    result = command("status", "--admin", f"unix:{place}/admin.sock")
    assert (result.code, result.stdout.text) == (0, "ready")


@pytest.fixture
def responder(tmp_path):
    """Listens as this user and responds to each request with a status and a body; returns the address."""
    listeners = []

    def start(status, body):
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(tmp_path / "admin.sock"))
        listener.listen()
        listeners.append(listener)
        response = f"HTTP/1.1 {status} Any\r\n\r\n{body}".encode()

        def serve():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(response)

        threading.Thread(target=serve, daemon=True).start()
        return f"unix:{tmp_path}/admin.sock"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_responses_are_shown_without_commands_to_the_terminal(command, responder):
    address = responder(200, HOSTILE)
    for words in [["status"], ["healthcheck"], ["reload"], ["stop"], ["upgrade"], ["curl", "abc"]]:
        result = command(*words, "--admin", address)
        assert (result.code, result.stdout.text) == (0, SHOWN), json.dumps([words, result.stdout.text])


def test_errors_are_shown_without_commands_to_the_terminal(command, responder):
    address = responder(503, HOSTILE)
    for words in [["status"], ["healthcheck"], ["reload"], ["stop"], ["upgrade"], ["calls"], ["wait", "--timeout", "10ms"]]:
        result = command(*words, "--admin", address)
        assert result.code == 1 and SHOWN in result.stderr.text, json.dumps([words, result.stderr.text])
