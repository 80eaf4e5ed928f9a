"""Pipelined requests get their responses in order, and none is lost."""


def echo(request):
    body = request.target.encode() + b" " + request.body
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def test_pipelining(martlet, recorder):
    upstream = recorder(response=echo)
    caller = martlet(upstream=upstream.url).connect()
    requests = [
        b"POST /%d HTTP/1.1\r\nhost: a.example\r\ncontent-length: 4\r\n\r\n%04d" % (number, number)
        for number in range(50)
    ]
    caller.send(b"".join(requests))
    for number in range(50):
        assert caller.response("POST").body == b"/%d %04d" % (number, number)


def test_a_request_after_one_that_closes_is_not_served(martlet, recorder):
    upstream = recorder(response=echo)
    caller = martlet(upstream=upstream.url).connect()
    first = b"GET /first HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n"
    caller.send(first + b"GET /second HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.response().body == b"/first "
    assert caller.has_ended()
    assert b"/second" not in upstream.bytes
