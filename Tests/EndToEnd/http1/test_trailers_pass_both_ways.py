"""Chunked bodies keep their trailer fields in both directions."""

RESPONSE = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b"3\r\none\r\n3;note=ignored\r\ntwo\r\n0\r\nx-checksum: 77\r\nx-cost: 2\r\n\r\n"
)
REQUEST = (
    b"POST /p HTTP/1.1\r\nhost: a.example\r\nte: trailers\r\ntransfer-encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n0\r\nx-signature: abc\r\n\r\n"
)


def test_trailers(martlet, recorder):
    upstream = recorder(response=RESPONSE)
    proxy = martlet(upstream=upstream.url)
    caller = proxy.connect()
    for _ in range(2):  # the second call shows that the connection is still in step
        caller.send(REQUEST)
        response = caller.response("POST")
        assert (response.status, response.body) == (200, b"onetwo")
        assert response.trailers == [("x-checksum", "77"), ("x-cost", "2")]
    for request in upstream.requests:
        assert (request.body, request.trailers) == (b"hello", [("x-signature", "abc")])
        assert request.header("te") == "trailers"
