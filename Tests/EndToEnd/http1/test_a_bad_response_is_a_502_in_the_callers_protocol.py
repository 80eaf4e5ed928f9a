"""A response that violates HTTP/1.1 never reaches a caller. Martlet closes that connection and serves the next call."""

import pytest

from support import protocol


def ok(*fields, body=b"ok"):
    return b"\r\n".join([b"HTTP/1.1 200 OK", *fields, b"", body])


CASES = {
    "no HTTP": b"220 mail.example ESMTP\r\n\r\n",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok",
    "status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
    "status 099": b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/2.0": b"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "unasked upgrade": b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
    "length and coding": ok(b"Content-Length: 2", b"Transfer-Encoding: chunked"),
    "differing lengths": ok(b"Content-Length: 2", b"Content-Length: 3"),
    "length with a sign": ok(b"Content-Length: +2"),
    "unknown coding": ok(b"Transfer-Encoding: gzip"),
    "chunked is not last": ok(b"Transfer-Encoding: chunked, gzip"),
    "folded field": ok(b"X-A: 1", b" 2", b"Content-Length: 2"),
    "space before the colon": ok(b"X-A : 1", b"Content-Length: 2"),
    "NUL": ok(b"X-A: \x00", b"Content-Length: 2"),
    "bare CR": ok(b"X-A: a\rb", b"Content-Length: 2"),
    "head too large": ok(b"X-A: " + b"a" * 100_000, b"Content-Length: 2"),
    "closed without a word": b"",
    "closed within the head": b"HTTP/1.1 200 OK\r\nContent-Le",
}
CALLERS = [protocol.CONNECT_UNARY_JSON, protocol.CONNECT_STREAM_PROTO, protocol.GRPC_WEB, protocol.PLAIN]


@pytest.mark.parametrize("name", CASES)
def test_rejected(martlet, recorder, name):
    def script(peer):
        while request := peer.request():
            upstream.requests.append(request)
            if request.target != "/good":
                peer.send(CASES[name])
                # If the response never ends, Martlet has to close the connection itself.
                return peer.rest() if CASES[name].endswith(b"ok") else None
            peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood")

    upstream = recorder(script=script)
    proxy = martlet(upstream=upstream.url, more="workers: 1")
    closed = name.startswith("closed")
    with proxy.http() as http:
        for caller in CALLERS:
            response = caller.call(http)
            # One that only closed may as well count as unreachable.
            assert response.status_code in {caller.status(502), caller.status(503 if closed else 502)}, caller
            assert response.headers["content-type"] == caller.response_type
            if caller is CALLERS[0]:
                message = response.json()["message"]
                assert message
            code = ("resource_exhausted", 8) if name == "head too large" else ("unavailable", 14)
            assert response.content == caller.error(*code, message)
            assert http.get("/good").text == "good"
    results = proxy.metrics().counted("martlet_upstream_attempts_total", "result")
    assert results == {"ok", "reset" if closed else "bad_response"}
    assert not upstream.failures
