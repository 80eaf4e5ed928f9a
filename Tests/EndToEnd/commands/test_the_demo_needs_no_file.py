"""`martlet` alone serves Eliza on the address that the README names."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from support.martlet import Command

pytestmark = pytest.mark.alone

SAY = "http://127.0.0.1:8080/connectrpc.eliza.v1.ElizaService/Say"
RESPONSE = {"sentence": "Hello, I am Eliza. How are you feeling today?"}


@pytest.fixture
def demo(binary, running):
    for port in (8080, 9901):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                pytest.skip(f"another program has port {port} of the demo")
    if Path("/etc/martlet/martlet.yaml").exists():
        pytest.skip("this machine has a configuration of its own")
    program = running(Command())
    program.stderr.wait(r"\bready\b")
    return program


def test_curl(demo):
    command = ["curl", "-sS", "--noproxy", "*", "--fail-with-body", "-H", "content-type: application/json"]
    body = subprocess.check_output([*command, "-d", '{"sentence":"Hi"}', SAY], timeout=10)
    assert json.loads(body) == RESPONSE
    health = subprocess.check_output(["curl", "-sS", "--noproxy", "*", "http://127.0.0.1:9901/healthz"], timeout=10)
    assert health.strip() == b"ok"


def test_the_published_client(demo):
    from support.servers.eliza import Client

    assert Client("http://127.0.0.1:8080", "json").say("Hi") == RESPONSE["sentence"]
