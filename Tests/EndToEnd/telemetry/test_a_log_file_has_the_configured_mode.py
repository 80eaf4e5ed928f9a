"""A log file that another user reads has the configured `mode`, whatever the umask, also after a rotation and a reload."""

import signal

import pytest

from support.wait import eventually

CONFIGURATION = """
listen: 127.0.0.1:0
interceptors:
  - log: {{ to: "{log}"{mode} }}
  - respond: {{ body: hi }}
"""


def mode(path):
    return path.stat().st_mode & 0o777 if path.exists() else None


def start(martlet, log, asked):
    return martlet(CONFIGURATION.format(log=log, mode=asked), umask=0o077)


def test_mode(martlet, tmp_path):
    log = tmp_path / "access.log"
    proxy = start(martlet, log, ', mode: "0644"')
    eventually(lambda: mode(log) == 0o644, what="the mode")
    log.rename(tmp_path / "access.log.1")
    proxy.signal(signal.SIGUSR1)
    eventually(lambda: mode(log) == 0o644, what="the mode of the new file")
    proxy.reload(CONFIGURATION.format(log=log, mode=', mode: "0640"'))
    eventually(lambda: mode(log) == 0o640, what="the new mode")


def test_the_umask_decides_without_a_mode(martlet, tmp_path):
    log = tmp_path / "access.log"
    start(martlet, log, "")
    eventually(lambda: mode(log) == 0o600, what="the mode that the umask leaves")


@pytest.mark.parametrize(
    "interceptors, error",
    [
        ("[ log: { to: stdout, mode: '0640' } ]", '3:42: "mode" has no effect without a file; write to a file, or remove it'),
        ("[ log: { to: /tmp/log, mode: '0999' } ]", '3:44: "mode" cannot be "0999"; write octal digits such as'),
        (
            "[ log: { to: /tmp/log, mode: '0640' }, { name: b, log: { to: /tmp/log, mode: '0600' } } ]",
            "3:92: another log sets the mode of /tmp/log to 0640; write the same mode",
        ),
    ],
)
def test_invalid_modes(command, tmp_path, interceptors, error):
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:80\ninterceptors: {interceptors}\n"
    )
    result = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == 78 and f"martlet.yaml:{error}" in result.stderr.text
