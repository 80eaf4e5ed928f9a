"""The sidecar of the Kubernetes example, with the volumes of a pod: probes, token, metrics, changes of the ConfigMap and of the token."""

import os

import pytest

from pod import DEPLOYMENT
from calling import say
from support.http1.recorder import JSON, Recorder
from support.wait import eventually


@pytest.fixture
def sidecar(container, tmp_path, shared, running):
    upstream = running(Recorder(JSON, path=shared / "upstream.sock"))
    os.chmod(shared / "upstream.sock", 0o777)
    files, tokens, mounts = DEPLOYMENT.mounts(tmp_path)
    ours = container(*DEPLOYMENT.sidecar["args"], mounts=mounts, read_only=True, volumes=False, memory=DEPLOYMENT.memory).wait()
    ours.upstream, ours.files, ours.tokens = upstream, files, tokens
    return ours


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_probe(sidecar, probe):
    assert sidecar.exec(*DEPLOYMENT.sidecar[probe]["exec"]["command"]).returncode == 0


def token(sidecar, shared):
    assert say(shared).status_code == 200
    return sidecar.upstream.requests[-1].header("authorization")


def test_the_token_changes_when_the_kubelet_changes_it(sidecar, shared):
    assert token(sidecar, shared) == "Bearer first"
    sidecar.tokens.write(orders="second")
    eventually(lambda: token(sidecar, shared) == "Bearer second", what="the second token")


def test_no_call_is_without_a_token_while_it_changes(sidecar, shared):
    """The kubelet removes the old file as soon as the new one is there."""
    assert token(sidecar, shared) == "Bearer first"
    for number in range(50):
        sidecar.tokens.write(orders=f"token-{number}")
        assert token(sidecar, shared) is not None
    eventually(lambda: token(sidecar, shared) == "Bearer token-49", what="the last token")
    seen = [request.header("authorization") for request in sidecar.upstream.requests]
    numbers = [int(one.rpartition("-")[2]) for one in seen if one != "Bearer first"]
    assert numbers == sorted(numbers)


def test_a_changed_config_map_is_loaded(sidecar, shared):
    sidecar.files.write(**{"martlet.yaml": DEPLOYMENT.configuration().replace("x-caller", "x-pod")})
    sidecar.stderr.wait(r" reloaded generation=2\b")
    say(shared)
    assert sidecar.upstream.requests[-1].header("x-pod") == "pod"


def test_a_bad_config_map_changes_nothing(sidecar, shared):
    sidecar.files.write(**{"martlet.yaml": "listn: 1\n"})
    sidecar.stderr.wait(r" error reload rejected\b")
    assert token(sidecar, shared) == "Bearer first"
    for probe in ("readinessProbe", "livenessProbe"):
        assert sidecar.exec(*DEPLOYMENT.sidecar[probe]["exec"]["command"]).returncode == 0
    assert "martlet_config_last_reload_successful 0" in sidecar.curl("http://127.0.0.1:9902/metrics")


def test_other_machines_get_three_pages_alone(sidecar):
    def status(page, *arguments):
        return sidecar.curl("--output", "/dev/null", "--write-out", "%{http_code}", *arguments, f"http://127.0.0.1:9902{page}")

    # Prometheus and the kubelet come by the pod's address, or by a name of it.
    for host in ("127.0.0.1:9902", "10.1.2.3:9902", "shop.example"):
        assert [status(page, "--header", f"host: {host}") for page in ("/metrics", "/healthz", "/readyz")] == ["200"] * 3
    for page in ("/config", "/status", "/credentials", "/calls/recent"):
        assert status(page).startswith("4"), page
    for page in ("/reload", "/drain", "/metrics"):
        assert status(page, "--request", "POST").startswith("4"), page
    assert status("/readyz") == "200"
