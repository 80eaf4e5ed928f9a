"""HTTP/1.0: no chunks, a body that ends with the connection, and keep-alive only on request."""

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\nx-t: 1\r\n\r\n"


def test_the_connection_ends_after_the_response(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET /old HTTP/1.0\r\nhost: a.example\r\n\r\n")
    response = caller.response()
    assert (response.status, response.body) == (200, b"ok")
    assert caller.has_ended()
    assert upstream.requests[0].version == "1.1"


def test_a_chunked_response_is_unchunked(martlet, recorder):
    upstream = recorder(response=CHUNKED)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET /old HTTP/1.0\r\nhost: a.example\r\n\r\n")
    assert b"transfer-encoding" not in caller.head().lower()
    assert caller.rest() == b"onetwo"


def test_keep_alive_when_asked_for(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    for _ in range(2):
        caller.send(b"GET /old HTTP/1.0\r\nhost: a.example\r\nconnection: keep-alive\r\n\r\n")
        response = caller.response()
        assert response.body == b"ok"
        assert response.header("connection").lower() == "keep-alive"
