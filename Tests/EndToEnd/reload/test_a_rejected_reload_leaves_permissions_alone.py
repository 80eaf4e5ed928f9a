"""A socket's mode in a rejected file does not take effect. The mode in a good file does."""

import os
import stat


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def configuration(path, mode, more=""):
    return f"""
        listeners:
          - address: unix:{path}
            mode: "{mode}"
          {more}
        interceptors:
          - respond: {{ body: ok }}
        """


def test_the_mode(martlet, tmp_path):
    path = tmp_path / "rpc.sock"
    proxy = martlet(configuration(path, "0600"))
    assert mode(path) == 0o600
    missing = f"- address: unix:{tmp_path}/missing/rpc.sock"
    proxy.reload(configuration(path, "0666", missing), outcome="reload rejected")
    assert mode(path) == 0o600
    proxy.reload(configuration(path, "0660"))
    assert mode(path) == 0o660
