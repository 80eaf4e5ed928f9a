"""Fixtures of those who call Eliza: published clients, and the types of her service."""

import pytest
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client
from support.servers.eliza_messages import descriptor_set

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB
# The protocol and the version of HTTP.
WAYS = [(CONNECT, 1), (CONNECT, 2), (GRPC_WEB, 1), (GRPC_WEB, 2), (GRPC, 2)]


@pytest.fixture(scope="session")
def eliza_types(tmp_path_factory):
    """The descriptor set of the service."""
    file = tmp_path_factory.mktemp("types") / "eliza.binpb"
    file.write_bytes(descriptor_set())
    return file


@pytest.fixture(params=[(way, codec) for way in WAYS for codec in ("proto", "json")], ids=lambda it: f"{it[0][0].name.lower()}-{it[0][1]}-{it[1]}")
def caller(request):
    """Makes a published client of each protocol, HTTP version and codec."""
    (protocol, http), codec = request.param

    def make(proxy, **options):
        return Client(proxy.url, codec, http, protocol=protocol, **options)

    make.protocol, make.codec = protocol, codec
    return make
