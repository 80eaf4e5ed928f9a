"""An error of a real server reaches a real client under another code, with its details."""

import grpc
import pytest
from connectrpc.client import ResponseMetadata
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.servers.eliza import Client

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB
WAYS = [(CONNECT, 1, 1), (CONNECT, 2, 2), (CONNECT, 1, 2), (GRPC_WEB, 1, 1), (GRPC_WEB, 2, 1), (GRPC, 2, 2)]

RULES = """
interceptors:
  - error:
      map:
        - { from: failed_precondition, code: resource_exhausted, message: "later: {message}" }
        - { from: [out_of_range, data_loss], code: aborted, details: drop }
"""


@pytest.fixture(params=WAYS, ids=lambda way: f"{way[0].name.lower()}-{way[1]}-{way[2]}")
def client(request, martlet, eliza):
    protocol, caller, upstream = request.param
    proxy = martlet(upstream=eliza.h2c_url if upstream == 2 else eliza.url, more=RULES)
    return Client(proxy.url, "proto", caller, protocol=protocol)


def error(call):
    with pytest.raises(ConnectError) as caught:
        call()
    return caught.value.code, caught.value.message, [detail.message_bytes for detail in caught.value.details]


def test_unary(client):
    with ResponseMetadata() as metadata:
        reported = error(lambda: client.say("fail"))
    assert reported == (Code.RESOURCE_EXHAUSTED, "later: not today: 100%", [b"\x08\x3c"])
    assert metadata.trailers["x-cost"] == "237"
    assert client.say("hello") == "Eliza heard hello"


def test_a_stream(client):
    sentences = client.introduce("fail")
    assert next(sentences) == "Hi fail, I am Eliza"
    assert error(lambda: next(sentences)) == (Code.ABORTED, "forgot the rest", [])


def test_grpc(martlet, grpc_service, grpc_channel):
    def unary(request, context):
        context.set_trailing_metadata([("x-kept", "1")])
        context.abort(grpc.StatusCode.UNAVAILABLE, "down")

    rule = "{ from: unavailable, code: resource_exhausted, metadata: { x-why: busy } }"
    more = f"interceptors: [ {{ error: {rule} }} ]\n"
    channel = grpc_channel(martlet(upstream=grpc_service({"Unary": unary}).url, more=more))
    call = channel.unary.future(b"", timeout=5)
    assert (call.code(), call.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "down")
    trailers = dict(call.trailing_metadata())
    assert (trailers["x-kept"], trailers["x-why"]) == ("1", "busy")


def test_a_dead_upstream(martlet):
    more = "interceptors: [ { error: { from: unavailable, code: internal, message: gone } } ]\n"
    with martlet(upstream="http://127.0.0.1:1", more=more).http() as http:
        response = http.post("/a.B/C", headers={"content-type": "application/json"}, content=b"{}")
    assert (response.status_code, response.json()) == (500, {"code": "internal", "message": "gone"})
