"""Server streaming is streaming: nothing waits for the end of the body."""

import pytest
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client


@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB])
@pytest.mark.parametrize("codec", ["json", "proto"])
def test_streaming(martlet, eliza, codec, protocol):
    proxy = martlet(upstream=eliza.url)
    client = Client(proxy.url, codec, protocol=protocol)
    sentences = client.introduce("Ann")
    assert next(sentences) == "Hi Ann, I am Eliza"
    client.say("go on")  # only now does the server make the second message
    assert list(sentences) == ["Eliza went on"]
