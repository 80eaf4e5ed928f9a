"""The tests that stand beside the examples pass."""

import pytest
from support.martlet import ROOT

FILES = sorted((ROOT / "etc/examples/tests").glob("*.tests.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_they_pass(command, file):
    result = command("test", file)
    assert result.code == 0, result.stdout.text + result.stderr.text
    assert result.stdout.text.count("ok  ") == file.read_text().count("- name:")


def test_there_are_some():
    assert len(FILES) >= 5
