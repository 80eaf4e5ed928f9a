"""The metrics show how many file descriptors are open and how many are allowed, as the kernel does."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone


def test_descriptors_memory_and_threads(martlet, recorder):
    proxy = martlet(upstream=recorder().url, through=["prlimit", "--nofile=777:2000"])
    metrics = proxy.metrics()
    limit = re.search(r"^Max open files\s+(\d+)", Path(f"/proc/{proxy.pid}/limits").read_text(), re.MULTILINE)
    assert metrics.total("process_max_fds") == int(limit[1])
    assert metrics.total("process_max_fds") > metrics.total("process_open_fds") > 3
    assert metrics.total("process_virtual_memory_bytes") > metrics.total("process_resident_memory_bytes")
    assert metrics.total("process_threads") == len(list(Path(f"/proc/{proxy.pid}/task").iterdir()))
