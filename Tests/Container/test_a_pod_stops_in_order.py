"""A pod with Martlet as its native sidecar ends: its program first, which can call until then, and Martlet after it.

The test does what the kubelet does: the containers get SIGTERM together, but a sidecar only when they have ended.
"""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from calling import say
from pod import DEPLOYMENT, JOB
from support.http1.recorder import JSON, Recorder
from support.wait import eventually

CALL = "curl --silent --header content-type:application/json --data {} http://127.0.0.1:8080/shop.v1.OrderService"
# It calls once more when it is told to end.
PROGRAM = f"""
trap '{CALL}/Last && exit 0' TERM
{CALL}/First
while :; do sleep 0.05; done
"""


@pytest.fixture
def upstream(shared, running):
    """An upstream that responds; with `held` set, only when `released` is."""
    released, arrived, held = threading.Event(), threading.Event(), threading.Event()

    def response(_):
        arrived.set()
        if held.is_set():
            released.wait(30)
        return JSON

    upstream = running(Recorder(response, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    upstream.held, upstream.arrived, upstream.released = held, arrived, released
    yield upstream
    released.set()


@pytest.fixture
def sidecar(container, tmp_path, upstream):
    """Starts the sidecar of an example in a pod."""

    def start(example, **options):
        _, tokens, mounts = example.mounts(tmp_path, **options)
        arguments = example.sidecar.get("args", [])
        ours = container(*arguments, mounts=mounts, read_only=True, volumes=False, memory=example.memory).wait()
        ours.tokens = tokens
        return ours

    return start


def ready(sidecar, example):
    """Whether the kubelet would start the program."""
    return sidecar.exec(*example.sidecar["startupProbe"]["exec"]["command"]).returncode == 0


def paths(upstream):
    return [request.target.rpartition("/")[2] for request in upstream.requests]


def test_the_program_can_call_until_its_end(sidecar, upstream, running):
    ours = sidecar(DEPLOYMENT, address="127.0.0.1:8080")
    eventually(lambda: ready(ours, DEPLOYMENT), what="the startup probe")
    program = running(ours.inside("bash", "-c", PROGRAM))
    eventually(lambda: paths(upstream) == ["First"], what="the first call")
    began = time.monotonic()
    program.process.send_signal(signal.SIGTERM)
    assert program.exit_code() == 0
    ours.kill("TERM")
    assert ours.exit_code() == 0
    assert paths(upstream) == ["First", "Last"]
    assert [request.header("authorization") for request in upstream.requests] == ["Bearer first"] * 2
    assert time.monotonic() - began < DEPLOYMENT.grace


def test_a_program_that_is_killed_does_not_hold_the_pod(sidecar, upstream, running):
    """The call of the killed program ends with it, so that Martlet does not wait for `drain.max`."""
    ours = sidecar(DEPLOYMENT, address="127.0.0.1:8080")
    upstream.held.set()
    program = running(ours.inside(*CALL.split()[:-1], f"{CALL.split()[-1]}/First"))
    assert upstream.arrived.wait(5)
    program.process.kill()
    program.exit_code()
    began = time.monotonic()
    ours.kill("TERM")
    assert ours.exit_code() == 0
    assert time.monotonic() - began < int(DEPLOYMENT.settings["drain"]["max"].removesuffix("s")) / 2


def test_a_call_of_another_sidecar_ends_well(sidecar, upstream, shared):
    """Sidecars stop in reverse order, so that one which started before Martlet may still wait for a response."""
    ours = sidecar(DEPLOYMENT)
    upstream.held.set()
    with ThreadPoolExecutor() as pool:
        call = pool.submit(say, shared, timeout=20)
        assert upstream.arrived.wait(5)
        ours.kill("TERM")
        ours.stderr.wait(r"\bdrain")
        upstream.released.set()
        assert call.result().json() == {}
    assert ours.exit_code() == 0


@pytest.mark.parametrize("code", [0, 7])
def test_a_job_ends_with_its_program(sidecar, upstream, running, code):
    ours = sidecar(JOB, address="127.0.0.1:8080")
    eventually(lambda: ready(ours, JOB), what="the startup probe")
    program = running(ours.inside("bash", "-c", f"{CALL}/Report; exit {code}"))
    assert program.exit_code() == code
    assert program.stdout.text.strip() == "{}" and paths(upstream) == ["Report"]
    # Nothing but the kubelet ends it.
    assert ours.process.poll() is None
    ours.kill("TERM")
    assert ours.exit_code() == 0
    # What it logs is not in the way of what the program writes.
    assert ours.stdout.text == ""


def test_a_jobs_program_waits_for_the_token(sidecar, upstream, running):
    ours = sidecar(JOB, token="")
    assert not ready(ours, JOB)
    ours.tokens.write(orders="late")
    eventually(lambda: ready(ours, JOB), what="the startup probe")
