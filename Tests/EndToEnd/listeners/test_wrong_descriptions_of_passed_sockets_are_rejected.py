"""Martlet checks the variables about passed sockets before it opens anything, so it never uses a descriptor of its own."""

import os
import signal
import socket

import pytest

from support.passed_sockets import passing

CONFIGURATION = "listen: 127.0.0.1:0\ninterceptors: [ { respond: { body: ok } } ]\n"
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n"
# The shell becomes the daemon, so its own number is the one that is meant.
CLOSED = 'exec 3>&-; LISTEN_PID=$$ exec "$0" "$@"'
FILE = 'exec 3</dev/null; LISTEN_PID=$$ exec "$0" "$@"'


def through(script):
    return ["sh", "-c", script]


@pytest.mark.parametrize(
    "script, count, names",
    [
        (CLOSED, "1", "martlet-listener-1"),
        (CLOSED, "40", ":".join(f"martlet-listener-{number}" for number in range(40))),
        (FILE, "1", "martlet-listener-1"),
        (CLOSED, "-1", "rpc"),
        (CLOSED, "99999", "rpc"),
        (CLOSED, "x", "rpc"),
        ('exec 3>&-; LISTEN_PID=1 exec "$0" "$@"', "1", "rpc"),
    ],
    ids=["closed", "many closed", "a file", "negative", "far too many", "no number", "somebody else"],
)
def test_missing_and_unusable_descriptors_are_skipped(martlet, script, count, names):
    environment = {"LISTEN_FDS": count, "LISTEN_FDNAMES": names}
    proxy = martlet(CONFIGURATION, environment=environment, through=through(script))
    for _ in range(2):
        caller = proxy.connect()
        caller.send(REQUEST)
        assert caller.response().body == b"ok"
    proxy.reload()
    before = sum(os.times()[2:4])
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 0
    assert sum(os.times()[2:4]) - before < 5  # seconds of the children's processor time: no loop spins
    assert "epoll" not in proxy.stderr.text


@pytest.mark.parametrize("script", [CLOSED, FILE], ids=["closed", "a file"])
def test_a_named_descriptor_that_is_not_a_socket_is_an_error(martlet, script):
    environment = {"LISTEN_FDS": "1", "LISTEN_FDNAMES": "rpc"}
    proxy = martlet(CONFIGURATION, environment=environment, through=through(script), wait=False)
    assert proxy.exit_code() == 1
    assert "systemd:rpc: descriptor 3 is not a listening stream socket" in proxy.stderr.text


def udp():
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def unbound():
    return socket.socket()


def connected():
    pair = socket.socketpair()
    pair[1].detach()
    return pair[0]


@pytest.mark.parametrize("make", [udp, unbound, connected])
def test_a_socket_that_does_not_listen_is_an_error(martlet, make):
    with make() as wrong, passing([("rpc", wrong.fileno())]) as options:
        proxy = martlet(CONFIGURATION, wait=False, **options)
    assert proxy.exit_code() == 1
    assert "descriptor 3 is not a listening stream socket" in proxy.stderr.text
