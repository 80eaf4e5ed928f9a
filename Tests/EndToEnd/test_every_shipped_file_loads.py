"""The default configuration and each example are as good as they look."""

import re

import pytest

from support.martlet import ROOT

# What ends in .k8s.yaml is for Kubernetes.
FILES = sorted(file for file in (ROOT / "etc").rglob("*.yaml") if not file.name.endswith(".k8s.yaml"))


def test_there_are_some():
    assert ROOT / "etc/martlet.yaml" in FILES and len(FILES) > 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_loads(command, file):
    environment = {name: "value" for name in re.findall(r"\{env:(\w+)\}", file.read_text())}
    result = command("check", "-c", file, environment=environment)
    assert result.code == 0, result.stderr.text
