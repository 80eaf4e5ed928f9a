"""The default configuration and each example are as good as they look."""

import pytest

from support.martlet import ROOT

FILES = sorted((ROOT / "etc").rglob("*.yaml"))


def test_there_are_some():
    assert ROOT / "etc/martlet.yaml" in FILES and len(FILES) > 1


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_loads(command, file):
    result = command("check", "-c", file)
    assert result.code == 0, result.stderr.text
