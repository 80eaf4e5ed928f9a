"""With `compressions` messages of requests are decompressed that the upstream does not understand, in every protocol."""

import base64
import gzip
from dataclasses import replace

import pytest

from support.http1.recorder import JSON
from support.protocol import HELLO_JSON, HELLO_PROTO, PLAIN, RPCProtocol, envelope
from support.raw_call import GRPC, WAYS, RawCall
from support.servers.eliza import Client

CALLERS = [(caller, version) for caller, version in WAYS if caller is not PLAIN]
CASES = [(caller, version, upstream) for caller, version in CALLERS for upstream in (1, 2) if caller is not GRPC or upstream == 2]
FIELDS = {"connect+": "connect-content-encoding", "grpc": "grpc-encoding"}


class Packed(RPCProtocol):
    """A protocol whose messages are compressed."""

    @property
    def encoding(self):
        kind = self.content_type.removeprefix("application/")
        return next((field for start, field in FIELDS.items() if kind.startswith(start)), "content-encoding")

    @property
    def accepted(self):
        return self.encoding.replace("content-encoding", "accept-encoding").replace("grpc-", "grpc-accept-")

    def headers(self):
        own = {} if self.method == "GET" else {self.encoding: "gzip"}
        return super().headers() | own | {self.accepted: "br, gzip, snappy"}


def packed(caller):
    """The same with its message compressed."""
    plain = HELLO_JSON if "json" in caller.content_type else HELLO_PROTO
    message = gzip.compress(plain, mtime=0)
    body, query = message, ""
    if caller.method == "GET":
        text = base64.urlsafe_b64encode(message).decode().rstrip("=")
        body, query = b"", f"?connect=v1&base64=1&compression=gzip&encoding=proto&message={text}"
    elif caller.body != plain:
        body = envelope(1, message)
        if "text" in caller.content_type:
            body = base64.b64encode(body)
    fields = replace(caller, body=body, query=query).__dict__
    return Packed(**fields)


@pytest.mark.parametrize("compressions", ["[]", "[gzip]"])
@pytest.mark.parametrize("caller, version, upstream", CASES, ids=lambda value: str(value))
def test_each_protocol_over_each_version(martlet, recorder, h2_recorder, caller, version, upstream, compressions):
    server = recorder(JSON) if upstream == 1 else h2_recorder()
    configuration = f'listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: "{server.url}", compressions: {compressions} }} }}\n'
    calling = packed(caller)
    RawCall(martlet(configuration), calling, version).wait_for()
    if upstream == 1:
        seen = server.requests[0]
        target, body, header = seen.target, seen.body, dict(seen.headers).get
    else:
        seen = server.wait_for_streams(1)
        target, body, header = seen.header(":path"), bytes(seen.body), seen.header
    if compressions == "[gzip]":
        assert (body, header(calling.accepted)) == (calling.body, "gzip")
        assert target.endswith(calling.query)
        assert header(calling.encoding) == (None if caller.method == "GET" else "gzip")
    else:
        plain = caller.body if caller.method == "POST" else b""
        assert (body, header(calling.accepted), header(calling.encoding)) == (plain, "identity", None)
        assert ("?connect=v1" in target) == (caller.method == "GET") and "compression" not in target
        if caller.method == "GET":
            assert "message=CgZoZWxsbyE" in target


def test_the_published_client(martlet, eliza):
    from connectrpc.compression.gzip import GzipCompression

    for compressions in ("[]", "[gzip]"):
        proxy = martlet(f'listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: "{eliza.url}", compressions: {compressions} }} }}\n')
        packing = GzipCompression()
        client = Client(proxy.url, send_compression=packing, accept_compression=[packing])
        assert client.say("hello! " * 1000) == "Eliza heard " + "hello! " * 1000
