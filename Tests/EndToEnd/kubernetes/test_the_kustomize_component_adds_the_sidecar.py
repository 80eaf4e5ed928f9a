"""The kustomize component adds Martlet to every workload that does not decline it; the example's output is in shop.built.yaml.

After a change that is meant: .venv/bin/kubectl kustomize etc/kustomize/example > Tests/EndToEnd/kubernetes/shop.built.yaml
"""

from pathlib import Path

import kubernetes_validate
import pytest

from kubernetes.manifests import COMPONENTS, PROBES, VERSIONS, build, documents, manifest, mounted, named, pod, sidecar

EXPECTED = Path(__file__).with_name("shop.built.yaml")
WORKLOAD = """
apiVersion: {version}
kind: {kind}
metadata: {{ name: orders{annotations} }}
spec:
  {spec}
  template:
    metadata: {{ labels: {{ app: orders }} }}
    spec:
      initContainers: [{{ name: first, image: "orders:1" }}]
      containers: [{{ name: orders, image: "orders:1" }}]
      terminationGracePeriodSeconds: 10
      {restart}
"""
SELECTOR = "selector: { matchLabels: { app: orders } }"
KINDS = {
    "Deployment": {"version": "apps/v1", "spec": SELECTOR, "restart": ""},
    "DaemonSet": {"version": "apps/v1", "spec": SELECTOR, "restart": ""},
    "StatefulSet": {"version": "apps/v1", "spec": f"serviceName: orders\n  {SELECTOR}", "restart": ""},
    "Job": {"version": "batch/v1", "spec": "backoffLimit: 3", "restart": "restartPolicy: Never"},
}


@pytest.fixture(scope="module")
def example():
    return build(COMPONENTS / "example")


@pytest.fixture
def built(tmp_path):
    """What kustomize makes of one workload with the component."""

    def of(kind, annotations="", more=""):
        (tmp_path / "sidecar").symlink_to(COMPONENTS / "sidecar")
        (tmp_path / "workload.yaml").write_text(WORKLOAD.format(kind=kind, annotations=annotations, **KINDS[kind]))
        (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:3000\n")
        text = f"resources: [workload.yaml]\nconfigMapGenerator: [{{ name: martlet, files: [martlet.yaml] }}]\n{more}"
        (tmp_path / "kustomization.yaml").write_text(f"{text}components: [sidecar]\n")
        files, workload = documents(build(tmp_path))
        return files, workload

    return of


def test_the_example_has_the_expected_output(example):
    assert example == EXPECTED.read_text()


@pytest.mark.parametrize("version", VERSIONS)
def test_the_output_is_valid(example, version):
    for document in documents(example):
        kubernetes_validate.validate(document, version, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_workload_gets_the_sidecar_and_keeps_its_own(built, kind):
    files, workload = built(kind)
    for version in VERSIONS:
        kubernetes_validate.validate(workload, version, strict=True)
    assert [one["name"] for one in pod(workload)["initContainers"]] == ["martlet", "first"]
    assert pod(workload)["containers"] == [{"name": "orders", "image": "orders:1"}]
    assert pod(workload)["terminationGracePeriodSeconds"] == 60
    assert sidecar(workload)["restartPolicy"] == "Always"
    # A changed file has another name, so that new pods start.
    assert files["metadata"]["name"].startswith("martlet-")
    volumes = {volume["name"]: volume for volume in pod(workload)["volumes"]}
    assert volumes["martlet-configuration"]["projected"]["sources"] == [{"configMap": {"name": files["metadata"]["name"]}}]
    assert volumes["martlet-tokens"]["projected"]["sources"] == []


def test_a_workload_that_declines_stays_as_it_is(built):
    _, workload = built("Deployment", annotations=", annotations: { martlet/sidecar: disabled }")
    assert [one["name"] for one in pod(workload)["initContainers"]] == ["first"]
    assert "volumes" not in pod(workload)


def test_a_kustomization_has_the_last_word(built):
    patch = '[{"op": "replace", "path": "/spec/template/spec/terminationGracePeriodSeconds", "value": 300}]'
    _, workload = built("Deployment", more=f"patches: [{{ target: {{ kind: Deployment }}, patch: '{patch}' }}]\n")
    assert pod(workload)["terminationGracePeriodSeconds"] == 300


def test_the_sidecar_is_that_of_the_manifest(example):
    """So what is tested of the manifest's sidecar, in a pod, holds for this one."""
    ours = next(one for one in documents(example) if one["kind"] == "Deployment")
    one, other = sidecar(ours), sidecar(manifest("kubernetes-sidecar"))
    for key in ("args", "env", "restartPolicy", "resources", *PROBES):
        assert one[key] == other[key]
    assert {mount["mountPath"] for mount in one["volumeMounts"]} == {mount["mountPath"] for mount in other["volumeMounts"]}
    assert other["securityContext"].items() <= one["securityContext"].items()
    assert [port["containerPort"] for port in one["ports"]] == [port["containerPort"] for port in other["ports"]]


def test_the_configuration_fits_the_output(example):
    files, *workloads = documents(example)
    text = files["data"]["martlet.yaml"]
    assert text == (COMPONENTS / "example/martlet.yaml").read_text()
    with_sidecar = [one for one in workloads if "initContainers" in pod(one)]
    assert {one["kind"] for one in with_sidecar} == {"Deployment", "Job"}
    for workload in with_sidecar:
        assert named(documents(text)) <= mounted(workload, sidecar(workload))
        annotations = workload["spec"]["template"]["metadata"]["annotations"]
        assert f"0.0.0.0:{annotations['prometheus.io/port']}" in text
