"""If the file allows more connections than there are descriptors, `check` and startup warn and say what to do."""

import pytest

from resources.descriptors import limited_to

pytestmark = pytest.mark.alone

FILE = """
listeners: [ {{ address: "127.0.0.1:0", limits: {{ connections: {connections} }} }} ]
upstream: http://127.0.0.1:1
workers: 2
"""
WORDS = (
    "limits.connections allows 4000 connections with 2 workers, but this process has 4096 file descriptors,"
    " of which callers can use 3072;"
    " raise the hard limit (LimitNOFILE=, ulimit -Hn), or lower limits.connections"
)


def test_check(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(FILE.format(connections=2000))
    checked = command("check", "-c", file, **limited_to(1024, 4096))
    assert checked.code == 0
    assert f"{file}: {WORDS}" in checked.stderr.text
    file.write_text(FILE.format(connections=1000))
    assert "descriptors" not in command("check", "-c", file, **limited_to(1024, 4096)).stderr.text


def test_startup(martlet):
    proxy = martlet(FILE.format(connections=2000), **limited_to(1024, 4096))
    assert f" warn {WORDS}" in proxy.stderr.text


def test_the_default_is_no_warning(command, martlet, tmp_path):
    """It is for machines of every size, so it is only noted."""
    proxy = martlet(FILE.format(connections=10000), **limited_to(1024, 4096))
    assert " info limits.connections allows 20000 connections" in proxy.stderr.text
    checked = command("check", "-c", proxy.file, **limited_to(1024, 4096))
    assert "descriptors" not in checked.stderr.text
