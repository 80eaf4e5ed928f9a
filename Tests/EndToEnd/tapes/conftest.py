"""Martlet that records calls on a tape."""

import pytest
from ruamel.yaml import YAML
from connectrpc.protocol import ProtocolType
from support.servers.eliza import Client
from support.servers.eliza_messages import descriptor_set
from support.wait import eventually

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB
# The protocol and the version of HTTP.
WAYS = [(CONNECT, 1), (CONNECT, 2), (GRPC_WEB, 1), (GRPC_WEB, 2), (GRPC, 2)]


@pytest.fixture(scope="session")
def eliza_types(tmp_path_factory):
    """The descriptor set of the service."""
    file = tmp_path_factory.mktemp("types") / "eliza.binpb"
    file.write_bytes(descriptor_set())
    return file


class Tape:
    """The file of a tape."""

    def __init__(self, path):
        self.path = path

    @property
    def text(self):
        return self.path.read_text()

    def calls(self, count):
        """The documents, once there are so many."""
        eventually(lambda: self.path.exists() and self.text.count("\n...\n") >= count, what=f"{count} recorded calls")
        return list(YAML(typ="safe").load_all(self.text))

    def call(self):
        (call,) = self.calls(1)
        return call


@pytest.fixture
def tape(tmp_path):
    return Tape(tmp_path / "tape.yaml")


@pytest.fixture
def recorded(martlet, tape, eliza_types):
    """Starts Martlet with a recorder with these options, and what else its file has."""

    def start(upstream=None, options="", before="", after="", more="", types=True):
        upstream = f"upstream: {upstream}" if upstream else ""
        types = f"types: {{ files: [{eliza_types}] }}" if types else ""
        chain = f"interceptors: [ {before} {{ record: {{ to: {tape.path}{options} }} }} {after} ]"
        return martlet(f"listen: 127.0.0.1:0\n{upstream}\n{types}\n{chain}\n{more}\n")

    return start


@pytest.fixture(params=[(way, codec) for way in WAYS for codec in ("proto", "json")], ids=lambda it: f"{it[0][0].name.lower()}-{it[0][1]}-{it[1]}")
def caller(request):
    """Makes a published client of each protocol, HTTP version and codec."""
    (protocol, http), codec = request.param

    def make(proxy, **options):
        return Client(proxy.url, codec, http, protocol=protocol, **options)

    make.protocol, make.codec = protocol, codec
    return make
