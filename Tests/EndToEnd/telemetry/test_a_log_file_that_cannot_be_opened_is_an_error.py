"""A log file that cannot be opened: `check` reports it, startup fails, and a reload changes nothing."""

import os

import pytest

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: http://127.0.0.1:9
interceptors:
  - log: {{ to: {} }}
"""


@pytest.fixture
def bad(tmp_path):
    return tmp_path / "none" / "access.log"


def test_check(command, tmp_path, bad):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION.format(bad))
    result = command("check", "-c", file)
    assert result.code == 0
    assert f"warning for this machine: cannot write to the log {bad}: No such file or directory" in result.stderr.text


def test_the_start(martlet, bad):
    proxy = martlet(CONFIGURATION.format(bad), wait=False)
    proxy.stderr.wait(rf" error cannot start reason=.*:5:\d+: cannot write to the log {bad}: No such file or directory")
    assert proxy.exit_code() == 1


def test_a_reload(martlet, command, tmp_path, bad):
    proxy = martlet(CONFIGURATION.format(tmp_path / "access.log"))
    proxy.write(CONFIGURATION.format(bad))
    result = command("reload", "-c", proxy.file)
    assert result.code == 1 and f"cannot write to the log {bad}: No such file or directory" in result.stderr.text
    bad.parent.mkdir()
    assert command("reload", "-c", proxy.file).code == 0
    assert not os.path.exists(bad) or bad.stat().st_size == 0
