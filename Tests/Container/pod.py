"""The Kubernetes examples as pods: configurations with sockets that tests reach, and volumes that change as the kubelet changes them."""

import os
import re
import shutil

from ruamel.yaml import YAML

from support.martlet import ROOT

EXAMPLES = ROOT / "etc/examples"


class Example:
    """A manifest, and the configuration that it is for."""

    def __init__(self, manifest, configuration):
        self._text = (EXAMPLES / f"{configuration}.yaml").read_text()
        self.settings = YAML(typ="safe").load(self._text)
        self.pod = YAML(typ="safe").load(EXAMPLES / f"{manifest}.k8s.yaml")["spec"]["template"]["spec"]
        self.group = self.pod["securityContext"]["fsGroup"]
        self.grace = self.pod["terminationGracePeriodSeconds"]

    @property
    def sidecar(self):
        (found,) = self.pod["initContainers"]
        return found

    @property
    def memory(self):
        return int(self.sidecar["resources"]["limits"]["memory"].removesuffix("Mi")) << 20

    def configuration(self, address="unix:/shared/rpc.sock"):
        """The configuration with this address for its listener, and a Unix socket in /shared for its upstream."""
        text = self._text.replace("address: 127.0.0.1:8080", f"address: {address}").replace("{env:POD_NAME}", "pod")
        text, replaced = re.subn(r"url: https://.*\n *tls: .*", "url: unix:/shared/upstream.sock", text)
        assert replaced == 1 and f"address: {address}" in text, "the configuration has changed its form"
        return text

    def mounts(self, directory, token="first", **configuration):
        """The volumes of the pod, made in a directory: (the configuration's, the tokens', all by where they are mounted)."""
        files = Volume(directory / "configuration", self.group, **{"martlet.yaml": self.configuration(**configuration)})
        tokens = Volume(directory / "tokens", self.group, orders=token)
        run = directory / "run"
        run.mkdir()
        os.chown(run, 0, self.group)
        run.chmod(0o2777)
        return files, tokens, {"/etc/martlet": files.directory, "/var/run/secrets/tokens": tokens.directory, "/run/martlet": run}


DEPLOYMENT = Example("kubernetes-sidecar", "kubernetes-sidecar")
JOB = Example("kubernetes-job", "kubernetes-job")
JOB_WITH_EXEC = Example("kubernetes-job-exec", "kubernetes-job")


class Volume:
    """A ConfigMap's or a token's volume: each file is a link through `..data`, a link that is replaced as a whole.

    The files belong to the pod's `fsGroup`, and nobody else may read them.
    """

    def __init__(self, directory, group, **files):
        self.directory = directory
        self._group = group
        self._version = None
        self._versions = 0
        directory.mkdir()
        self.write(**files)
        for name in files:
            (directory / name).symlink_to(f"..data/{name}")

    def write(self, **files):
        """Replaces all files at once, and removes the old ones."""
        self._versions += 1
        version = self.directory / f"..2026_11_27_00_00_00.{self._versions}"
        version.mkdir()
        for name, text in files.items():
            file = version / name
            file.write_text(text)
            os.chown(file, 0, self._group)
            file.chmod(0o640)
        new = self.directory / "..data_tmp"
        new.symlink_to(version.name)
        os.replace(new, self.directory / "..data")
        if self._version:
            shutil.rmtree(self._version)
        self._version = version
