"""103 (Early Hints) reaches an HTTP/1.1 caller before the response, and never an HTTP/1.0 caller."""

RESPONSE = (
    b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
)


def test_early_hints(martlet, recorder):
    upstream = recorder(response=RESPONSE)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    response = caller.response()
    assert (response.status, response.body) == (200, b"ok")
    ((status, headers),) = response.informational
    assert status == 103
    assert ("link", "</a.css>; rel=preload") in headers


def test_not_to_http_1_0(martlet, recorder):
    upstream = recorder(response=RESPONSE)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET / HTTP/1.0\r\nhost: a.example\r\n\r\n")
    response = caller.response()
    assert (response.status, response.informational) == (200, [])
