"""All servers are restarted in turn under 2000 calls per second: no call fails, and no rule for retries is needed."""

import re
import subprocess
import time

import pytest
from support.ports import free_port
from support.servers.replicas import NginxReplica, listed, states
from support.wait import eventually

pytestmark = pytest.mark.alone

RATE, SECONDS, CONNECTIONS = 2000, 8, 8


@pytest.mark.parametrize("version", [1, 2])
def test_rolling_restart(martlet, tmp_path, version):
    hosts = [f"127.0.0.{number}" for number in (61, 62, 63)]
    port = free_port(hosts)
    servers = [NginxReplica(tmp_path / host, host, port, version) for host in hosts]
    for server in servers:
        server.start()
    try:
        proxy = martlet(listed(servers, scheme="http" if version == 1 else "h2c"))
        options = ["--h1"] if version == 1 else []
        command = ["h2load", *options, "--rps", RATE // CONNECTIONS, "-c", CONNECTIONS, "-D", SECONDS, f"{proxy.url}/"]
        load = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        eventually(lambda: proxy.metrics().total("martlet_upstream_attempts_total", result="ok") > RATE / 4)
        for server in servers:
            server.stop()
            time.sleep(0.3)
            server.start()
            eventually(lambda: all(address["state"] == "in" for address in states(proxy).values()))
        output = load.communicate(timeout=60)[0]
        assert re.search(r"\b0 failed, 0 errored, 0 timeout", output), output
        done = int(re.search(r"status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx", output)[1])
        assert done > 0.9 * RATE * SECONDS, output
    finally:
        for server in servers:
            server.stop()
