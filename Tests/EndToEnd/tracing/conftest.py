"""A receiver of spans, and upstreams that keep the headers they get."""

import pytest
from support.ports import free_port
from support.servers.otlp_receiver import OTLPReceiver
from support.servers.replicas import GRPCReplica


@pytest.fixture
def receiver():
    made = OTLPReceiver()
    yield made
    made.stop()


@pytest.fixture
def upstream():
    """Starts a server, of gRPC or of plain HTTP."""
    started = []

    def start(kind=GRPCReplica, host="127.0.0.1"):
        started.append(kind(host, free_port([host])))
        return started[-1]

    yield start
    for one in started:
        one.stop()
