"""A wrong command line is an error that says what is wrong. Help and versions are not errors."""

import re

import pytest
from support.martlet import ROOT


@pytest.mark.parametrize(
    "arguments", ["--nonsense", "frobnicate", "check extra", "-c", "run -c", "healthcheck --admin", "status --ready"]
)
def test_usage(command, arguments):
    result = command(*arguments.split())
    assert result.code == 2
    assert result.stderr.text and not result.stdout.text


@pytest.mark.parametrize("arguments", ["version", "-v", "-V", "-h", "--help"])
def test_help_and_versions(command, arguments):
    result = command(arguments)
    assert result.code == 0
    assert "martlet" in result.stdout.text.lower()
    if arguments == "-V":
        assert re.search(r"libevent\D+2\.", result.stdout.text)


def test_which_fixes_of_nghttp2_are_in_the_program(command):
    if not (ROOT / ".build/licences/nghttp2.COPYING").exists():
        pytest.skip("nghttp2 is not compiled in")
    compiled = [tree.name for tree in ROOT.glob(".build/nghttp2/*")]
    assert f"nghttp2 {compiled[0]}\n" in command("-V").stdout.text
