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
CASES = [(kind, name) for kind, table in KINDS.items() for name in table]


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


RAW = """
listen: 127.0.0.1:0
mocks: { raw: { rules: [ RULES ] } }
interceptors: [ { mock: raw } ]
"""
STATUSES = [200, 299, 306, 418, 499, 599, 600, 666, 799, 800, 899, 900, 999]
CALLS = {
    "http": ("GET", "/a", {}, b""),
    "connect_unary": ("POST", "/a.B/C", {"content-type": "application/json"}, b"{}"),
    "connect_stream": ("POST", "/a.B/C", {"content-type": "application/connect+json"}, b"\0\0\0\0\2{}"),
    "grpc_web": ("POST", "/a.B/C", {"content-type": "application/grpc-web+json"}, b"\0\0\0\0\2{}"),
    "grpc": ("POST", "/a.B/C", {"content-type": "application/grpc+json", "te": "trailers"}, b"\0\0\0\0\2{}"),
}


@pytest.fixture(scope="module")
def odd(binary, tmp_path_factory):
    rules = [{"when": {"header": {"x-status": str(status)}}, "respond": {"raw": {"status": status, "headers": {"x-a": "b"}, "text": "hey"}}} for status in STATUSES]
    proxy = Martlet(RAW.replace("[ RULES ]", json.dumps(rules)), tmp_path_factory.mktemp("odd"))
    yield proxy
    proxy.stop()


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("call", CALLS)
def test_any_status_over_http_1(odd, call, status):
    method, path, headers, body = CALLS[call]
    fields = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "x-status": status, "content-length": len(body)}.items())
    caller = odd.connect()
    caller.send(f"{method} {path} HTTP/1.1\r\nhost: a\r\n{fields}\r\n".encode() + body)
    response = caller.response()
    assert (response.status, bytes(response.body), ("x-a", "b") in response.headers) == (status, b"hey", True)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("call", CALLS)
def test_any_status_over_http_2(odd, call, status):
    method, path, headers, body = CALLS[call]
    peer = odd.connect_h2()
    stream = peer.open(h2_peer.request(path, method, *headers.items(), ("x-status", str(status))), end=not body)
    if body:
        peer.data(stream.id, body, end=True)
    seen = peer.finish(stream)
    assert (seen.status, bytes(seen.body), seen.header("x-a")) == (status, b"hey", "b")


@pytest.mark.parametrize("status", [-1, 0, 99, 100, 101, 103, 199, 1000, 10000])
def test_a_status_that_no_response_can_have_is_an_error(command, tmp_path, status):
    rule = f"{{ respond: {{ raw: {{ status: {status} }} }} }}"
    (tmp_path / "martlet.yaml").write_text(RAW.replace("RULES", rule))
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78
    assert f'3:54: "status" cannot be "{status}"; write a whole number from 200 to 999' in result.stderr.text
