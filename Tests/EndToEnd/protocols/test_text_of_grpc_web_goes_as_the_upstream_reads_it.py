"""A caller of gRPC-Web as text is served by every upstream: one that lists text gets it, and all others what they speak."""

import base64
import json

import pytest

from support.http2 import h2_peer
from support.protocol import envelope
from support.raw_call import response_parts
from support.servers.grpc_service import SERVICE, descriptor_set

PATH = f"/{SERVICE}/Unary"
SENT = {"application/grpc-web-text": b"\x0a\x02hi", "application/grpc-web-text+proto": b"\x0a\x02hi", "application/grpc-web-text+json": b'{"sentence":"hi"}'}
TEXT, BINARY, GRPC, CONNECT = "application/grpc-web-text", "application/grpc-web", "application/grpc", "application"
# What an upstream speaks; and what it gets, up to the codec.
UPSTREAMS = {
    "same": TEXT,
    "[grpc_web, grpc_web_text]": TEXT,
    "[grpc_web_text, grpc_web]": TEXT,
    "[grpc, grpc_web, grpc_web_text]": TEXT,
    "[connect, grpc_web_text, grpc_web]": TEXT,
    "grpc_web": BINARY,
    "[grpc_web]": BINARY,
    "[grpc_web, connect]": BINARY,
    "[connect, grpc_web]": BINARY,
    "[grpc, grpc_web]": BINARY,
    "[grpc_web, grpc_web_text], codecs: [json]": TEXT,
    "[grpc_web, grpc_web_text], codecs: [proto]": TEXT,
    "grpc_web, codecs: [proto, json]": BINARY,
    "grpc": GRPC,
    "[grpc, connect]": GRPC,
    "connect": CONNECT,
    "[connect, grpc]": CONNECT,
}


def respond(peer, stream):
    """Responds in what the request is in; gRPC has its status in trailers."""
    peer.finish(stream)
    kind, message, end = response_parts(stream.header("content-type"))
    if kind.endswith("json") and kind != "application/json":
        message = envelope(0, b'{"sentence":"hi"}')
        message = base64.b64encode(message) if TEXT in kind else message
    peer.headers(stream.id, h2_peer.response(200, ("content-type", kind)))
    peer.data(stream.id, message + end, end=kind.split("+")[0] != GRPC)
    if kind.split("+")[0] == GRPC:
        peer.headers(stream.id, [("grpc-status", "0")], end=True)


def decoded(text):
    return b"".join(base64.b64decode(text[at : at + 4]) for at in range(0, len(text), 4))


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("content_type", SENT)
@pytest.mark.parametrize("speaks", UPSTREAMS)
def test_a_call(martlet, h2_recorder, tmp_path, speaks, content_type, version):
    (tmp_path / "types.binpb").write_bytes(descriptor_set())
    upstream = h2_recorder(respond)
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{upstream.url}', speaks: {speaks} }} }}\n"
        f"types: {{ files: ['{tmp_path}/types.binpb'] }}\n"
    )
    codec = "json" if content_type.endswith("json") else "proto"
    others = "codecs: [json]" in speaks and codec != "json" or "codecs: [proto]" in speaks and codec != "proto"
    with proxy.http(http1=version == 1, http2=version == 2) as http:
        body = base64.b64encode(envelope(0, SENT[content_type]))
        reported = http.post(PATH, headers={"content-type": content_type, "accept": content_type}, content=body)
    assert reported.status_code == 200
    assert reported.headers["content-type"].startswith(TEXT)
    assert decoded(reported.content).endswith(envelope(0x80, b"grpc-status: 0\r\n")), decoded(reported.content)
    (stream,) = upstream.streams
    received = stream.header("content-type")
    # Converted messages go out in binary, which a server of text understands as well.
    expected = BINARY if others else UPSTREAMS[speaks]
    if expected == CONNECT:
        assert (received, bytes(stream.body)) == (f"application/{codec}", SENT[content_type])
        return
    assert received.split("+")[0] == expected
    if expected == TEXT:
        assert (received, bytes(stream.body)) == (content_type, body)
    elif not others:
        assert (received, bytes(stream.body)) == (f"{expected}+{codec}", envelope(0, SENT[content_type]))
    else:
        wanted = b"\x0a\x02hi" if codec == "json" else json.dumps({"sentence": "hi"}, separators=(",", ":")).encode()
        assert bytes(stream.body) == envelope(0, wanted)
