"""A name has two addresses. Whichever of them responds, the call succeeds."""

import os
import subprocess

import pytest

HOSTS = "127.0.0.1 localhost\n::1 twofold.test\n127.0.0.1 twofold.test\n"
# In a mount namespace of its own the daemon sees our file in the place of /etc/hosts.
MOUNT = ["unshare", "--mount", "sh", "-c", 'mount --bind "$HOSTS" /etc/hosts && exec "$0" "$@"']


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_only_one_responds(martlet, recorder, tmp_path, host):
    hosts = tmp_path / "hosts"
    hosts.write_text(HOSTS)
    environment = {"HOSTS": str(hosts)}
    if subprocess.run([*MOUNT, "true"], env=os.environ | environment, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this needs the right to mount")
    upstream = recorder(host=host)
    url = f"http://twofold.test:{upstream.port}"
    proxy = martlet(upstream=url, through=MOUNT, environment=environment)
    with proxy.http() as http:
        assert [http.post("/", content=b"x").text for _ in range(5)] == ["ok"] * 5
