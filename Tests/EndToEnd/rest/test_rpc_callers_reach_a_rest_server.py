"""Callers of Connect, gRPC and gRPC-Web reach a server that has REST paths and JSON only."""

import base64
import gzip
import json
import threading
import urllib.parse
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
                if status != 204:
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


@pytest.fixture(params=["connect", "connect-proto", "grpc", "grpc-web", "grpc-web-json"])
def call(request, rest_proxy, schema):
    """Calls a method with a message as a dictionary: the response as one, or the code, the message and the details."""
    classes = Classes(schema)
    methods = classes.pool.FindServiceByName(SERVICE).methods_by_name
    protocol = request.param
    is_json = protocol in ("connect", "grpc-web-json")

    def parsed(method, message):
        return json_format.ParseDict(message, classes[methods[method].input_type.full_name]())

    def shown(method, wire):
        return json_format.MessageToDict(classes[methods[method].output_type.full_name].FromString(wire))

    def with_grpc(method, message, timeout=None):
        with grpc.insecure_channel(rest_proxy.addresses[0]) as channel:
            function = channel.unary_unary(f"/{SERVICE}/{method}")
            try:
                return shown(method, function(parsed(method, message).SerializeToString(), timeout=timeout or 10))
            except grpc.RpcError as error:
                return (error.code().value[0], error.details())

    def with_grpc_web(method, message, timeout=None):
        wire = json.dumps(message).encode() if is_json else parsed(method, message).SerializeToString()
        with rest_proxy.http() as http:
            headers = {"content-type": f"application/grpc-web+{'json' if is_json else 'proto'}"}
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
        return json.loads(frames[0][1]) if is_json else shown(method, frames[0][1])

    def with_connect(method, message, timeout=None):
        headers = {"content-type": "application/json" if is_json else "application/proto"}
        if timeout:
            headers["connect-timeout-ms"] = str(int(timeout * 1000))
        with rest_proxy.http() as http:
            content = json.dumps(message) if is_json else parsed(method, message).SerializeToString()
            response = http.post(f"/{SERVICE}/{method}", content=content, headers=headers)
        return result(method, response)

    def result(method, response):
        if response.status_code == 200:
            return response.json() if is_json else shown(method, response.content)
        error = response.json()
        codes = [code.name.lower() for code in sorted(grpc.StatusCode, key=lambda code: code.value[0])]
        codes[1] = "canceled"
        return (codes.index(error["code"]), error["message"])

    function = {"connect": with_connect, "grpc": with_grpc}.get(protocol.split("-")[0])
    function = with_grpc_web if "web" in protocol else function
    function.protocol = protocol.removesuffix("-json").removesuffix("-proto")
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
    assert call("Get", {"name": "d"})[0] in (2, 13)


# A method, and the response of the server; then the message that the caller gets, or the code and words of its error.
RESPONSES = [
    ("Get", b'{"name":"x","more":{"a":[1]}}', {"name": "x"}),
    ("Get", b'{"item":{"name":"i","more":1}}', {"item": {"name": "i"}}),
    ("Get", b'{"is_on":true,"count":7}', {"isOn": True, "count": "7"}),
    ("Get", b'{"name":"","count":0,"tags":[]}', {}),
    ("Get", b'{"name":null,"color":"GREEN","numbers":[1.0]}', {"numbers": [1]}),
    ("Get", b' {"ttl" : "1.5s"}\n', {"ttl": "1.500s"}),
    ("Get", b"", {}),
    ("Get", b'{"name":', (13, "the upstream sent an invalid response: rest.v1.Thing: the JSON ends too early at /name")),
    ("Get", b"[1]", (13, "rest.v1.Thing: not an object")),
    ("Get", b"null", (13, "rest.v1.Thing: not valid JSON")),
    ("Get", b'"x"', (13, "rest.v1.Thing: not an object")),
    ("Get", b"{}{}", (13, 'not valid JSON: unexpected "{" at byte 2')),
    ("Get", b" ", (13, "ends too early")),
    ("Get", b'{"count":"many"}', (13, '"many" is not a value of the type int64 at /count')),
    ("Get", b'{"name":"a","name":"b"}', (13, "the field comes twice at /name")),
    ("Get", b'{"isOn":true,"is_on":true}', (13, "the field comes twice at /is_on")),
    ("Get", b'{"shade":1,"text":"x"}', (13, "another field of the same oneof is there already at /text")),
    ("Get", b'{"since":"today"}', (13, "is not a time as in RFC 3339 at /since")),
    ("Get", b'{"name":"\xff"}', (13, "")),
    ("Tags", b'["a","b"]', {"tags": ["a", "b"]}),
    ("Tags", b"[]", {}),
    ("Tags", b"null", {}),
    ("Tags", b"", {}),
    ("Tags", b'"a"', (13, "rest.v1.Thing: not a list at /tags")),
    ("Tags", b'["a"],"name":"evil"', (13, "not valid JSON")),
    ("Since", b'"2026-01-02T03:04:05Z"', {"since": "2026-01-02T03:04:05Z"}),
    ("Since", b"", {}),
    ("Since", b"{}", (13, "google.protobuf.Timestamp: not a string at /since")),
    ("Nick", b'""', {"nick": ""}),
    ("Nick", b"", {}),
    ("Labels", b'{"k":"v"}', {"labels": {"k": "v"}}),
    ("Labels", b"", {}),
    ("Labels", b'{"k":1}', (13, "not a value of the type string at /labels/k")),
    ("Count", b"5", {"count": "5"}),
    ("Inner", b'{"name":"x","more":1}', {"inner": {"name": "x"}}),
    ("Now", b'"2026-01-02T03:04:05Z"', "2026-01-02T03:04:05Z"),
    ("Now", b"", "1970-01-01T00:00:00Z"),
    ("Value", b'{"a":[1,null]}', {"a": [1, None]}),
    ("Value", b"", None),
    ("Purge", b'{"more":1}', {}),
    ("Purge", b"", {}),
    ("Text", b'"x"', "x"),
    ("Text", b"", ""),
]


@pytest.mark.parametrize("status", [200, 201])
def test_responses_are_read_as_their_type_says(call, server, status):
    server.responses = Everywhere()
    for method, content, expected in RESPONSES:
        server.responses.response = (204 if not content and status == 201 else status, "application/json; charset=utf-8", content)
        message = {"name": "a"} if method == "Get" else "" if method == "Text" else {}
        seen = call(method, message)
        if isinstance(expected, tuple):
            assert isinstance(seen, tuple), (method, content, seen)
            seen = (seen[0], expected[1] if expected[1] in urllib.parse.unquote(seen[1]) else seen[1])
        assert seen == expected, (method, content)


def test_callers_of_paths_get_them_likewise(rest_proxy, server):
    lines = {"Get": "/v1/things/a", "Now": "/v1/now", "Value": "/v1/value", "Text": "/v1/text"}
    parts = {"Tags": [], "Since": None, "Nick": None, "Labels": {}, "Count": "0", "Inner": {}}
    server.responses = Everywhere()
    with rest_proxy.http() as http:
        for method, content, expected in RESPONSES:
            server.responses.response = (200, "application/json", content)
            line = lines.get(method, f"/v1/only/{method.lower()}")
            seen = http.post("/v1/purge") if method == "Purge" else http.get(line)
            if isinstance(expected, tuple):
                assert (seen.status_code, expected[1] in seen.json()["message"]) == (500, True), (method, content, seen.text)
                continue
            if method in parts:
                expected = expected.get(method.lower(), parts[method])
            assert (seen.status_code, seen.json()) == (200, expected), (method, content, seen.text)


class Everywhere:
    """The same response for each path."""

    response = (200, "application/json", b"{}")

    def get(self, path, _):
        return self.response


def test_bodies_of_callers_of_paths_are_read_too(rest_proxy, server):
    json_type = {"content-type": "application/json"}
    with rest_proxy.http() as http:
        for body in (b'{"name":', b"[1]", b'{"colour":1}', b'{"shade":1,"text":"x"}'):
            assert http.post("/v1/things", content=body, headers=json_type).json()["code"] == 3, body
        assert server.requests == []
        assert http.post("/v1/things", content=b'{"is_on":true}', headers=json_type).status_code == 200
    assert json.loads(server.requests[-1][1]) == {"isOn": True}


def test_a_part_of_a_value_cannot_be_written_in_a_path(call, server):
    code, text = call("Span", {"ttl": "1s"})
    assert (code, "GET /v1/spans/{ttl.seconds} has ttl.seconds, a part of a value, in its path" in text) == (12, True), text
    call("Kin", {"nick": "Bo"})
    assert server.requests[-1][0] == "GET /v1/kin/Bo"


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
