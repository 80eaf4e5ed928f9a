"""Hop-by-hop headers, and those that `Connection` names, are removed in both directions."""

REQUEST = b"""\
POST /p HTTP/1.1\r
Host: a.example\r
Connection: keep-alive, X-Private, te\r
X-Private: 1\r
Keep-Alive: timeout=5\r
Proxy-Connection: keep-alive\r
TE: trailers, deflate;q=0.5\r
X-Kept: one\r
X-Kept: two\r
Content-Length: 2\r
\r
hi"""
RESPONSE = b"""\
HTTP/1.1 200 OK\r
Connection: keep-alive, X-Hop\r
X-Hop: 1\r
Keep-Alive: timeout=5\r
Proxy-Connection: keep-alive\r
Set-Cookie: a=1\r
Set-Cookie: b=2\r
Content-Length: 2\r
\r
ok"""


def test_both_directions(martlet, recorder):
    upstream = recorder(response=RESPONSE)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(REQUEST)
    response = caller.response("POST")
    assert response.values("set-cookie") == ["a=1", "b=2"]
    assert not {"x-hop", "keep-alive", "proxy-connection"} & {name for name, _ in response.headers}
    request = upstream.requests[0]
    assert request.values("x-kept") == ["one", "two"]
    assert request.header("te") == "trailers"
    assert request.header("host")  # exactly one
    assert not {"x-private", "keep-alive", "proxy-connection"} & {name for name, _ in request.headers}
    assert "x-private" not in (request.header("connection") or "").lower()
