"""An upstream leads back to Martlet, directly or through another one. The call ends soon, with an error that says so."""

import time

import httpx
import pytest

from support.martlet import CLEAR_TEXT
from support.ports import free_port
from support.protocol import SAY

pytestmark = pytest.mark.alone


def places(kind, directory, count):
    """For each of `count` daemons where it listens, and the URL by which it is an upstream."""
    found = []
    for number in range(count):
        port, path = free_port(), directory / f"loop{number}.sock"
        url = {
            "http": f"http://127.0.0.1:{port}",
            "h2c": f"h2c://127.0.0.1:{port}",
            "unix": f"unix:{path}",
            "unix+h2c": f"unix+h2c:{path}",
        }[kind]
        found.append((f"unix:{path}" if kind.startswith("unix") else f"127.0.0.1:{port}", url))
    return found


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("kind", ["http", "h2c", "unix", "unix+h2c"])
def test_loop(martlet, tmp_path, kind, count):
    loop = places(kind, tmp_path, count)
    daemons = []
    for number, (address, _) in enumerate(loop):
        text = f'listen: [ "127.0.0.1:0", "{address}" ]\nupstream: "{loop[(number + 1) % count][1]}"\nworkers: 2\n'
        daemons.append(martlet(text))
    with httpx.Client(base_url=daemons[0].url, **CLEAR_TEXT, timeout=10) as http:
        for ask in (lambda: http.get("/a"), lambda: http.post(SAY, json={}), lambda: http.get("/b")):
            began = time.monotonic()
            response = ask()
            assert time.monotonic() - began < 3
            assert "an upstream leads back to Martlet" in response.text, response.text
            assert response.status_code == 502
            assert "proxy_loop_detected" in response.headers["proxy-status"]
    rejected = sum(daemon.metrics().total("martlet_rejected_requests_total", reason="loop") for daemon in daemons)
    assert rejected == 3  # once for each call
    assert any(daemon.stderr.matches("request rejected.*reason=loop") for daemon in daemons)
    for daemon in daemons:
        assert daemon.open_descriptors() < 300
        assert daemon.admin("/healthz").status_code == 200


def test_a_listener_may_be_the_upstream_of_another(martlet, recorder, running):
    """Busy, each call through two listeners of one daemon: none of them is a loop, and what is marked can be stripped."""
    from support.concurrency import at_once

    port, upstream = free_port(), recorder()
    proxy = martlet(
        f"""
        listen: [ "127.0.0.1:0", "127.0.0.1:{port}" ]
        upstreams:
          inner: "http://127.0.0.1:{port}"
          outer: {upstream.url}
        chains:
          strip: [ headers: {{ request: {{ remove: [cdn-loop] }} }} ]
          inward: [ headers: {{ request: {{ set: {{ x-inner: "1" }} }} }} ]
        routes:
          - match: {{ header: {{ x-inner: "1" }} }}
            upstream: outer
            chain: strip
          - upstream: inner
            chain: inward
        workers: 1
        """
    )

    def calls(number):
        # One client for all would close connections that its other threads still wait for.
        with proxy.http(timeout=30) as http:
            return [http.get("/").status_code for _ in range(20)]

    statuses = at_once(64, calls)
    assert {status for each in statuses for status in each} == {200}
    assert proxy.metrics().total("martlet_rejected_requests_total", reason="loop") == 0
    assert {request.header("cdn-loop") for request in upstream.requests} == {None}
