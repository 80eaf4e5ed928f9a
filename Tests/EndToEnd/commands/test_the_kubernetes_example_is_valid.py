"""The Kubernetes example satisfies the API's schema in every version that it names, and agrees with its configuration."""

import re

import kubernetes_validate
import pytest
from ruamel.yaml import YAML

from support.martlet import ROOT

EXAMPLES = ROOT / "etc/examples"
FIRST = 29  # of Kubernetes 1
VERSIONS = [f"1.{minor}" for minor in range(FIRST, int(kubernetes_validate.latest_version().split(".")[1]) + 1)]
MANIFEST = YAML(typ="safe").load(EXAMPLES / "kubernetes-sidecar.k8s.yaml")
CONFIGURATION = YAML(typ="safe").load(EXAMPLES / "kubernetes-sidecar.yaml")
POD = MANIFEST["spec"]["template"]
(SIDECAR,) = POD["spec"]["initContainers"]


def test_the_first_version_is_the_one_that_the_file_names():
    assert f"Kubernetes 1.{FIRST} and later" in (EXAMPLES / "kubernetes-sidecar.k8s.yaml").read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_schema(version):
    kubernetes_validate.validate(MANIFEST, version, strict=True)


def test_the_probes_ask_the_admin_socket():
    socket, _ = CONFIGURATION["admin"]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        command = SIDECAR[probe]["exec"]["command"]
        assert command[:2] == ["/usr/bin/martlet", "healthcheck"] and command[-2:] == ["--admin", socket]


def test_prometheus_finds_the_metrics():
    _, pages = CONFIGURATION["admin"]
    port = int(pages["address"].rpartition(":")[2])
    assert {"name": "metrics", "containerPort": port} in SIDECAR["ports"]
    assert POD["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    assert "metrics" in pages["pages"]


def test_each_file_of_the_configuration_is_mounted():
    volumes = {volume["name"]: volume for volume in POD["spec"]["volumes"]}
    there = {"/run/martlet/admin.sock", "/etc/martlet/martlet.yaml"}
    for mount in SIDECAR["volumeMounts"]:
        for source in volumes[mount["name"]].get("projected", {}).get("sources", []):
            items = source.get("configMap", {}).get("items", []) + [source.get("serviceAccountToken", {})]
            there |= {f"{mount['mountPath']}/{item['path']}" for item in items if item}
    assert "/run/martlet" in [mount["mountPath"] for mount in SIDECAR["volumeMounts"]]
    assert set(re.findall(r"(?:/etc/martlet|/var|/run)/[\w./-]+", str(CONFIGURATION))) <= there


def test_the_drain_ends_within_the_grace_period():
    assert int(CONFIGURATION["drain"]["max"].removesuffix("s")) < POD["spec"]["terminationGracePeriodSeconds"]
