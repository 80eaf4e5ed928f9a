"""Hostile responses of HTTP/1, made from tables: {name: (bytes, whether the connection ends behind them)}."""

from http1.hostile.inputs import CODINGS, FRAMINGS, LENGTHS, NAMES, SIZES, TRAILERS, VALUES, named

SMUGGLED = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled"
HELLO = b"5\r\nhello\r\n0\r\n\r\n"


def ok(*fields, body=b"", line=b"HTTP/1.1 200 OK"):
    return b"\r\n".join([line, *fields, b"", body])


STATUS_LINES = [
    b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.1  200 OK", b"HTTP/1.1 200  OK", b"HTTP/1.1 200OK", b"HTTP/1.1200 OK",
    b"HTTP/1.1\t200 OK", b" HTTP/1.1 200 OK", b"HTTP/1.1 200\tOK", b"HTTP/1.1 200 OK ", b"HTTP/1.1 200 O\x00K",
    b"HTTP/1.1 200 O\rK", b"HTTP/1.1 200 O\nK", b"HTTP/1.1 200 O\x01K", b"HTTP/1.1 200 O\x7fK", b"HTTP/1.1 200 \xff",
    b"HTTP/1.1 200 " + b"a" * 5000, b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1 0200 OK", b"HTTP/1.1 099 OK",
    b"HTTP/1.1 000 OK", b"HTTP/1.1 600 OK", b"HTTP/1.1 999 OK", b"HTTP/1.1 299 OK", b"HTTP/1.1 -20 OK",
    b"HTTP/1.1 +20 OK", b"HTTP/1.1 2e2 OK", b"HTTP/1.1 0x2 OK", b"HTTP/1.1 2 0 OK", b"HTTP/1.1 OK", b"HTTP/1.1 ",
    b"HTTP/1.1", b"HTTP/1.0 200 OK", b"HTTP/0.9 200 OK", b"HTTP/1.2 200 OK", b"HTTP/2.0 200 OK", b"HTTP/2 200",
    b"HTTP/11 200 OK", b"http/1.1 200 OK", b"HTTP/1.1x 200 OK", b"ICY 200 OK", b"200 OK", b"OK", b"220 a ESMTP",
    b"SSH-2.0-a", b"<html>", b"GET /p HTTP/1.1", b"\x16\x03\x03\x00\x02\x02\x28",
]  # fmt: skip
STATUSES = [b"100", b"101", b"102", b"103", b"199", b"204", b"205", b"206", b"304", b"401", b"407", b"408", b"421", b"426"]
BODIES = {
    "LF behind the size": b"5\nhello\r\n0\r\n\r\n",
    "LF behind the data": b"5\r\nhello\n0\r\n\r\n",
    "nothing behind the data": b"5\r\nhello0\r\n\r\n",
    "data too long": b"5\r\nhello!\r\n0\r\n\r\n",
    "no last chunk": b"5\r\nhello\r\n",
    "cut within a chunk": b"5\r\nhel",
    "cut within a size": b"5\r\nhello\r\n1",
    "cut behind the last size": b"5\r\nhello\r\n0\r\n",
    "cut within the trailers": b"5\r\nhello\r\n0\r\nx-t: 1\r\n",
    "no data": b"",
    "LF at the end": b"5\r\nhello\r\n0\n\n",
    "more behind it": HELLO + b"x",
    "a response behind it": HELLO + SMUGGLED,
}
RESPONSES = {
    "nothing": b"",
    "half a status line": b"HTTP/1.1 200",
    "half a head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "LF everywhere": b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
    "LF behind the status line": b"HTTP/1.1 200 OK\nContent-Length: 5\r\n\r\nhello",
    "LF behind a field": b"HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello",
    "LF at the end of the head": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello",
    "CR everywhere": b"HTTP/1.1 200 OK\rContent-Length: 5\r\rhello",
    "an empty line before": b"\r\n" + ok(b"Content-Length: 5", body=b"hello"),
    "a body before": b"hello" + ok(b"Content-Length: 5", body=b"hello"),
    "a body too short": ok(b"Content-Length: 9", body=b"hello"),
    "a body too long": ok(b"Content-Length: 5", body=b"hello!"),
    "a response behind it": ok(b"Content-Length: 5", body=b"hello") + SMUGGLED,
    "a final and an informational one behind it": ok(b"Content-Length: 0") + b"HTTP/1.1 103 a\r\n\r\n",
    "no framing": ok(body=b"hello"),
    "no framing, and stays": ok(b"Connection: keep-alive", body=b"hello"),
    "no framing, with a response behind it": ok(body=b"hello" + SMUGGLED),
    "HTTP/1.0 with chunks": ok(b"Transfer-Encoding: chunked", body=HELLO, line=b"HTTP/1.0 200 OK"),
    "HTTP/1.0 with chunks and a length": ok(
        b"Transfer-Encoding: chunked", b"Content-Length: 5", body=HELLO, line=b"HTTP/1.0 200 OK"
    ),
    "one 100": b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"Content-Length: 5", body=b"hello"),
    "one 103": b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + ok(b"Content-Length: 5", body=b"hello"),
    "many 103": b"HTTP/1.1 103 a\r\nlink: </a>\r\n\r\n" * 100 + ok(b"Content-Length: 5", body=b"hello"),
    "a flood of 100": b"HTTP/1.1 100 Continue\r\n\r\n" * 4000 + ok(b"Content-Length: 5", body=b"hello"),
    "a flood of 103": b"HTTP/1.1 103 a\r\nlink: </a>\r\n\r\n" * 4000 + ok(b"Content-Length: 5", body=b"hello"),
    "103 with a length": b"HTTP/1.1 103 a\r\nContent-Length: 5\r\n\r\nhello" + ok(b"Content-Length: 5", body=b"hello"),
    "103 with chunks": b"HTTP/1.1 103 a\r\nTransfer-Encoding: chunked\r\n\r\n"
    + HELLO
    + ok(b"Content-Length: 5", body=b"hello"),
    "103 with a smuggled response for a body": b"HTTP/1.1 103 a\r\nContent-Length: %d\r\n\r\n" % len(SMUGGLED)
    + SMUGGLED
    + ok(b"Content-Length: 5", body=b"hello"),
    "103 with two lengths": b"HTTP/1.1 103 a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"
    + ok(b"Content-Length: 5", body=b"hello"),
    "103 with a bare LF": b"HTTP/1.1 103 a\n\r\n" + ok(b"Content-Length: 5", body=b"hello"),
    "103 and nothing more": b"HTTP/1.1 103 a\r\n\r\n",
    "101 that nobody asked for": b"HTTP/1.1 101 a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhello",
    "101 and a response": b"HTTP/1.1 101 a\r\n\r\n" + ok(b"Content-Length: 5", body=b"hello"),
    "204 with a length": ok(b"Content-Length: 5", body=b"hello", line=b"HTTP/1.1 204 No Content"),
    "204 with a length of 0": ok(b"Content-Length: 0", line=b"HTTP/1.1 204 No Content"),
    "204 with chunks": ok(b"Transfer-Encoding: chunked", body=HELLO, line=b"HTTP/1.1 204 No Content"),
    "204 with a smuggled response": ok(b"Content-Length: %d" % len(SMUGGLED), body=SMUGGLED, line=b"HTTP/1.1 204 a"),
    "205 with a length": ok(b"Content-Length: 5", body=b"hello", line=b"HTTP/1.1 205 Reset Content"),
    "304 with a length and no body": ok(b"Content-Length: 5", line=b"HTTP/1.1 304 Not Modified"),
    "304 with a length and a body": ok(b"Content-Length: 5", body=b"hello", line=b"HTTP/1.1 304 Not Modified"),
    "304 with chunks": ok(b"Transfer-Encoding: chunked", body=HELLO, line=b"HTTP/1.1 304 Not Modified"),
    "304 with a smuggled response": ok(b"Content-Length: %d" % len(SMUGGLED), body=SMUGGLED, line=b"HTTP/1.1 304 a"),
    "nominated length": ok(b"Connection: content-length", b"Content-Length: 5", body=b"hello"),
    "nominated coding": ok(b"Connection: transfer-encoding", b"Transfer-Encoding: chunked", body=HELLO),
    "close and keep-alive": ok(b"Connection: close, keep-alive", b"Content-Length: 5", body=b"hello"),
    "close with a response behind it": ok(b"Connection: close", b"Content-Length: 5", body=b"hello") + SMUGGLED,
    "an upgrade that is not made": ok(b"Connection: upgrade", b"Upgrade: h2c", b"Content-Length: 5", body=b"hello"),
    "a request for a response": b"GET /p HTTP/1.1\r\nHost: a.example\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "frames of HTTP/2": b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    "an alert of TLS": b"\x15\x03\x01\x00\x02\x02\x46",
    "a field of 70,000 bytes": ok(b"X-A: " + b"a" * 70000, b"Content-Length: 5", body=b"hello"),
    "300 fields": ok(*[b"X-%d: 1" % number for number in range(300)], b"Content-Length: 5", body=b"hello"),
}
# Requested by HEAD.
HEADLESS = {
    "HEAD with a length": ok(b"Content-Length: 5"),
    "HEAD with a length and a body": ok(b"Content-Length: 5", body=b"hello"),
    "HEAD with chunks and a body": ok(b"Transfer-Encoding: chunked", body=HELLO),
    "HEAD with chunks": ok(b"Transfer-Encoding: chunked"),
    "HEAD with both": ok(b"Transfer-Encoding: chunked", b"Content-Length: 5"),
    "HEAD with a smuggled response": ok(b"Content-Length: %d" % len(SMUGGLED), body=SMUGGLED),
    "HEAD without framing": ok(),
    "HEAD without framing, with a body": ok(body=b"hello"),
    "HEAD and a bad length": ok(b"Content-Length: x"),
}


def _responses():
    length, chunked = b"Content-Length: 5", b"Transfer-Encoding: chunked"
    yield named("status line", STATUS_LINES, lambda line: ok(length, body=b"hello", line=line))
    yield named("status", STATUSES, lambda status: ok(length, body=b"hello", line=b"HTTP/1.1 %b a" % status))
    yield named("name", NAMES, lambda line: ok(line, length, body=b"hello"))
    yield named("value", VALUES, lambda value: ok(b"X-A: " + value, length, body=b"hello"))
    yield named("length", LENGTHS, lambda value: ok(b"Content-Length: " + value, body=b"hello"))
    yield named("coding", CODINGS, lambda value: ok(b"Transfer-Encoding: " + value, body=HELLO))
    yield named("coding and length", CODINGS, lambda value: ok(b"Transfer-Encoding: " + value, length, body=HELLO))
    yield named("five bytes framed by", FRAMINGS, lambda fields: ok(*fields, body=b"hello"))
    yield named("chunk size", SIZES, lambda size: ok(chunked, body=size + b"\r\nhello\r\n0\r\n\r\n"))
    yield named("trailer", TRAILERS, lambda line: ok(chunked, body=b"5\r\nhello\r\n0\r\n" + line + b"\r\n\r\n"))


def _responses_with_more_behind_them():
    yield named("chunks framed by", FRAMINGS, lambda fields: ok(*fields, body=b"0\r\n\r\n" + SMUGGLED))
    yield named("chunks", BODIES, lambda body: ok(b"Transfer-Encoding: chunked", body=body))
    yield named("response", RESPONSES, lambda data: data)
    yield named("response to", HEADLESS, lambda data: data)


def _inputs():
    for table in _responses():
        yield from ((name, (data, True)) for name, data in table.items())
    # From a server that ends the connection behind it, and from one whose connection is as good as before.
    for table in _responses_with_more_behind_them():
        for name, data in table.items():
            yield f"{name}, then the end", (data, True)
            yield f"{name}, then silence", (data, False)


INPUTS = dict(_inputs())
