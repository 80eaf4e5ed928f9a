"""What `redact` masks does not come out by another name, by an error, by a path or by the line that repeats a call."""

import base64
import gzip
import json
import random
import struct

import httpx
import pytest
from support import protocol
from support.http1.recorder import JSON
from support.martlet import Command
from support.schemas import compiled
from support.wait import eventually

PROTO = """
syntax = "proto3";
package shop;
import "google/api/annotations.proto";
message Card { string card_number = 1; string note = 2; }
message Reply { string card_number = 1; }
service Shop {
  rpc Pay(Card) returns (Reply) { option (google.api.http) = { post: "/pay/{card_number}" body: "*" }; }
}
"""
SECRET = "41114111"
REDACT = "{ redact: { json: [/cardNumber] } }"


@pytest.fixture
def types(tmp_path):
    (tmp_path / "shop.proto").write_text(PROTO)
    (tmp_path / "shop.binpb").write_bytes(compiled(tmp_path, "shop.proto"))
    return tmp_path / "shop.binpb"


@pytest.fixture
def start(martlet, recorder, types):
    def start(speaks="same", response=JSON):
        upstream = recorder(response)
        return martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{upstream.url}", speaks: {speaks} }} }}
            types: {{ files: {types} }}
            interceptors: [ {REDACT} ]
            """
        )

    return start


def all_that_is_shown(proxy, seen):
    """The events, and every line for each call."""
    calls = {event["call"] for event in seen.events if "call" in event}
    views = [f"view={view}&with={tool}" for view in ("caller", "upstream") for tool in ("curl", "grpcurl", "buf")]
    return json.dumps(seen.events) + "".join(proxy.admin(f"/calls/{call}/curl?{view}").text for call in calls for view in views)


@pytest.mark.parametrize("speaks", ["same", "rest", "grpc_web"])
@pytest.mark.parametrize(
    "message",
    [
        {"card_number": SECRET},
        {"cardNumber": SECRET},
        {"card_number": SECRET, "unknown": 1},
        {"note": "n", "card_number": SECRET},
    ],
    ids=json.dumps,
)
def test_names_of_fields(start, tap, speaks, message):
    proxy = start(speaks)
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", json=message)
        http.get("/shop.Shop/Pay", params={"connect": "v1", "encoding": "json", "message": json.dumps(message)})
        http.post(f"/pay/{SECRET}", json={"note": "n"})
    seen.until("end", 3)
    shown = all_that_is_shown(proxy, seen)
    # The path of REST is in the log, too, where it is called path.
    assert SECRET not in shown.replace(f"/pay/{SECRET}", "")


def test_a_line_that_is_masked_says_so(start, tap):
    proxy = start()
    seen = tap(proxy)
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", json={"card_number": SECRET, "note": "n"})
    line = proxy.admin(f"/calls/{seen.until('end')[0]['call']}/curl").text
    assert line.startswith("# the body has *** for what is not shown\n") and '{"cardNumber":"***","note":"n"}' in line


def test_an_error_is_not_read_as_a_response(start, tap):
    error = b'{"code":"aborted","message":"no","details":[{"type":"a.B","value":"%s"}]}' % SECRET.encode()
    head = b"HTTP/1.1 409 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(error)
    proxy = start(response=head + error)
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", json={"note": "n"})
    seen.until("end")
    (message,) = seen.of("message", direction="response")
    assert message["json"] == {"code": "aborted", "message": "no", "details": "***"}


def repeating(request):
    """Responds with an error that repeats the message."""
    body = gzip.decompress(request.body) if request.header("content-encoding") else request.body
    error = json.dumps({"code": "aborted", "message": f"cannot accept {body.decode()[-200:]}"}).encode()
    return b"HTTP/1.1 409 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(error) + error


# Too long to be kept, with and without compression.
LONG = random.Random(1).randbytes(100_000).hex()
TYPED, UNTYPED = "/shop.Shop/Pay", "/other.Shop/Pay"


@pytest.mark.parametrize(
    "path, message, shown",
    [
        (TYPED, {"note": "n", "card_number": SECRET}, 'cannot accept {"note": "n", "card_number": "***"}'),
        (TYPED, {"note": "n", "cardNumber": SECRET}, 'cannot accept {"note": "n", "cardNumber": "***"}'),
        (TYPED, {"card_number": SECRET, "unknown": 1}, "***"),
        (UNTYPED, {"note": "n", "cardNumber": "4321"}, 'cannot accept {"note": "n", "cardNumber": "***"}'),
        (UNTYPED, {"note": "n", "cardNumber": 43214321}, 'cannot accept {"note": "n", "cardNumber": ***}'),
        (UNTYPED, {"note": "n", "cardNumber": ['a"b c1', {"a": "x y z"}]}, 'cannot accept {"note": "n", "cardNumber": ["***", {"a": "***"}]}'),
        (UNTYPED, {"note": "n"}, 'cannot accept {"note": "n"}'),
        (UNTYPED, {"note": LONG, "cardNumber": SECRET}, "***"),
        (UNTYPED, {"cardNumber": [f"value{i:04}" for i in range(300)]}, "***"),
        (UNTYPED + "?" + "&".join(f"token{i}=value{i:04}" for i in range(300)), {"note": "n"}, "***"),
        (UNTYPED, [SECRET] * 2, f"cannot accept {json.dumps([SECRET] * 2)}"),
    ],
    ids=lambda value: str(value)[:50],
)
@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
def test_errors_repeat_no_part_that_is_masked(start, tap, path, message, shown, compressed):
    proxy = start(response=repeating)
    seen = tap(proxy)
    body = json.dumps(message).encode()
    content = gzip.compress(body, mtime=0) if compressed else body
    coding = {"content-encoding": "gzip"} if compressed else {}
    with proxy.http() as http:
        error = http.post(path, content=content, headers=protocol.CONNECT_UNARY_JSON.headers() | coding).json()
    assert error["message"] == f"cannot accept {body.decode()[-200:]}"
    (end,) = seen.until("end")
    (recent,) = proxy.admin("/calls/recent").json()["calls"]
    assert end["message"] == recent["message"] == shown


@pytest.mark.parametrize("path", [TYPED, UNTYPED])
@pytest.mark.parametrize(
    "change, shown",
    [
        (f'set: {{ /cardNumber: "{SECRET}" }}', '{"cardNumber":"***"}'),
        (f'replace: {{ json: {{ cardNumber: "{SECRET}" }} }}', '{"cardNumber":"***"}'),
        (f"replace: {{ text: 'no JSON {SECRET}' }}", "***"),
    ],
)
def test_errors_repeat_no_part_that_an_interceptor_has_put_in(martlet, recorder, types, tap, path, change, shown):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {recorder(repeating).url}
        types: {{ files: {types} }}
        interceptors: [ {REDACT}, message: {{ on: request, {change} }} ]
        """
    )
    seen = tap(proxy)
    with proxy.http() as http:
        error = http.post(path, json={}).json()
    assert SECRET in error["message"]
    (end,) = seen.until("end")
    assert end["message"].removeprefix("cannot accept ") == shown


def test_errors_name_no_part_that_is_masked(start, tap):
    error = json.dumps({"code": "aborted", "errors": {SECRET: "invalid"}}).encode()
    head = b"HTTP/1.1 409 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(error)
    proxy = start(response=head + error)
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        assert http.post(TYPED, json={"card_number": SECRET}).content == error
    seen.until("end")
    (message,) = seen.of("message", direction="response")
    assert message["json"] == {"code": "aborted", "errors": {"***": "invalid"}}


def test_errors_of_martlet_are_shown_whatever_the_message_has(martlet, tap):
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\ninterceptors: [ {REDACT} ]\n")
    seen = tap(proxy)
    with proxy.http() as http:
        protocol.CONNECT_UNARY_PROTO.call(http)
    (end,) = seen.until("end")
    assert "127.0.0.1:1" in end["message"]


def test_calls_that_are_rejected_before_their_route_show_no_headers(martlet, recorder):
    proxy = martlet(upstream=recorder().url)
    with proxy.http() as http:
        response = http.get("/", headers={"x-ssn": SECRET, "origin": "http://evil.example", "sec-fetch-site": "cross-site"})
    assert response.status_code == 403
    call = proxy.admin("/calls/recent").json()["calls"][0]["call"]
    line = proxy.admin(f"/calls/{call}/curl").text
    assert SECRET not in line and "${MARTLET_X_SSN}" in line


def test_messages_that_unpack_to_much_are_not_kept(start, tap):
    proxy = start()
    seen = tap(proxy)
    packed = gzip.compress(json.dumps({"note": "x" * 200_000}).encode())
    body = b"".join(struct.pack(">BI", 1, len(packed)) + packed for _ in range(40))
    headers = {"content-type": "application/connect+json", "connect-content-encoding": "gzip", "connect-protocol-version": "1"}
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", content=body, headers=headers)
    response = proxy.admin(f"/calls/{seen.until('end')[0]['call']}/curl?with=buf")
    assert response.status_code == 422 and "the messages are not kept as JSON" in response.text


def test_empty_messages_are_messages(martlet, recorder, types, tap):
    empty = b"HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 0\r\n\r\n"
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {recorder(empty).url}\ntypes: {{ files: {types} }}")
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", headers=protocol.CONNECT_UNARY_PROTO.headers())
    seen.until("end")
    assert [(event["direction"], event["json"]) for event in seen.of("message")] == [("request", {}), ("response", {})]


def test_a_filter_by_code_counts_only_what_it_shows(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="workers: 1\ninterceptors: [ { when: { path: /no }, reject: { code: aborted } } ]")
    seen = tap(proxy, code="aborted", rate="1/m")
    with proxy.http() as http:
        for _ in range(50):
            http.get("/")
        http.get("/no")
    seen.until("end")
    assert not seen.of("skipped") and {event.get("path", "/no") for event in seen.events} == {"/no"}


def test_an_upstream_is_called_by_the_name_of_its_certificate(martlet, recorder, authority, tap, shell):
    ours = authority()
    upstream = recorder(tls=ours.issue("shop.example").server())
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{upstream.url}", tls: {{ ca: {ours.file}, server_name: shop.example }} }} }}
        """
    )
    seen = tap(proxy)
    with proxy.http() as http:
        assert http.post("/a", content=b"x").status_code == 200
    line = proxy.admin(f"/calls/{seen.until('end')[0]['call']}/curl?view=upstream").text
    assert f"--connect-to shop.example:{upstream.port}:127.0.0.1:{upstream.port}" in line
    result = shell(line)
    assert result.returncode == 0, result.stderr
    assert [request.body for request in upstream.requests] == [b"x"] * 2


def test_compressed_responses_are_shown_as_text(martlet, recorder, tap, shell):
    packed = gzip.compress(b"hello")
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(packed)
    proxy = martlet(upstream=recorder(head + packed).url)
    seen = tap(proxy)
    httpx.get(proxy.url, trust_env=False)
    result = shell(proxy.admin(f"/calls/{seen.until('end')[0]['call']}/curl").text)
    assert result.stdout.endswith(b"hello")


@pytest.mark.parametrize("query", [f"token=aa;{SECRET}", f"a=1;token={SECRET}", f"tok%65n={SECRET}", f"x=1&token={SECRET};b#c"])
def test_secrets_in_queries(martlet, recorder, tap, query):
    proxy = martlet(upstream=recorder().url)
    seen = tap(proxy)
    peer = proxy.connect()
    peer.send(f"GET /p?{query.split('#')[0]} HTTP/1.1\r\nhost: a\r\n\r\n".encode())
    peer.response()
    seen.until("end")
    assert SECRET not in all_that_is_shown(proxy, seen)


@pytest.mark.parametrize("name", ["x-jwt-assertion", "x-session-id", "x-auth", "x-auth-key", "x-amz-signature", "x-bearer", "x-api-key"])
def test_headers_named_like_credentials(martlet, recorder, tap, name):
    proxy = martlet(upstream=recorder().url)
    seen = tap(proxy)
    httpx.get(proxy.url, headers={name: SECRET}, trust_env=False)
    seen.until("end")
    assert SECRET not in all_that_is_shown(proxy, seen)


def test_a_message_that_is_cut_off_is_not_left_out(start, tap):
    proxy = start()
    seen = tap(proxy)
    body = struct.pack(">BI", 0, 12) + b'{"note":"n"}' + struct.pack(">BI", 0, 30) + b'{"card_number":"' + SECRET.encode()
    headers = {"content-type": "application/connect+json", "connect-protocol-version": "1"}
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", content=body, headers=headers)
    call = seen.until("end")[0]["call"]
    assert proxy.admin(f"/calls/{call}/curl?with=buf").status_code == 422
    assert SECRET not in all_that_is_shown(proxy, seen)


def test_texts_of_calls_make_no_lines_of_the_tap(martlet, recorder, running):
    error = json.dumps({"code": "aborted", "message": "a\n16:00:00.000 abcdef ok\r\nb"}).encode()
    head = b"HTTP/1.1 409 No\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(error)
    proxy = martlet(upstream=recorder(head + error).url)
    shown = running(Command("tap", "-c", proxy.file, "--messages", "--headers", "-n", "2"))

    def is_over():
        with proxy.http() as http:
            protocol.CONNECT_UNARY_JSON.call(http)
            http.post("/", content=b"x\r\n16:00:00.000 abcdef ok")
        return shown.stdout.matches(r" aborted \d")

    eventually(is_over, what="the end of a call")
    assert all(not line.startswith("16:00:00.000") for line in shown.stdout.text.splitlines())


def test_a_long_stream_is_shown_as_far_as_the_rate_allows(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="workers: 1")
    seen = tap(proxy, messages="true", rate="20/s")
    body = b"".join(struct.pack(">BI", 0, 2) + b"{}" for _ in range(20_000))
    with proxy.http() as http:
        http.post("/a.B/C", content=body, headers={"content-type": "application/connect+json", "connect-protocol-version": "1"})
    seen.until("end")
    assert len(seen.of("message")) < 400
    assert sum(event.get("lost", 0) for event in seen.events) + len(seen.of("message")) >= 20_000


def test_a_low_rate_shows_a_call_whole(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url, more="workers: 1")
    seen = tap(proxy, rate="1/h", messages="true")
    with proxy.http() as http:
        http.post("/", content=b"x")
    seen.until("end")
    assert [event.get("event", "lost") for event in seen.events] == ["request", "message", "response", "message", "end"]


def test_a_request_to_a_rest_server_is_no_rpc(martlet, recorder, types, tap):
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: {recorder(JSON).url}, speaks: rest }} }}\ntypes: {{ files: {types} }}")
    seen = tap(proxy)
    with proxy.http() as http:
        http.post("/shop.Shop/Pay", json={"card_number": "1", "note": "n"})
    call = seen.until("end")[0]["call"]
    assert "/pay/1" in proxy.admin(f"/calls/{call}/curl?view=upstream").text
    assert proxy.admin(f"/calls/{call}/curl?view=upstream&with=buf").status_code == 422


def test_a_message_without_room_is_not_read(start, tap):
    def enveloped(payload, compressed=True):
        return protocol.envelope(1, gzip.compress(payload, mtime=0)) if compressed else protocol.envelope(0, payload)

    # The first leaves less room than the second takes, so that none is left for the third.
    first = json.dumps({"note": "a" * ((1 << 20) - 20)}).encode()
    body = enveloped(first) + enveloped(json.dumps({"note": "a" * 100}).encode(), False) + enveloped(b"{}")
    end = protocol.envelope(2, b'{"error":{"code":"aborted","message":"no"}}')
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ncontent-length: %d\r\n\r\n" % len(end)
    proxy = start(response=head + end)
    seen = tap(proxy)
    headers = {"content-type": "application/connect+json", "connect-protocol-version": "1", "connect-content-encoding": "gzip"}
    with proxy.http() as http:
        assert http.post("/other.Shop/Pay", content=body, headers=headers).content == end
    assert seen.until("end")[0]["message"] == "***"


def shown_error(martlet, recorder, tap, body, *fields):
    """The body of an error that repeats a header of its request, as the tap shows it; the caller gets it as it is."""
    head = b"".join(b"%s\r\n" % field for field in (b"HTTP/1.1 400 No", *fields, b"content-length: %d" % len(body)))
    upstream = recorder(head + b"\r\n" + body)
    proxy = martlet(f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
    """)
    seen = tap(proxy, messages="true")
    with proxy.http() as http:
        assert http.get("/a", headers={"x-api-key": SECRET}).content == body
    seen.until("end")
    (message,) = seen.of("message", direction="response")
    return message


@pytest.mark.parametrize(
    "body",
    [b"\xff " + SECRET.encode(), b"\0" + SECRET.encode(), SECRET.encode("utf-8") + b"\x80" * 9],
    ids=repr,
)
def test_an_error_that_is_no_text_repeats_no_credential(martlet, recorder, tap, body):
    message = shown_error(martlet, recorder, tap, body)
    assert base64.b64decode(message["base64"]) == body.replace(SECRET.encode(), b"***")


def test_an_error_that_cannot_be_decompressed_is_withheld(martlet, recorder, tap):
    body = f"no {SECRET}".encode()
    message = shown_error(martlet, recorder, tap, body, b"content-encoding: unknown")
    assert message["withheld"] is True and "base64" not in message
