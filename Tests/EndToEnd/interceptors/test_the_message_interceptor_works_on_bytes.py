"""`message` replaces, requires and logs the bytes of messages between published clients and servers."""

import base64
import json

import grpc
import pytest
from connectrpc.code import Code
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB
WAYS = [(CONNECT, 1, 1), (CONNECT, 2, 2), (GRPC_WEB, 1, 1), (GRPC_WEB, 2, 2), (GRPC, 2, 2)]
# A message with the one field "sentence".
REPLACED = "0a 08" + b"replaced".hex()


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0].name.lower()}-{way[1]}-{way[2]}")
def client(request, martlet, eliza):
    protocol, caller, upstream = request.param

    def start(options, codec="proto", **client):
        more = f"interceptors: [ {{ message: {{ {options} }} }} ]\n"
        proxy = martlet(upstream=eliza.h2c_url if upstream == 2 else eliza.url, more=more)
        return Client(proxy.url, codec, caller, protocol=protocol, **client)

    return start


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_replaced_request(client, packed):
    gzip = GzipCompression()
    packing = {"send_compression": gzip, "accept_compression": [gzip]} if packed else {"send_compression": None}
    caller = client(f"on: request, replace: {{ hex: {REPLACED} }}", **packing)
    assert caller.say("hello " * 1000) == "Eliza heard replaced"
    assert list(caller.converse(["one", "two"])) == ["Eliza heard replaced"] * 2


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_replaced_response(client, packed):
    gzip = GzipCompression()
    packing = {"send_compression": gzip, "accept_compression": [gzip]} if packed else {"accept_compression": []}
    value = base64.b64encode(bytes.fromhex(REPLACED)).decode()
    caller = client(f'on: response, replace: {{ base64: "{value}" }}', **packing)
    assert caller.say("hello " * 1000) == "replaced"
    assert list(caller.converse(["one", "two"])) == ["replaced"] * 2


def test_a_required_field(client):
    caller = client("on: request, require: { json: { /sentence: hello } }", codec="json")
    assert caller.say("hello") == "Eliza heard hello"
    with pytest.raises(ConnectError) as caught:
        caller.say("farewell")
    reported = "message 1 of the request does not have the required value at /sentence"
    assert (caught.value.code, caught.value.message) == (Code.INVALID_ARGUMENT, reported)


def test_a_required_size_of_a_response(martlet, grpc_service, grpc_channel):
    more = "interceptors: [ { message: { on: response, require: { max: 1B }, text: too long } } ]\n"
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=more))
    seen = []
    with pytest.raises(grpc.RpcError) as caught:
        for message in channel.download(b"12", timeout=5):
            seen.append(message)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INTERNAL, "too long")
    assert seen == [b"%d" % number for number in range(10)]


def test_dropped_messages(martlet, grpc_service, grpc_channel):
    more = "interceptors: [ { message: { on: request, drop: true } } ]\n"
    channel = grpc_channel(martlet(upstream=grpc_service().url, more=more))
    assert channel.upload(iter([b"1", b"2"]), timeout=5) == b""


def test_messages_are_logged(martlet, grpc_service, grpc_channel):
    request, response = "on: request, tee: stdout", "on: response, tee: stdout, tee_limit: 2B"
    chain = f"[ {{ message: {{ {request} }} }}, {{ message: {{ {response} }} }} ]"
    proxy = martlet(upstream=grpc_service().url, more=f"interceptors: {chain}\n")
    channel = grpc_channel(proxy)
    assert channel.unary(b"\xff\x00\x01", compression=grpc.Compression.Gzip, timeout=5) == b"\xff\x00\x01"
    assert list(channel.converse(iter([b"text", b"more"]), timeout=5)) == [b"text", b"more"]
    proxy.stdout.wait(r"^\{.*\}$", count=6)
    lines = [json.loads(line) for line in proxy.stdout]
    shown = [(line["direction"], line["number"], line["bytes"], line.get("payload")) for line in lines]
    assert shown[:2] == [("request", 1, 3, None), ("response", 1, 3, None)]
    assert [line.get("payload_base64") for line in lines[:2]] == ["/wAB", "/wA="]
    assert set(shown[2:]) == {
        *[("request", 1, 4, "text"), ("request", 2, 4, "more"), ("response", 1, 4, "te"), ("response", 2, 4, "mo")]
    }
    assert [line["direction"] for line in lines if line.get("truncated")] == ["response"] * 3
