"""The Kubernetes example: its configuration with sockets that tests reach, and volumes that change as the kubelet changes them."""

import os
import re

from ruamel.yaml import YAML

from support.martlet import ROOT

EXAMPLES = ROOT / "etc/examples"
TEXT = (EXAMPLES / "kubernetes-sidecar.yaml").read_text()
CONFIGURATION = YAML(typ="safe").load(TEXT)
POD = YAML(typ="safe").load(EXAMPLES / "kubernetes-sidecar.k8s.yaml")["spec"]["template"]["spec"]
(SIDECAR,) = POD["initContainers"]
MEMORY = int(SIDECAR["resources"]["limits"]["memory"].removesuffix("Mi")) << 20


def configuration():
    """The example's configuration with Unix sockets in /shared for its listener and its upstream."""
    text = TEXT.replace("address: 127.0.0.1:8080", "address: unix:/shared/rpc.sock").replace("{env:POD_NAME}", "pod")
    text = re.sub(r"url: https://.*\n *tls: .*", "url: unix:/shared/upstream.sock", text)
    assert text.count("/shared/") == 2, "kubernetes-sidecar.yaml has changed its form"
    return text


class Volume:
    """A ConfigMap's or a token's volume: each file is a link through `..data`, a link that is replaced as a whole."""

    def __init__(self, directory, **files):
        self.directory = directory
        self._versions = 0
        directory.mkdir()
        self.write(**files)
        for name in files:
            (directory / name).symlink_to(f"..data/{name}")

    def write(self, **files):
        self._versions += 1
        version = self.directory / f"..version{self._versions}"
        version.mkdir()
        for name, text in files.items():
            (version / name).write_text(text)
        new = self.directory / "..data_tmp"
        new.symlink_to(version.name)
        os.replace(new, self.directory / "..data")
