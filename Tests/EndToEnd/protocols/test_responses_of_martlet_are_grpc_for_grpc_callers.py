"""Every response of Martlet to a gRPC call is a single head with status and message, as every gRPC client reads it."""

import json

import grpc
import pytest

from support.http2 import h2_peer

REJECT = """
listeners: [ {{ address: 127.0.0.1:0, proxy_status: off }} ]
upstream: {url}
interceptors:
  - metrics: {{}}
  - log: {{}}
  - reject: {{ code: unknown, message: "auth token fetch failed", {more} }}
"""


def golden(content_type, number=2, message="auth token fetch failed"):
    status = [(b":status", b"200"), (b"content-type", content_type.encode())]
    return [*status, (b"grpc-status", b"%d" % number), (b"grpc-message", message.encode())]


@pytest.mark.parametrize("content_type", ["application/grpc", "application/grpc+proto", "application/grpc+json"])
@pytest.mark.parametrize("ended", [True, False], ids=["whole request", "part of a request"])
def test_rejection_field_for_field(martlet, h2_recorder, content_type, ended):
    upstream = h2_recorder()
    caller = martlet(REJECT.format(url=upstream.url, more="")).connect_h2()
    for _ in range(2):
        fields = h2_peer.request("/a.B/C", "POST", ("content-type", content_type), ("te", "trailers"))
        call = caller.finish(caller.open(fields, end=ended))
        assert call.heads == [golden(content_type)]
        assert (call.body, call.ended) == (b"", True)
    assert upstream.connections == []


def test_details_and_metadata(martlet, h2_recorder):
    more = "metadata: { x-why: closed }, details: [ { type: google.rpc.RetryInfo, value: CgIIPA } ]"
    caller = martlet(REJECT.format(url=h2_recorder().url, more=more)).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    status = "CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5SZXRyeUluZm8SBAoCCDw"
    assert (call.grpc("grpc-status-details-bin"), call.header("x-why")) == (status, "closed")


@pytest.mark.parametrize("message, encoded", [("100% sure", "100%25 sure"), ("☃\n", "%E2%98%83%0A")])
def test_messages_are_encoded(martlet, h2_recorder, message, encoded):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {h2_recorder().url}
        interceptors: [ {{ reject: {{ code: permission_denied, message: {json.dumps(message)} }} }} ]
        """
    )
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (call.grpc(), call.grpc("grpc-message")) == ("7", encoded)


def test_the_record_of_a_rejection(martlet, h2_recorder):
    proxy = martlet(REJECT.format(url=h2_recorder().url, more=""))
    caller = proxy.connect_h2()
    caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    proxy.stdout.wait('"code":"unknown"')
    assert "grpc" in proxy.stdout.text
    handled = proxy.metrics().select("martlet_rpc_handled_total", code="unknown")
    assert sum(value for _, value in handled) == 1


def test_no_route(martlet, grpc_channel, h2_recorder):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {h2_recorder().url}
        routes: [ {{ match: {{ service: another.Service }} }} ]
        """
    )
    with pytest.raises(grpc.RpcError) as caught:
        grpc_channel(proxy).unary(b"", timeout=5)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("scheme", ["h2c://127.0.0.1:1", "unix+h2c:/nowhere.sock"])
def test_no_server_at_the_upstream(martlet, scheme):
    caller = martlet(upstream=scheme).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (call.grpc(), len(call.heads)) == ("14", 1)
    assert "default" in call.grpc("grpc-message")


def test_an_http_1_error_page_becomes_a_status(martlet, h2_recorder):
    """The status says what happened (http-grpc-status-mapping); the page passes as it is."""

    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(503, ("content-type", "text/html")))
        peer.data(stream.id, b"<h1>busy</h1>", end=True)

    proxy = martlet(upstream=h2_recorder(response).url, more="interceptors: [ metrics: {} ]")
    caller = proxy.connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert call.status == 503 or call.grpc() == "14"
    assert proxy.metrics().counted("martlet_rpc_handled_total", "code") == {"unavailable"}
