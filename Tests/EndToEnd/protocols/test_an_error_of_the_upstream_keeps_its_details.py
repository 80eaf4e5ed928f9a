"""Errors from a real server reach a real client unchanged."""

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client


@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB])
@pytest.mark.parametrize("codec", ["json", "proto"])
def test_unary(martlet, eliza, codec, protocol):
    proxy = martlet(upstream=eliza.url)
    with pytest.raises(ConnectError) as caught:
        Client(proxy.url, codec, protocol=protocol).say("fail")
    assert (caught.value.code, caught.value.message) == (Code.FAILED_PRECONDITION, "not today: 100%")
    (detail,) = caught.value.details
    assert (detail.type_name, detail.message_bytes) == ("google.protobuf.Duration", b"\x08\x3c")


@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB])
def test_in_the_middle_of_a_stream(martlet, eliza, protocol):
    proxy = martlet(upstream=eliza.url)
    sentences = Client(proxy.url, protocol=protocol).introduce("fail")
    assert next(sentences) == "Hi fail, I am Eliza"
    with pytest.raises(ConnectError) as caught:
        next(sentences)
    assert (caught.value.code, caught.value.message) == (Code.DATA_LOSS, "forgot the rest")
    assert caught.value.details[0].type_name == "google.protobuf.Duration"
