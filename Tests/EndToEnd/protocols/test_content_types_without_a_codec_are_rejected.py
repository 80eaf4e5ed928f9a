"""A content type whose codec Martlet does not know gets what a server of its protocol responds, wherever the call ends."""

import base64
import json
import struct

import pytest

from support.protocol import envelope
from support.schemas import compiled
from support.servers.grpc_service import SERVICE, descriptor_set

from rest.things import SCHEMAS
from rest.things import options as rest_options

PATH = f"/{SERVICE}/Unary"
MESSAGE = b'{"sentence":"hello"}'
STREAMS = ["application/connect+foo", "application/connect+", "application/connect+JSON2", "application/connect+x+json"]
UNARY = ["application/foo", "application/connect", "application/x-protobuf"]
GRPC = ["application/grpc+foo", "application/grpc+JSON2"]
WEB = ["application/grpc-web+foo", "application/grpc-web+x-proto"]
TEXT = ["application/grpc-web-text+foo"]
FOREIGN = ["text/plain", "image/jpeg"]
TYPES = STREAMS + UNARY + GRPC + WEB + TEXT
GET = "GET"


def called(proxy, content_type, version=2, path=PATH):
    """Makes a call; returns the status, and the code and the message of its error."""
    headers = {} if content_type == GET else {"content-type": content_type}
    body = MESSAGE
    if content_type in STREAMS + GRPC + WEB + TEXT:
        body = envelope(0, MESSAGE)
    elif content_type in UNARY:
        headers["connect-protocol-version"] = "1"
    if content_type in TEXT:
        body = base64.b64encode(body)
    with proxy.http(http1=version == 1, http2=version == 2) as http:
        if content_type == GET:
            reported = http.get(path, params={"connect": "v1", "encoding": "foo", "message": "x"})
        else:
            reported = http.post(path, headers=headers, content=body)
    return reported.status_code, *error(reported, content_type)


def error(reported, content_type):
    """The code and the message of a response, of which gRPC and gRPC-Web have a number in place of the code."""
    kind = reported.headers["content-type"]
    if content_type in GRPC:
        assert kind == content_type
        return reported.headers["grpc-status"], reported.headers["grpc-message"]
    if content_type in WEB + TEXT:
        assert kind == content_type
        frame = base64.b64decode(reported.content) if content_type in TEXT else reported.content
        assert struct.unpack(">BI", frame[:5]) == (0x80, len(frame) - 5)
        fields = dict(line.split(": ", 1) for line in frame[5:].decode().split("\r\n") if line)
        return fields["grpc-status"], fields["grpc-message"]
    assert kind == "application/json"
    return reported.json()["code"], reported.json()["message"]


def expected(content_type):
    return (200, "2") if content_type in GRPC + WEB + TEXT else (415, "unknown")


@pytest.fixture
def start(martlet, tmp_path):
    """Starts a daemon that knows the types, with this much more of a configuration."""
    (tmp_path / "types.binpb").write_bytes(descriptor_set())

    def run(types=True, **more):
        text = {"listen": "127.0.0.1:0"} | ({"types": {"files": [str(tmp_path / "types.binpb")]}} if types else {}) | more
        return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()))

    return run


def mocked(*rules, **options):
    mock = {"methods": {"Unary": list(rules)}} if rules else {}
    return {"mocks": {"m": mock | options}, "interceptors": [{"mock": "m"}]}


IN_JSON = {"json": {"sentence": "hi"}}
MOCKS = {
    "default": mocked(),
    "json": mocked({"respond": IN_JSON}),
    "fake": mocked({"respond": {"fake": True}}),
    "fake-default": mocked(unmatched="fake"),
    "by-message": mocked({"when": {"json": {"/sentence": "hello"}}, "respond": IN_JSON}),
    "by-raw": mocked({"when": {"header": {"x-raw": "1"}}, "respond": {"raw": {"text": "x"}}}, {"respond": IN_JSON}),
    "delayed": mocked({"outputs": [{"headers": {"x-a": "b"}}, {"wait": "1ms"}, {"send": IN_JSON}]}),
    "each": mocked({"outputs": [{"each": [{"send": {"json": {"sentence": "{json:/sentence}"}}}]}]}),
    "expect": mocked({"outputs": [{"expect": {"json": {"/sentence": "hello"}}}, {"send": {"text": "x"}}]}),
}


@pytest.mark.parametrize("content_type", [*TYPES, GET])
@pytest.mark.parametrize("mock", MOCKS)
def test_a_mock(start, mock, content_type):
    status, code, message = called(start(**MOCKS[mock]), content_type)
    assert (status, code) == expected(content_type)
    assert message == "the mock does not know the codec; use json or proto"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("content_type", TYPES)
def test_a_mock_without_types(start, content_type, version):
    assert called(start(types=False, **mocked()), content_type, version)[:2] == expected(content_type)


@pytest.mark.parametrize("content_type", FOREIGN)
@pytest.mark.parametrize("mock", MOCKS)
def test_a_content_type_of_no_protocol(start, mock, content_type):
    status, code, message = called(start(**MOCKS[mock]), content_type)
    assert (status, code) == (415, "unknown")
    assert message == "the content type is not an RPC content type; use for example application/json"


@pytest.mark.parametrize(
    "respond, body",
    [({"base64": "AAEC"}, b"\0\1\2"), ({"text": "hi"}, b"hi"), ({"hex": "0001"}, b"\0\1"), ({"echo": True}, MESSAGE)],
    ids=["base64", "text", "hex", "echo"],
)
def test_a_mock_of_bytes_serves_every_codec(start, respond, body):
    with start(**mocked({"respond": respond})).http() as http:
        for content_type in ["application/grpc-web+foo", "application/connect+foo"]:
            reported = http.post(PATH, headers={"content-type": content_type}, content=envelope(0, MESSAGE))
            assert (reported.status_code, reported.headers["content-type"]) == (200, content_type)
            assert reported.content.startswith(envelope(0, body))
        headers = {"content-type": "application/foo", "connect-protocol-version": "1"}
        reported = http.post(PATH, headers=headers, content=MESSAGE)
        assert (reported.status_code, reported.headers["content-type"], reported.content) == (200, "application/foo", body)


def test_a_mock_records_the_rejection(start):
    proxy = start(**mocked({"respond": IN_JSON}))
    called(proxy, "application/connect+foo")
    (call,) = proxy.admin("/mocks/m/calls").json()["calls"]
    assert (call["code"], call["message"]) == ("unknown", "the mock does not know the codec; use json or proto")


UPSTREAMS = ["speaks: grpc, codecs: [proto]", "speaks: grpc_web, codecs: [json]", "speaks: connect, codecs: [json]", "speaks: rest"]


@pytest.fixture(scope="session")
def things():
    return compiled(SCHEMAS, "things.proto")


@pytest.fixture
def before(martlet, h2_recorder, things, tmp_path):
    """Starts a daemon before an upstream that must get no message."""
    (tmp_path / "things.binpb").write_bytes(things)
    upstream = h2_recorder()

    def run(options, more=""):
        types = f"types: {rest_options(tmp_path / 'things.binpb')}\n"
        return martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{upstream.url}', {options} }} }}\n{types}{more}")

    yield run
    assert [stream.body for stream in upstream.streams if stream.body] == []


@pytest.mark.parametrize("content_type", TYPES)
@pytest.mark.parametrize("options", UPSTREAMS)
def test_an_upstream_with_codecs(before, options, content_type):
    status, code, message = called(before(options), content_type, path="/rest.v1.Things/Get")
    assert (status, code) == expected(content_type)
    assert message.endswith("it does not understand the codec of the messages, nor does Martlet; use proto or json")


@pytest.mark.parametrize("content_type", TYPES)
def test_a_named_call(before, content_type):
    calls = "calls: { c: { url: 'http://127.0.0.1:1/x' } }\ninterceptors: [ { call: c } ]\n"
    status, code, message = called(before("speaks: same", calls), content_type, path="/rest.v1.Things/Get")
    assert (status, code) == expected(content_type)
    assert message == "the codec is not supported here; use json"


@pytest.mark.parametrize("content_type", [*UNARY, *FOREIGN])
def test_a_rest_caller(before, content_type):
    """A REST path has no protocol but JSON: what is not JSON is rejected, whatever it is called."""
    with before("speaks: grpc").http() as http:
        reported = http.post("/v1/things", headers={"content-type": content_type}, content=MESSAGE)
    assert (reported.status_code, reported.json()["code"]) == (415, 3)


@pytest.mark.parametrize("speaks", ["grpc", "grpc_web"])
@pytest.mark.parametrize("content_type", ["application/connect+", "application/connect+; charset=utf-8"])
def test_a_codec_without_a_name_is_not_translated(before, speaks, content_type):
    status, code, message = called(before(f"speaks: {speaks}"), content_type, path="/rest.v1.Things/Get")
    assert (status, code, message) == (415, "unknown", "upstream default: the call names no codec; use proto or json")


@pytest.mark.parametrize("content_type", ["application/grpc-web", "application/grpc-web+", "application/grpc-web+; a=b"])
@pytest.mark.parametrize("speaks, forwarded", [("connect", "application/connect+proto"), ("grpc", "application/grpc+proto")])
def test_grpc_without_a_name_is_protobuf(martlet, h2_recorder, things, tmp_path, speaks, forwarded, content_type):
    (tmp_path / "things.binpb").write_bytes(things)
    upstream = h2_recorder()
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{upstream.url}', speaks: {speaks} }} }}\n"
        f"types: {rest_options(tmp_path / 'things.binpb')}\n"
    )
    with proxy.http() as http:
        http.post("/rest.v1.Things/Watch", headers={"content-type": content_type}, content=envelope(0, b""))
    assert upstream.streams[0].header("content-type") == forwarded
