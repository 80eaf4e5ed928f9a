"""An upstream that sends no length ends its body by closing. The caller gets all of it and can send the next call."""

BODY = bytes(range(256)) * 1000


def close_delimited(peer):
    peer.request()
    peer.send(b"HTTP/1.1 200 OK\r\nx-kind: old\r\n\r\n" + BODY)


def test_the_body_and_the_next_call(martlet, recorder):
    upstream = recorder(script=close_delimited)
    caller = martlet(upstream=upstream.url).connect()
    for _ in range(2):
        caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
        response = caller.response()
        assert (response.header("x-kind"), response.body) == ("old", BODY)
        assert response.header("transfer-encoding") == "chunked"


def test_a_truncated_body_does_not_pass_as_complete(martlet, recorder):
    upstream = recorder(
        script=lambda peer: (peer.request(), peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal"))
    )
    caller = martlet(upstream=upstream.url).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert b"content-length: 9" in caller.head().lower()
    assert caller.rest() == b"hal"
