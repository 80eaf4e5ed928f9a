"""With more idle connections than descriptors, those that have been idle longest are closed, and new callers are served at once."""

import os
import signal
import socket
import time

import pytest

from resources.descriptors import ended, limited_to, limits
from support.http1.peer import connect
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.alone

MANY = 1003
CALLERS = 1024 - 256  # a quarter is reserved
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


def start(martlet, recorder, address="127.0.0.1:0", workers=1, limit=(1024, 1024), tls="", more=""):
    return martlet(
        f"""
        listeners: [ {{ address: "{address}"{tls} }} ]
        upstreams: {{ default: {{ url: "{recorder(OK).url}", timeouts: {{ idle: 100ms }} }} }}
        interceptors: [ metrics ]
        workers: {workers}
        {more}
        """,
        **limited_to(*limit),
    )


def connect_many(proxy, count=MANY, words=b"", used=False):
    """Connections that say some words, or have had a call: those that have not are new for a second, and stay longer."""
    peers = []
    for _ in range(count):
        peers.append(proxy.connect())
        if words:
            peers[-1].send(words)
        if used:
            assert call(peers[-1]) == 200
    return peers


def within_a_second(function):
    began = time.monotonic()
    result = function()
    assert time.monotonic() - began < 1
    return result


def call(peer):
    peer.send(REQUEST)
    return peer.response().status


def all_callers_are_served(proxy, command):
    for _ in range(5):
        assert within_a_second(lambda: call(proxy.connect())) == 200
    assert within_a_second(lambda: command("healthcheck", "-c", proxy.file)).code == 0
    return within_a_second(proxy.metrics)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_one_worker(martlet, recorder, command, tmp_path, kind):
    proxy = start(martlet, recorder, "127.0.0.1:0" if kind == "tcp" else f"unix:{tmp_path}/in.sock")
    settled = proxy.connect()
    assert call(settled) == 200
    peers = connect_many(proxy, MANY - 1, used=True)
    eventually(lambda: ended(peers), what="the end of idle connections")
    metrics = all_callers_are_served(proxy, command)
    gone = ended(peers)
    assert gone == list(range(len(gone))), "those that were idle longest"
    assert settled.has_ended()
    assert all(call(peer) == 200 for peer in peers[len(gone) :: 20])
    assert MANY - CALLERS <= metrics.total("martlet_connections_evicted_total") <= MANY - CALLERS + 60
    assert metrics.total("martlet_descriptors", use="callers") == metrics.total("martlet_connections") <= CALLERS
    assert metrics.total("martlet_descriptors_limit", use="callers") == CALLERS
    assert metrics.total("martlet_limit_hits_total") == 0
    proxy.stderr.wait(r"warn file descriptors run short; closing the connections that are idle longest closed=\d+")


def test_two_workers_and_a_reload(martlet, recorder, command):
    proxy = start(martlet, recorder, workers=2)
    peers = connect_many(proxy, used=True)
    proxy.reload()
    peers += connect_many(proxy, 500, used=True)
    metrics = all_callers_are_served(proxy, command)
    gone = ended(peers)
    assert len(gone) >= MANY + 500 - CALLERS
    # Each worker closes its own first.
    assert max(gone) < len(peers) - 400
    assert metrics.total("martlet_limit_hits_total", limit="connections") == 0


def test_idle_http_2_connections(martlet, recorder, command):
    """They get a GOAWAY and close; a caller with an active call stays."""
    proxy = start(martlet, recorder)
    words = h2_peer.PREFACE + b"\0\0\0\4\0\0\0\0\0"
    peers = connect_many(proxy, CALLERS, words)
    eventually(lambda: proxy.metrics().total("martlet_connections") == CALLERS, what="the crowd")
    new = proxy.connect_h2()
    assert within_a_second(lambda: new.finish(new.open(h2_peer.request(), end=True))).status == 200
    eventually(lambda: ended(peers), what="the end of idle connections")
    gone = ended(peers)
    assert gone == list(range(len(gone)))
    assert b"\x07\0\0\0\0\0" in peers[0].rest(), "GOAWAY"
    all_callers_are_served(proxy, command)


def test_tls(martlet, recorder, command, authority):
    """Callers who never begin a handshake make room for those who do."""
    identity = authority().issue()
    tls = f', tls: {{ certificate: "{identity.certificate}", key: "{identity.key}" }}'
    proxy = start(martlet, recorder, tls=tls)
    peers = [connect(proxy.address) for _ in range(MANY)]
    eventually(lambda: ended(peers), what="the end of idle connections")
    assert ended(peers)[0] == 0
    assert within_a_second(lambda: command("healthcheck", "-c", proxy.file)).code == 0


def test_the_soft_limit_is_raised_to_the_hard_limit(martlet, recorder, command):
    proxy = start(martlet, recorder, limit=(1024, 4096))
    assert limits(proxy.pid) == (4096, 4096)
    peers = connect_many(proxy)
    metrics = all_callers_are_served(proxy, command)
    assert ended(peers) == []
    assert metrics.total("martlet_connections_evicted_total") == 0
    assert metrics.total("martlet_descriptors_limit", use="reserve") == 1024


def test_a_program_has_the_limit_that_martlet_was_started_with(martlet, recorder, tmp_path):
    script = tmp_path / "token"
    # The limit is set while the program is being loaded.
    script.write_text("#!/bin/sh\nsleep 0.1\nulimit -Sn\n")
    script.chmod(0o755)
    upstream = recorder(OK)
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors: [ token: {{ exec: {{ command: [{script}] }} }} ]
        """,
        **limited_to(1000, 2000),
    )
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert upstream.requests[-1].header("authorization") == "Bearer 1000"


@pytest.mark.parametrize("kind", ["HTTP/1.1", "HTTP/2", "used"])
def test_connections_to_upstreams_use_up_the_reserve(martlet, recorder, command, kind):
    """Then idle callers go earlier: none waits, and the last descriptors stay for the operator."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as silent:
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ good: {recorder(OK).url}, silent: "http://127.0.0.1:{silent.getsockname()[1]}" }}
            routes: [ {{ match: {{ path: /silent }}, upstream: silent }}, {{ upstream: good }} ]
            workers: 1
            """,
            **limited_to(256),
        )
        busy = connect_many(proxy, 70, REQUEST.replace(b"GET /", b"GET /silent"))
        eventually(lambda: proxy.metrics().total("martlet_upstream_connections", state="active") == 70, what="busy calls")
        words = h2_peer.PREFACE + b"\0\0\0\4\0\0\0\0\0" if kind == "HTTP/2" else b""
        connect_many(proxy, 400, words, used=kind == "used")
        metrics = all_callers_are_served(proxy, command)
        assert metrics.total("process_open_fds") < 256 - 8
        if kind == "used":
            # They came one after the other, so none was refused, and none waited.
            assert metrics.total("martlet_limit_hits_total") == 0
        assert ended(busy) == []


@pytest.mark.parametrize("words", [b"", h2_peer.PREFACE + b"\0\0\0\4\0\0\0\0\0"], ids=["silent", "HTTP/2"])
def test_many_callers_at_once(martlet, recorder, command, words):
    """All come at one time, so none has been idle for long enough to make room for the next: they wait for a moment."""
    proxy = start(martlet, recorder, limit=(128, 128))
    assert call(proxy.connect()) == 200
    os.kill(proxy.pid, signal.SIGSTOP)
    rush = connect_many(proxy, 400, words)
    last = proxy.connect()
    last.send(REQUEST)
    os.kill(proxy.pid, signal.SIGCONT)
    assert last.response().status == 200
    metrics = all_callers_are_served(proxy, command)
    assert metrics.total("martlet_limit_hits_total", limit="descriptors") == 0
    assert metrics.total("martlet_connections_evicted_total") >= len(rush) - 128


def test_programs_have_the_limit_that_martlet_was_started_with(martlet, recorder, tmp_path):
    """Also those that start others at once, which inherit it."""
    said = tmp_path / "said"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n(ulimit -n >>{said})\necho token\n")
    program.chmod(0o755)
    for number in range(8):
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            upstream: {recorder(OK).url}
            interceptors: [ {{ token: {{ exec: {{ command: [{program}] }} }} }} ]
            """,
            # So that a program runs before the daemon can do anything to it.
            **limited_to(512, 4096, one_processor=True),
        )
        with proxy.http() as http:
            assert http.get("/").status_code == 200
        assert said.read_text().split() == ["512"] * (number + 1)
        proxy.stop()
