"""Raw responses of mocks, be they right or wrong, reach callers as an upstream's do: byte by byte."""

import base64
import json

import httpx
import pytest
from conformance.callers import grouped
from conformance.service import DESCRIPTOR_SET, SERVICE
from conformance.test_odd_responses_become_errors import CONNECT, GRPC, GRPC_WEB
from support.http2 import h2_peer
from support.martlet import Martlet

# What Martlet sets itself, or what belongs to one connection alone.
OWN = {"content-length", "date", "server"}


class Sent:
    """What a function of the table sends: heads, data and trailers."""

    def __init__(self):
        self.heads, self.body, self.id = [], b"", 1

    def finish(self, stream):
        pass

    def headers(self, _, fields, end=False):
        self.heads.append([(str(name, "ascii") if isinstance(name, bytes) else name, str(value, "latin-1") if isinstance(value, bytes) else value) for name, value in fields])

    def data(self, _, body, end=False):
        self.body += body


def parts(entry):
    """The status, the headers, the body and the trailers of a response of the tables."""
    method, sent = entry[0]
    if callable(sent):
        peer = Sent()
        sent(peer, peer)
        head, *trailers = peer.heads
        fields = [pair for pair in head if not pair[0].startswith(":")]
        return method, int(dict(head)[":status"]), fields, peer.body, trailers[0] if trailers else []
    head, body = sent.split(b"\r\n\r\n", 1)
    status, *lines = head.decode().split("\r\n")
    fields = [tuple(line.split(": ", 1)) for line in lines if not line.startswith("content-length")]
    return method, int(status.split()[1]), fields, body, []


KINDS = {"connect": CONNECT, "grpc_web": GRPC_WEB, "grpc": GRPC}
CASES = [(kind, name) for kind, table in KINDS.items() for name in table if not name.startswith("HTTP status 8")]


@pytest.fixture(scope="module")
def mock(binary, tmp_path_factory):
    directory = tmp_path_factory.mktemp("raw")
    (directory / "types").write_bytes(DESCRIPTOR_SET)
    rules = []
    for kind, name in CASES:
        _, status, fields, body, trailers = parts(KINDS[kind][name])
        raw = {"status": status, "headers": grouped(fields), "base64": base64.b64encode(body).decode(), "trailers": grouped(trailers)}
        rules.append({"when": {"header": {"x-case": f"{kind} {name}"}}, "respond": {"raw": raw}})
    proxy = Martlet(
        f"listen: 127.0.0.1:0\nmocks: {json.dumps({'raw': {'rules': rules}})}\ninterceptors: [ {{ mock: raw }} ]\n",
        directory,
    )
    yield proxy
    proxy.stop()


@pytest.mark.parametrize("kind, name", CASES)
def test_every_response(mock, kind, name):
    method, status, fields, body, trailers = parts(KINDS[kind][name])
    own = {"x-case": f"{kind} {name}"}
    stream = "connect+proto" if method != "Unary" else "proto"
    types = {"connect": f"application/{stream}", "grpc_web": "application/grpc-web+proto", "grpc": "application/grpc+proto"}
    if kind == "grpc":
        peer = h2_peer.connect(mock.address)
        call = peer.open(h2_peer.request(f"/{SERVICE}/{method}", "POST", ("content-type", types[kind]), ("te", "trailers"), *own.items()))
        peer.data(call.id, b"\0\0\0\0\0", end=True)
        peer.wait(lambda: call.is_over, "the end of the response")
        seen = {}
        for key, value in [*call.fields, *(call.trailers or [])]:
            seen.setdefault(key.decode(), []).append(value.decode("latin-1"))
        got_status, got_body = int(seen[":status"][0]), bytes(call.body)
        peer.close()
        expected = grouped([*fields, *trailers])
    else:
        with httpx.Client(base_url=mock.url, trust_env=False) as client:
            request = client.build_request("POST", f"/{SERVICE}/{method}", content=b"", headers={"content-type": types[kind], **own})
            response = client.send(request, stream=True)
            got_body = b"".join(response.iter_raw())
        got_status = response.status_code
        seen = {}
        for key, value in response.headers.multi_items():
            seen.setdefault(key.lower(), []).append(value)
        expected = grouped(fields)
    assert (got_status, got_body) == (status, body)
    for key, values in expected.items():
        if key not in OWN:
            assert seen.get(key) == values, (key, seen)
