"""The manifests and kustomizations that are shipped, as Kubernetes sees them."""

import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
from ruamel.yaml import YAML

from support.martlet import ROOT

EXAMPLES = ROOT / "etc/examples"
COMPONENTS = ROOT / "etc/kustomize"
NATIVE_SIDECARS = 29  # of Kubernetes 1
VERSIONS = [f"1.{minor}" for minor in range(NATIVE_SIDECARS, int(kubernetes_validate.latest_version().split(".")[1]) + 1)]
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


def documents(text):
    """The documents of a text in YAML."""
    return list(YAML(typ="safe").load_all(text))


def manifest(name):
    (only,) = documents((EXAMPLES / f"{name}.k8s.yaml").read_text())
    return only


def configuration(name):
    (only,) = documents((EXAMPLES / f"{name}.yaml").read_text())
    return only


def build(directory):
    """What kustomize makes of a directory: the text. It is the kustomize of the pinned kubectl."""
    kubectl = Path(sys.executable).with_name("kubectl")
    built = subprocess.run([kubectl, "kustomize", directory], capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    return built.stdout


def pod(workload):
    return workload["spec"]["template"]["spec"]


def sidecar(workload):
    (found,) = [one for one in pod(workload)["initContainers"] if one["name"] == "martlet"]
    return found


def mounted(workload, container):
    """The files that the volumes of a container hold, and the directory of the admin socket."""
    volumes = {volume["name"]: volume for volume in pod(workload)["volumes"]}
    found = {"/etc/martlet/martlet.yaml"}
    for mount in container["volumeMounts"]:
        volume = volumes[mount["name"]]
        if "emptyDir" in volume:
            found.add(f"{mount['mountPath']}/admin.sock")
        for source in volume.get("projected", {}).get("sources", []):
            items = source.get("configMap", {}).get("items", []) + [source.get("serviceAccountToken", {})]
            found |= {f"{mount['mountPath']}/{item['path']}" for item in items if item}
    return found


def named(configuration):
    """The files that a configuration names."""
    return set(re.findall(r"(?:/etc/martlet|/var|/run)/[\w./-]+", str(configuration)))
