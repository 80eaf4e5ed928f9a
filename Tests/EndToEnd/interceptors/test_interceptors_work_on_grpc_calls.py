"""Tokens, header rules, conditions and timeouts work for gRPC calls as for others, trailers included."""

import grpc
import pytest

from support.http2 import h2_peer
from support.wait import eventually

CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ {timeouts} }} }} }}
interceptors:
  - token: {{ env: TOKEN }}
  - headers:
      request: {{ set: {{ x-method: "{{service}}/{{method}}" }}, remove: [x-secret] }}
      response: {{ set: {{ x-head: martlet }} }}
      trailers: {{ set: {{ x-end: martlet }}, remove: [x-debug] }}
  - when: {{ method: Upload }}
    reject: {{ code: permission_denied, message: "no uploads" }}
"""


def start(martlet, service, timeouts=""):
    return martlet(CONFIGURATION.format(url=service.url, timeouts=timeouts), environment={"TOKEN": "secret"})


@pytest.mark.parametrize("kind", ["unary", "download"])
def test_heads_and_trailers(martlet, grpc_service, grpc_channel, kind):
    seen = {}

    def unary(request, context):
        seen.update(context.invocation_metadata())
        context.set_trailing_metadata([("x-debug", "1"), ("x-kept", "1")])
        return b"1"

    def download(request, context):
        yield unary(request, context)

    channel = grpc_channel(start(martlet, grpc_service({"Unary": unary, "Download": download})))
    metadata = [("x-secret", "1"), ("x-mine", "1")]
    if kind == "unary":
        response, call = channel.unary.with_call(b"", metadata=metadata, timeout=5)
    else:
        call = channel.download(b"", metadata=metadata, timeout=5)
        (response,) = call
    assert response == b"1"
    assert (seen["authorization"], seen["x-mine"]) == ("Bearer secret", "1")
    assert seen["x-method"] == f"martlet.test.Bytes/{kind.capitalize()}"
    assert "x-secret" not in seen
    assert dict(call.initial_metadata())["x-head"] == "martlet"
    trailers = dict(call.trailing_metadata())
    assert (trailers["x-end"], trailers["x-kept"], "x-debug" in trailers) == ("martlet", "1", False)


def test_a_rejection_within_a_chain(martlet, grpc_service, grpc_channel):
    channel = grpc_channel(start(martlet, grpc_service()))
    with pytest.raises(grpc.RpcError) as caught:
        channel.upload(iter([b"1", b"2"]), timeout=5)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.PERMISSION_DENIED, "no uploads")
    assert channel.unary(b"still there", timeout=5) == b"still there"


def test_an_error_of_the_upstream_passes_the_rules(martlet, grpc_service, grpc_channel):
    def unary(request, context):
        context.set_trailing_metadata([("x-debug", "1")])
        context.abort(grpc.StatusCode.NOT_FOUND, "nothing here")

    channel = grpc_channel(start(martlet, grpc_service({"Unary": unary})))
    call = channel.unary.future(b"", timeout=5)
    assert (call.code(), call.details()) == (grpc.StatusCode.NOT_FOUND, "nothing here")
    assert "x-debug" not in dict(call.trailing_metadata())


@pytest.mark.parametrize("setting", ["first_byte", "call"])
def test_time_outs(martlet, h2_recorder, setting):
    upstream = h2_recorder(lambda peer, stream: peer.wait(lambda: stream.reset is not None))
    caller = start(martlet, upstream, f"{setting}: 200ms").connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.grpc() in ("4", "14")
    eventually(lambda: upstream.streams[0].reset == h2_peer.CANCEL, what="the reset upstream")


def test_two_daemons_in_a_row(martlet, grpc_service, grpc_channel):
    near = martlet(upstream=grpc_service().url)
    far = martlet(upstream=near.url.replace("http:", "h2c:"))
    channel = grpc_channel(far)
    assert channel.unary(b"x" * 100000, timeout=5) == b"x" * 100000
    assert list(channel.converse(iter([b"1", b"2"]), timeout=5)) == [b"1", b"2"]
