"""`docker stop` sends SIGTERM and kills after 10 s: with the image's own configuration Martlet has exited by then."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from calling import say
from support.http1.recorder import JSON, Recorder

DOCKER_STOP = 10


@pytest.fixture
def upstream(shared, running):
    """An upstream that responds when `released` is set; `arrived` says that a request is there."""
    arrived, released = threading.Event(), threading.Event()

    def response(_):
        arrived.set()
        released.wait(30)
        return JSON

    upstream = running(Recorder(response, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    upstream.arrived, upstream.released = arrived, released
    yield upstream
    released.set()


def test_a_call_under_way_ends_well(container, own, shared, upstream):
    ours = container(configuration=own).wait()
    with ThreadPoolExecutor() as pool:
        call = pool.submit(say, shared, timeout=20)
        assert upstream.arrived.wait(5)
        ours.kill("TERM")
        ours.stderr.wait(r"\bdrain")
        upstream.released.set()
        assert call.result().json() == {}
    assert ours.exit_code() == 0


def test_a_call_without_end_does_not_make_docker_kill(container, own, shared, upstream):
    ours = container(configuration=own).wait()
    with ThreadPoolExecutor() as pool:
        call = pool.submit(say, shared, timeout=20)
        assert upstream.arrived.wait(5)
        began = time.monotonic()
        ours.kill("TERM")
        assert ours.exit_code(within=DOCKER_STOP) == 3
        assert time.monotonic() - began < DOCKER_STOP - 1
        assert call.result().json()["code"] == "unavailable"
        upstream.released.set()
