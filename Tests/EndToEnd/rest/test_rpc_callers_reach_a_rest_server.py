"""Callers of Connect, gRPC and gRPC-Web reach a server that has REST paths and JSON only."""

import base64
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import pytest
from google.protobuf import json_format
from support.schemas import Classes

from rest.things import SERVICE, options

DETAIL = {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "count"}]}


class RestServer:
    """A plain HTTP server: responds with what it has got, or as a test says for a path."""

    def __init__(self):
        self.requests, self.responses = [], {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True
            protocol_version = "HTTP/1.1"

            def respond(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                server.requests.append((f"{self.command} {self.path}", body, dict(self.headers.items())))
                status, kind, content = server.responses.get(self.path, (200, "application/json", b'{"name":"seen"}'))
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(content)))
                self.send_header("seen", "header")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_REPORT = respond

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(running):
    return running(RestServer())


@pytest.fixture
def rest_proxy(martlet, server, schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)
    types = options(tmp_path / "things.binpb")
    return martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{server.url}", speaks: rest }} }}
        types: {types}
        """
    )


@pytest.fixture(params=["connect", "grpc", "grpc-web"])
def call(request, rest_proxy, schema):
    """Calls a method with a message as a dictionary: the response as one, or the code, the message and the details."""
    classes = Classes(schema)
    thing, body = classes["rest.v1.Thing"], classes["google.api.HttpBody"]
    protocol = request.param

    def parsed(method, message):
        return json_format.ParseDict(message, (body if method == "Upload" else thing)())

    def shown(method, wire):
        return json_format.MessageToDict((body if method == "Download" else thing).FromString(wire))

    def with_grpc(method, message, timeout=None):
        with grpc.insecure_channel(rest_proxy.addresses[0]) as channel:
            function = channel.unary_unary(f"/{SERVICE}/{method}")
            try:
                return shown(method, function(parsed(method, message).SerializeToString(), timeout=timeout or 10))
            except grpc.RpcError as error:
                return (error.code().value[0], error.details())

    def with_grpc_web(method, message, timeout=None):
        wire = parsed(method, message).SerializeToString()
        with rest_proxy.http() as http:
            headers = {"content-type": "application/grpc-web+proto"}
            if timeout:
                headers["grpc-timeout"] = f"{int(timeout * 1000)}m"
            content = http.post(f"/{SERVICE}/{method}", content=b"\0" + len(wire).to_bytes(4) + wire, headers=headers).content
        frames = []
        while content:
            size = int.from_bytes(content[1:5])
            frames.append((content[0], content[5 : 5 + size]))
            content = content[5 + size :]
        trailers = dict(line.split(":", 1) for line in frames[-1][1].decode().strip().split("\r\n"))
        if int(trailers["grpc-status"]):
            return (int(trailers["grpc-status"]), trailers["grpc-message"].strip())
        return shown(method, frames[0][1])

    def with_connect(method, message, timeout=None):
        headers = {"content-type": "application/json"}
        if timeout:
            headers["connect-timeout-ms"] = str(int(timeout * 1000))
        with rest_proxy.http() as http:
            response = http.post(f"/{SERVICE}/{method}", content=json.dumps(message), headers=headers)
        return result(response)

    def result(response):
        if response.status_code == 200:
            return response.json()
        error = response.json()
        codes = [code.name.lower() for code in sorted(grpc.StatusCode, key=lambda code: code.value[0])]
        codes[1] = "canceled"
        return (codes.index(error["code"]), error["message"])

    function = {"connect": with_connect, "grpc": with_grpc, "grpc-web": with_grpc_web}[protocol]
    function.protocol = protocol
    return function


# A method and its message, and the request that the server has got.
REQUESTS = [
    ("Get", {"name": "a b/ü"}, "GET /v1/things/a%20b%2F%C3%BC", None),
    ("Get", {"name": "lamp", "count": "7", "tags": ["a&b", "c"], "isOn": True}, "GET /v1/things/lamp?count=7&isOn=true&tags=a%26b&tags=c", None),
    ("Get", {"name": "lamp", "item": {"name": "x", "tags": ["y"]}}, "GET /v1/things/lamp?item.name=x&item.tags=y", None),
    ("Get", {"item": {"name": "shelves/a%2Fb/books/c d"}}, "GET /v1/shelves/a%2Fb/books/c%20d", None),
    ("Get", {"count": "0"}, "GET /v1/counts/0/false/COLOR_UNSPECIFIED", None),
    ("Files", {"name": "a/b/c"}, "GET /v1/files/a/b/c", None),
    ("List", {"since": "2026-01-02T03:04:05Z", "nick": "", "price": 1.5}, "GET /v1/things?price=1.5&since=2026-01-02T03%3A04%3A05Z&nick=", None),
    ("Create", {"name": "lamp", "labels": {"k": "v"}}, "POST /v1/things", {"name": "lamp", "labels": {"k": "v"}}),
    ("Create", {}, "POST /v1/things", {}),
    ("Update", {"name": "lamp", "count": "3", "item": {"count": "2"}}, "PATCH /v1/things/lamp?count=3", {"count": "2"}),
    ("Update", {"name": "lamp", "labels": {"k": "v"}}, "PUT /v1/things/lamp", {"labels": {"k": "v"}}),
    ("Cancel", {"name": "lamp"}, "POST /v1/things/lamp:cancel", {}),
    ("Delete", {"name": "lamp"}, "DELETE /v1/things/lamp", None),
]


def test_requests(call, server):
    for method, message, line, body in REQUESTS:
        assert call(method, message) == {"name": "seen"}, line
        got, content, headers = server.requests[-1]
        assert got == line
        assert (json.loads(content) if content else None) == body, line
        assert ("content-type" in {name.lower() for name in headers}) == (body is not None)


def test_messages_that_no_path_has_a_place_for(call, server):
    for method, message, words in [
        ("List", {"labels": {"k": "v"}}, "GET /v1/things has no place for the field labels"),
        ("Delete", {}, "the value of name cannot stand in the path DELETE /v1/things/{name}"),
        ("Delete", {"name": ".."}, "the value of name cannot stand in the path"),
        ("Files", {"name": "a/../b"}, "the value of name cannot stand in the path"),
        ("Files", {"name": "..%2F..%2Fadmin"}, "the value of name cannot stand in the path"),
        ("Files", {"name": "a/..;/x"}, "the value of name cannot stand in the path"),
        ("Delete", {"name": "..\\x"}, "the value of name cannot stand in the path"),
        ("List", {"name": "x" * 9000}, "has no place for a message of this size"),
    ]:
        code, text = call(method, message)
        assert (code, words in text) == (3 if "cannot stand" in words else 12, True), text
    assert server.requests == []


def test_errors(call, server):
    status = {"code": 9, "message": "not today: 100% ☂", "details": [DETAIL]}
    kinds = {
        "a": (400, "application/json", json.dumps(status).encode()),
        "b": (404, "application/json", json.dumps({"error": {"code": 404, "message": "gone", "status": "NOT_FOUND"}}).encode()),
        "c": (503, "text/html", b"<h1>sorry</h1>"),
        "e": (409, "application/json", json.dumps({"error": {"code": 409, "message": "late", "status": "CANCELLED"}}).encode()),
        "f": (404, "application/json", b'{"message":"nowhere"}'),
        "g": (400, "application/json", b'{"error":"odd"}'),
        "h": (412, "text/plain", b"no"),
        "d": (200, "text/html", b"<h1>hello</h1>"),
    }
    server.responses = {f"/v1/things/{name}": response for name, response in kinds.items()}
    escaped = "not today: 100%25 %E2%98%82" if call.protocol == "grpc-web" else "not today: 100% ☂"
    assert call("Get", {"name": "a"}) == (9, escaped)
    for name, expected in {"b": (5, "gone"), "e": (1, "late"), "f": (5, "nowhere"), "g": (3, "odd"), "h": (9, "HTTP status 412")}.items():
        assert call("Get", {"name": name}) == expected, name
    assert call("Get", {"name": "c"})[0] == 14
    if call.protocol != "connect":
        assert call("Get", {"name": "d"})[0] in (2, 13)


def test_details(rest_proxy, server):
    server.responses["/v1/things/a"] = (400, "application/json", json.dumps({"code": 9, "message": "m", "details": [DETAIL]}).encode())
    with rest_proxy.http() as http:
        response = http.post(f"/{SERVICE}/Get", json={"name": "a"})
    assert response.json()["details"] == [
        {"type": "google.rpc.BadRequest", "value": base64.b64encode(b"\n\x07\n\x05count").decode().rstrip("=")}
    ]


def test_a_content_type_is_one_line(call, server):
    """Else it would bring a second request along."""
    evil = {"contentType": "text/plain\r\ncontent-length: 0\r\n\r\nGET /v1/things HTTP/1.1\r\nx: ", "data": "AAEC"}
    code, text = call("Upload", evil)
    assert code == 3 and "is not a valid header value" in text
    assert server.requests == []


def test_bodies_of_any_type(call, server):
    server.responses["/v1/raw/lamp"] = (200, "image/x-test", b"\0\1\2")
    assert call("Download", {"name": "lamp"}) == {"contentType": "image/x-test", "data": "AAEC"}
    call("Upload", {"contentType": "image/x-test", "data": "AAEC"})
    line, content, headers = server.requests[-1]
    assert (line, content) == ("POST /v1/raw", b"\0\1\2")
    assert {name.lower(): value for name, value in headers.items()}["content-type"] == "image/x-test"


@pytest.mark.parametrize("codec", ["json", "proto"])
def test_a_connect_get(rest_proxy, server, schema, codec):
    thing = Classes(schema)["rest.v1.Thing"](name="a b")
    wire = thing.SerializeToString() if codec == "proto" else b'{"name": "a b"}'
    message = base64.urlsafe_b64encode(wire).decode().rstrip("=")
    query = {"connect": "v1", "encoding": codec, "base64": "1", "message": message}
    with rest_proxy.http() as http:
        response = http.get(f"/{SERVICE}/Get", params=query)
    assert (response.status_code, server.requests[-1][0]) == (200, "GET /v1/things/a%20b")
    seen = b'{"name":"seen"}' if codec == "json" else b"\n\x04seen"
    assert response.content == seen


def test_deadlines_and_streams(rest_proxy, server):
    with rest_proxy.http() as http:
        http.post(f"/{SERVICE}/Get", json={"name": "a"}, headers={"connect-timeout-ms": "2500"})
        headers = {name.lower(): value for name, value in server.requests[-1][2].items()}
        assert 2.0 < float(headers["x-server-timeout"]) <= 2.5
        assert "connect-timeout-ms" not in headers and "connect-protocol-version" not in headers
        packed = gzip.compress(b'{"name":"a"}')
        sent = http.post(
            f"/{SERVICE}/Get", content=packed, headers={"content-encoding": "gzip", "content-type": "application/json"}
        )
        assert (sent.status_code, sent.headers["seen"]) == (200, "header")
    with grpc.insecure_channel(rest_proxy.addresses[0]) as channel:
        with pytest.raises(grpc.RpcError) as error:
            list(channel.unary_stream(f"/{SERVICE}/Watch")(b""))
    assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "it speaks REST, which has no streams" in error.value.details()
