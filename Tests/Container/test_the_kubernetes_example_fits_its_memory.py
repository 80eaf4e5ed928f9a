"""The memory limit of the Kubernetes example holds as many connections as its configuration allows, each with a head in the making."""

import re
import socket
from contextlib import ExitStack

from ruamel.yaml import YAML

from support.martlet import ROOT
from support.patience import eventually

EXAMPLES = ROOT / "etc/examples"
TEXT = (EXAMPLES / "kubernetes-sidecar.yaml").read_text()
CONFIGURATION = YAML(typ="safe").load(TEXT)
SIDECAR = YAML(typ="safe").load(EXAMPLES / "kubernetes-sidecar.k8s.yaml")["spec"]["template"]["spec"]["initContainers"][0]
MEMORY = int(SIDECAR["resources"]["limits"]["memory"].removesuffix("Mi")) << 20
CONNECTIONS = CONFIGURATION["workers"] * CONFIGURATION["listeners"][0]["limits"]["connections"]
# A little less than limits.head allows.
HEAD = b"POST /shop.v1.OrderService/Get HTTP/1.1\r\nhost: a\r\n" + b"".join(b"x-%02d: %s\r\n" % (n, b"a" * 1000) for n in range(63))


def connections(container):
    """How many connections the container's Martlet counts."""
    page = container.curl("http://127.0.0.1:9902/metrics")
    return sum(int(match) for match in re.findall(r"^martlet_connections\{.*\} (\d+)$", page, re.MULTILINE))


def test_all_connections_with_unfinished_heads(container, shared):
    # The clock of a head does not end them meanwhile, and they come by a Unix socket, from outside of the container.
    text = TEXT.replace("127.0.0.1:8080", "unix:/shared/rpc.sock").replace("limits:", "timeouts: { head: 10m }\n    limits:")
    text = re.sub(r"\n *tls: .*", "", text).replace("{env:POD_NAME}", "pod")
    ours = container(configuration=text, read_only=True, memory=MEMORY).wait()
    with ExitStack() as stack:
        for _ in range(CONNECTIONS):
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.settimeout(10)
            one.connect(str(shared / "rpc.sock"))
            one.sendall(HEAD)
        eventually(lambda: connections(ours) >= CONNECTIONS * 0.9, within=20, what="so many connections")
        assert ours.healthcheck() == 0
        used = ours.memory()
        print(f"{CONNECTIONS} connections: {used >> 20} MiB of {MEMORY >> 20} MiB")
        assert used < MEMORY * 0.9
    eventually(lambda: connections(ours) == 0, what="the end of the connections")
    assert ours.healthcheck() == 0
