"""Connect, gRPC and gRPC-Web between the published client and server, over HTTP/1.1 and HTTP/2 on either side.

As they are, and translated where the upstream is said to speak something else or to understand another codec.
"""

import queue

import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client
from support.servers.eliza_messages import descriptor_set

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB
# The HTTP versions of the caller and of the upstream, where gRPC needs HTTP/2, what the upstream is said to speak, and the one
# codec that it is said to understand.
WAYS = [(protocol, caller, upstream, "same", "") for protocol in (CONNECT, GRPC_WEB) for caller in (1, 2) for upstream in (1, 2)]
WAYS.append((GRPC, 2, 2, "same", ""))
WAYS += [(protocol, caller, 2, "grpc", "") for protocol in (CONNECT, GRPC_WEB) for caller in (1, 2)]
WAYS += [(CONNECT, caller, upstream, "grpc_web", "") for caller in (1, 2) for upstream in (1, 2)]
WAYS += [(GRPC, 2, upstream, "grpc_web", "") for upstream in (1, 2)]
WAYS += [(CONNECT, 1, 2, "grpc", "proto"), (GRPC_WEB, 2, 2, "grpc", "proto"), (GRPC, 2, 1, "grpc_web", "proto")]
WAYS += [(GRPC, 2, upstream, "connect", "") for upstream in (1, 2)] + [(GRPC_WEB, 1, 2, "connect", "")]
WAYS += [(GRPC, 2, 1, "connect", "json"), (GRPC_WEB, 2, 1, "connect", "proto"), (CONNECT, 1, 1, "connect", "proto")]
WAYS += [(GRPC, 2, 2, "grpc", "json"), (CONNECT, 2, 1, "grpc_web", "json"), (CONNECT, 2, 2, "grpc", "json")]
LONG = "hello! " * 20000
TYPES = {"connect": "application/", "grpc": "application/grpc+", "grpc_web": "application/grpc-web+"}


def name(way):
    return f"{way[0].name.lower()}-" + "-".join(str(part) for part in way[1:] if part)


@pytest.fixture(params=WAYS, ids=name)
def way(request):
    return request.param


@pytest.fixture
def client(way, martlet, eliza, tmp_path):
    protocol, caller, upstream, speaks, codec = way
    types = tmp_path / "eliza.binpb"
    types.write_bytes(descriptor_set())
    url = eliza.h2c_url if upstream == 2 else eliza.url
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{url}", speaks: {speaks}{f", codecs: {codec}" if codec else ""} }} }}
        types: {{ files: {types} }}
        """
    )
    return lambda codec="proto", **options: Client(proxy.url, codec, caller, protocol=protocol, **options)


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_unary(client, way, codec):
    with ResponseMetadata() as metadata:
        response = client(codec).say("hello, ☃!", headers={"authorization": "Bearer mine"}, timeout_ms=10000)
    assert response == "Eliza heard hello, ☃!"
    assert metadata.headers["seen-authorization"] == "Bearer mine"
    protocol, understood = way[3] if way[3] != "same" else way[0].name.lower(), way[4] or codec
    assert metadata.headers["seen-type"] == TYPES[protocol] + understood
    assert metadata.trailers["x-cost"] == "237"


@pytest.mark.parametrize("way", [way for way in WAYS if way[0] is CONNECT], ids=name, indirect=True)
@pytest.mark.parametrize("codec", ["json", "proto"])
def test_get(client, codec):
    assert client(codec).say("hello, ☃!", use_get=True) == "Eliza heard hello, ☃!"


def test_gzip(client):
    packing = GzipCompression()
    packed = client(send_compression=packing, accept_compression=[packing])
    assert packed.say(LONG) == f"Eliza heard {LONG}"
    assert list(packed.converse([LONG, "", LONG])) == [f"Eliza heard {sentence}" for sentence in (LONG, "", LONG)]
    plain = client(send_compression=None, accept_compression=[])
    assert plain.say(LONG) == f"Eliza heard {LONG}"


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_client_stream(client, codec):
    with ResponseMetadata() as metadata:
        assert client(codec).listen(["one", "two", "☃"]) == "Eliza heard one, two, ☃"
    assert metadata.trailers["x-cost"] == "237"


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_server_stream(client, codec):
    sentences = client(codec).introduce("Ann")
    assert next(sentences) == "Hi Ann, I am Eliza"
    client(codec).say("go on")  # only now does the server make the second message
    assert list(sentences) == ["Eliza went on"]


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_both_stream(client, way, codec):
    if (way[1], way[2]) != (2, 2):
        responses = client(codec).converse(["one", "two"])
        assert list(responses) == ["Eliza heard one", "Eliza heard two"]
        return
    sentences = queue.SimpleQueue()
    sentences.put("0")
    responses = client(codec).converse(iter(sentences.get, None))
    for number in range(20):  # each sentence is made when the response to the one before has come
        assert next(responses) == f"Eliza heard {number}"
        sentences.put(str(number + 1) if number < 19 else None)
    assert list(responses) == []


def the_error(call):
    with pytest.raises(ConnectError) as caught:
        call()
    (detail,) = caught.value.details
    assert (detail.type_name, detail.message_bytes) == ("google.protobuf.Duration", b"\x08\x3c")
    return caught.value.code, caught.value.message


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_errors_with_details(client, codec):
    assert the_error(lambda: client(codec).say("fail")) == (Code.FAILED_PRECONDITION, "not today: 100%")
    assert the_error(lambda: client(codec).listen(["one", "fail"])) == (Code.OUT_OF_RANGE, "too much")
    sentences = client(codec).introduce("fail")
    assert next(sentences) == "Hi fail, I am Eliza"
    assert the_error(lambda: next(sentences)) == (Code.DATA_LOSS, "forgot the rest")


def test_a_deadline(client):
    sentences = client().introduce("Ann", timeout_ms=300)
    assert next(sentences) == "Hi Ann, I am Eliza"
    with pytest.raises(ConnectError) as caught:
        next(sentences)
    assert caught.value.code is Code.DEADLINE_EXCEEDED
