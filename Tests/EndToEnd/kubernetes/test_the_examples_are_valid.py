"""Each Kubernetes example satisfies the API's schema in every version that it names, and agrees with its configuration."""

import kubernetes_validate
import pytest

from kubernetes.manifests import EXAMPLES, NATIVE_SIDECARS, PROBES, VERSIONS, configuration, manifest, mounted, named, pod, sidecar

# Each with the configuration that it says to put into the ConfigMap.
CONFIGURATIONS = {
    "kubernetes-sidecar": "kubernetes-sidecar",
    "kubernetes-job": "kubernetes-job",
    "kubernetes-job-exec": "kubernetes-job",
}
WITH_SIDECAR = ["kubernetes-sidecar", "kubernetes-job"]


def test_no_example_is_left_out():
    assert {place.name.removesuffix(".k8s.yaml") for place in EXAMPLES.glob("*.k8s.yaml")} == CONFIGURATIONS.keys()


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("version", VERSIONS)
def test_schema(name, version):
    kubernetes_validate.validate(manifest(name), version, strict=True)


@pytest.mark.parametrize("name", WITH_SIDECAR)
def test_the_first_version_is_the_one_that_the_file_names(name):
    assert f"Kubernetes 1.{NATIVE_SIDECARS} and later" in (EXAMPLES / f"{name}.k8s.yaml").read_text()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_it_names_its_configuration(name):
    assert f"--from-file=martlet.yaml={CONFIGURATIONS[name]}.yaml\n" in (EXAMPLES / f"{name}.k8s.yaml").read_text()


@pytest.mark.parametrize("name", WITH_SIDECAR)
def test_the_probes_ask_the_admin_socket(name):
    admin = configuration(CONFIGURATIONS[name])["admin"]
    socket = admin if isinstance(admin, str) else admin[0]
    commands = [sidecar(manifest(name))[probe]["exec"]["command"] for probe in PROBES if probe in sidecar(manifest(name))]
    assert len(commands) >= 2
    for command in commands:
        assert command[:2] == ["/usr/bin/martlet", "healthcheck"] and command[-2:] == ["--admin", socket]


@pytest.mark.parametrize("name", WITH_SIDECAR)
def test_kubernetes_does_not_wait_for_the_end_of_the_sidecar(name):
    assert sidecar(manifest(name))["restartPolicy"] == "Always"
    assert "lifecycle" not in sidecar(manifest(name))


def test_a_job_starts_its_program_when_the_token_is_there():
    assert "--ready" in sidecar(manifest("kubernetes-job"))["startupProbe"]["exec"]["command"]
    assert "--ready-or-fail" in pod(manifest("kubernetes-job-exec"))["containers"][0]["command"]


def test_the_output_of_a_job_is_its_programs_alone():
    """`martlet exec` rejects a log on standard output."""
    assert "stdout" not in str(configuration("kubernetes-job"))


def test_prometheus_finds_the_metrics():
    _, pages = configuration("kubernetes-sidecar")["admin"]
    port = int(pages["address"].rpartition(":")[2])
    workload = manifest("kubernetes-sidecar")
    assert {"name": "metrics", "containerPort": port} in sidecar(workload)["ports"]
    assert workload["spec"]["template"]["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    assert "metrics" in pages["pages"]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_file_of_the_configuration_is_mounted(name):
    workload = manifest(name)
    containers = pod(workload).get("initContainers") or pod(workload)["containers"]
    assert named(configuration(CONFIGURATIONS[name])) <= mounted(workload, containers[0])


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_drain_ends_within_the_grace_period(name):
    longest = int(configuration(CONFIGURATIONS[name])["drain"]["max"].removesuffix("s"))
    assert longest < pod(manifest(name))["terminationGracePeriodSeconds"]
