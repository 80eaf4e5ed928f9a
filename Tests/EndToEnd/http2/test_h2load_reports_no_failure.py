"""A short burst of a load generator over HTTP/2: every request succeeds."""

import re
import subprocess

import pytest

pytestmark = pytest.mark.alone

REQUESTS = 5000


@pytest.mark.parametrize("size", [0, 20000])
@pytest.mark.parametrize("version", [1, 2], ids=["upstream-1", "upstream-2"])
def test_burst(martlet, nginx, version, size):
    upstream = nginx()
    (upstream.directory / "file").write_bytes(bytes(size))
    middle = martlet(upstream=upstream.url)
    # Toward HTTP/2 the upstream is a second daemon.
    proxy = middle if version == 1 else martlet(upstream=middle.url.replace("http:", "h2c:"))
    command = ["h2load", "-n", REQUESTS, "-c", 8, "-m", 8, f"{proxy.url}/file"]
    output = subprocess.check_output([str(word) for word in command], text=True, timeout=50)
    counts = re.findall(r"(\d+) (succeeded|failed|errored|timeout)", output)
    assert counts == [(str(REQUESTS), "succeeded"), ("0", "failed"), ("0", "errored"), ("0", "timeout")], output
    assert f"status codes: {REQUESTS} 2xx" in output
