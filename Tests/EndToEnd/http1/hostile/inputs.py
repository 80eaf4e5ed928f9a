"""Hostile requests of HTTP/1, made from tables: {name: bytes}. Behind each comes a request that should be the next."""

from http1.hostile.first_lines import METHODS, REQUEST_LINES, TARGETS, VERSIONS

HOST = b"Host: a.example"
NEXT = b"GET /next HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"
EMPTY = b"0\r\n\r\n"
HELLO = b"5\r\nhello\r\n0\r\n\r\n"


def get(target=b"/p", *fields, method=b"GET", version=b"HTTP/1.1", host=HOST):
    return b"\r\n".join([b"%b %b %b" % (method, target, version), *([host] if host else []), *fields, b"", b""])


def post(*fields, body=b"", version=b"HTTP/1.1"):
    return get(b"/p", *fields, method=b"POST", version=version) + body


def named(kind, table, make):
    """One input for each row of a table, under a name that shows it."""
    rows = table.items() if isinstance(table, dict) else ((repr(row)[1:], row) for row in table)
    return {f"{kind} {name if len(name) < 80 else name[:60] + '…' + str(len(name))}": make(row) for name, row in rows}


HOSTS = {
    "missing": [],
    "empty": [b"Host:"],
    "blank": [b"Host:   "],
    "two alike": [HOST, HOST],
    "two that differ": [HOST, b"Host: b.example"],
    "two that differ in case": [HOST, b"hOST: b.example"],
    "one and an empty one": [HOST, b"Host:"],
    "list": [b"Host: a.example, b.example"],
    "two words": [b"Host: a.example b.example"],
    "tab within": [b"Host: a.example\tb.example"],
    "user": [b"Host: me@a.example"],
    "user and password": [b"Host: me:x@a.example"],
    "path": [b"Host: a.example/p"],
    "query": [b"Host: a.example?a"],
    "fragment": [b"Host: a.example#a"],
    "backslash": [b"Host: a.example\\b"],
    "scheme": [b"Host: http://a.example"],
    "letters for a port": [b"Host: a.example:x"],
    "no port behind a colon": [b"Host: a.example:"],
    "large port": [b"Host: a.example:99999"],
    "huge port": [b"Host: a.example:" + b"9" * 30],
    "negative port": [b"Host: a.example:-1"],
    "port with a sign": [b"Host: a.example:+80"],
    "two ports": [b"Host: a.example:80:80"],
    "port alone": [b"Host: :80"],
    "NUL": [b"Host: a.example\x00"],
    "control": [b"Host: a\x01.example"],
    "DEL": [b"Host: a\x7f.example"],
    "high bytes": [b"Host: \xc3\xa9.example"],
    "escape": [b"Host: a%2eexample"],
    "bad escape": [b"Host: a%zz"],
    "escaped line break": [b"Host: a%0d%0ab"],
    "quotes": [b'Host: "a.example"'],
    "angle brackets": [b"Host: <a.example>"],
    "braces": [b"Host: {a}"],
    "pipe": [b"Host: a|b"],
    "caret": [b"Host: a^b"],
    "backtick": [b"Host: a`b"],
    "underscore": [b"Host: a_b.example"],
    "sub-delims": [b"Host: a!$&'()*+,;=b"],
    "dot at the end": [b"Host: a.example."],
    "dots alone": [b"Host: .."],
    "hyphen": [b"Host: -a-"],
    "IPv6": [b"Host: [::1]"],
    "IPv6 with a port": [b"Host: [::1]:80"],
    "IPv6 without end": [b"Host: [::1"],
    "IPv6 without start": [b"Host: ::1]"],
    "IPv6 without brackets": [b"Host: ::1"],
    "IPv6 of letters": [b"Host: [zz]"],
    "IPv6 and more": [b"Host: [::1]a"],
    "IPv6 with a zone": [b"Host: [fe80::1%25eth0]"],
    "IPvFuture": [b"Host: [v1.a]"],
    "long": [b"Host: " + b"a" * 4000],
    "folded": [b"Host: a.example", b" b.example"],
    "folded before": [b"Host:", b" a.example"],
    "space before the colon": [b"Host : a.example"],
    "space before the name": [b" Host: a.example"],
    "nominated": [HOST, b"Connection: host"],
    "behind others": [b"X-A: 1", HOST],
    "underscore for a hyphen": [HOST, b"X_Host: b.example"],
}
NAMES = [
    b"X-A : 1", b"X-A\t: 1", b"X-A\x0b: 1", b" X-A: 1", b"\tX-A: 1", b"X A: 1", b": 1", b":", b"X-A", b"X-A 1", b"=: 1",
    b"X-\x00A: 1", b"X-\x01A: 1", b"X-\x7fA: 1", b"X-\xc3\xa9: 1", b"X-\xff: 1", b"X(A): 1", b"X/A: 1", b"X@A: 1",
    b"X[A]: 1", b"X\\A: 1", b"X,A: 1", b"X;A: 1", b"X=A: 1", b'"X-A": 1', b"{X}: 1", b"X?A: 1", b"<X>: 1", b"X_A: 1",
    b"X.A: 1", b"X!#$%&'*+^`|~A: 1", b"1: 1", b"-: 1", b"_: 1", b"X-A:: 1", b"X-A:1:2", b"X-A:", b"X-A:\t", b"::",
    b"Content_Length: 5", b"Transfer_Encoding: chunked", b"Content\xadLength: 5", b"Content-Length\x00: 5",
    b"X" * 5000 + b": 1", b":method: GET", b"GET /q HTTP/1.1",
]  # fmt: skip
VALUES = [
    b"a\x00b", b"\x00", b"a\rb", b"a\r", b"\ra", b"a\nX-B: 1", b"a\n", b"\na", b"a\x01b", b"a\x0bb", b"a\x0cb",
    b"a\x08b", b"a\x1bb", b"a\x7fb", b"a\x80b", b"a\xffb", b"a\tb", b"a  b", b"\x85", b"\xc2\xa0a", b"a\r\n b",
    b"a\r\n\tb", b"a\r\n ", b"\r\n a", b"a\r\n  Content-Length: 5", b"a\r\n\x0bb", b"a\rX-B: 1", b"a\r\rX-B: 1",
    b"a\n\rX-B: 1", b"a\r\n\rX-B: 1", b"a" * 20000, b'"', b'"a', b"\\", b"%0d%0aX-B: 1",
]  # fmt: skip
LENGTHS = [
    b"5", b"05", b"0000000000000000000005", b"00", b"+5", b"-5", b"-0", b"+0", b"5,5", b"5, 5", b"5,6", b"5,", b",5",
    b"5 5", b"5;", b"5;a=1", b"5.0", b"5e0", b"0x5", b"0X5", b"0b101", b"5h", b"a", b"", b" ", b'"5"', b"'5'", b"5\x00",
    b"\x005", b"5\x0b", b"\x0b5", b"\x0c5", b"5\xa0", b"\xa05", b"5\r", b"5\r\n ", b"\r\n 5", b"5\r\n 0", b"\xef\xbc\x95",
    b"5_0", b"1_", b"5%20", b"9" * 18, b"9" * 19, b"9" * 20, b"9" * 100, b"9223372036854775807",
    b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"18446744073709551621", b"4294967301",
    b"4294967296", b"NaN", b"identity", b"chunked",
]  # fmt: skip
CODINGS = [
    b"chunked", b"Chunked", b"CHUNKED", b"cHuNkEd", b" chunked ", b"\tchunked\t", b"chunked,", b",chunked", b", chunked",
    b"chunked ,", b",,chunked,,", b"chunked;", b"chunked;a=1", b"chunked ; a", b"chunked, chunked", b"chunked,chunked",
    b"chunked, identity", b"identity, chunked", b"identity", b"identity,", b"gzip", b"gzip, chunked", b"chunked, gzip",
    b"gzip;q=1, chunked", b"deflate,chunked", b"compress, chunked", b"trailers, chunked", b"xchunked", b"chunkedx",
    b"x-chunked", b"chunke", b"chun ked", b"chunked chunked", b"chunked x", b'"chunked"', b"'chunked'", b'"chunked',
    b"\x0bchunked", b"chunked\x0b", b"\x0cchunked", b"chunked\x0c", b"chunked\x00", b"\x00chunked", b"chunked\x01",
    b"chunked\x7f", b"chunked\xa0", b"\xa0chunked", b"chunked\xff", b"chun\xe2\x84\xaaed", b"chunked\r", b"\rchunked",
    b"chunked\r\n ", b"\r\n chunked", b"\r\n\tchunked", b"chunked\r\n , identity", b"identity\r\n , chunked", b"", b" ",
    b",", b"null", b"cow", b"0", b"chunked=1", b"chunked/1", b"(chunked)", b"chunked(a)", b"chunked,\x0b",
]  # fmt: skip
# Fields of framing that stand together, or are not quite theirs; each is sent with three bodies.
FRAMINGS = {
    "length 5 and chunked": [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    "chunked and length 5": [b"Transfer-Encoding: chunked", b"Content-Length: 5"],
    "length 0 and chunked": [b"Content-Length: 0", b"Transfer-Encoding: chunked"],
    "chunked and length 0": [b"Transfer-Encoding: chunked", b"Content-Length: 0"],
    "identity and length": [b"Transfer-Encoding: identity", b"Content-Length: 5"],
    "unknown coding and length": [b"Transfer-Encoding: cow", b"Content-Length: 5"],
    "empty coding and length": [b"Transfer-Encoding:", b"Content-Length: 5"],
    "coding with a space before the colon, and length": [b"Transfer-Encoding : chunked", b"Content-Length: 5"],
    "coding with a space before the name, and length": [b" Transfer-Encoding: chunked", b"Content-Length: 5"],
    "coding with a tab before the colon, and length": [b"Transfer-Encoding\t: chunked", b"Content-Length: 5"],
    "coding with an underscore, and length": [b"Transfer_Encoding: chunked", b"Content-Length: 5"],
    "coding with a NUL in its name, and length": [b"Transfer-Encoding\x00: chunked", b"Content-Length: 5"],
    "coding behind a bare CR, and length": [b"X-A: 1\rTransfer-Encoding: chunked", b"Content-Length: 5"],
    "coding behind a bare LF, and length": [b"X-A: 1\nTransfer-Encoding: chunked", b"Content-Length: 5"],
    "coding in a folded line, and length": [b"X-A: 1", b" Transfer-Encoding: chunked", b"Content-Length: 5"],
    "coding twice": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
    "coding, then identity": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"],
    "identity, then coding": [b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked"],
    "coding, then unknown": [b"Transfer-Encoding: chunked", b"Transfer-Encoding: cow"],
    "coding, then empty": [b"Transfer-Encoding: chunked", b"Transfer-Encoding:"],
    "length twice": [b"Content-Length: 5", b"Content-Length: 5"],
    "lengths 5 and 0": [b"Content-Length: 5", b"Content-Length: 0"],
    "lengths 0 and 5": [b"Content-Length: 0", b"Content-Length: 5"],
    "lengths 5 and 05": [b"Content-Length: 5", b"Content-Length: 05"],
    "lengths 5 and none": [b"Content-Length: 5", b"Content-Length:"],
    "length with a space before the colon": [b"Content-Length : 5"],
    "lengths, one with a space before the colon": [b"Content-Length: 5", b"Content-Length : 0"],
    "lengths, one with an underscore": [b"Content-Length: 5", b"Content_Length: 0"],
    "length and chunked, nominated coding": [
        b"Connection: transfer-encoding", b"Content-Length: 5", b"Transfer-Encoding: chunked",
    ],  # fmt: skip
    "nominated length": [b"Connection: content-length", b"Content-Length: 5"],
    "nominated length, behind": [b"Content-Length: 5", b"Connection: close, Content-Length"],
    "nominated coding": [b"Connection: transfer-encoding", b"Transfer-Encoding: chunked"],
    "length and an upgrade": [b"Content-Length: 5", b"Connection: upgrade", b"Upgrade: websocket"],
    "chunked and an offer of HTTP/2": [
        b"Transfer-Encoding: chunked", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c",
        b"HTTP2-Settings: AAMAAABkAAQAAP__",
    ],  # fmt: skip
    "no framing": [],
}
SIZES = [
    b"5", b"05", b"00000005", b"000000000000005", b"00000000000000005", b"0" * 100 + b"5", b"0x5", b"0X5", b"5h", b"x5",
    b"-5", b"+5", b" 5", b"5 ", b"\t5", b"5\t", b"5\x0b", b"5\x00", b"\x005", b"5_", b"5.0", b'"5"', b"5,", b"5,5", b"",
    b"g", b"\xef\xbc\x95", b"5\xa0", b"ffffffff", b"100000005", b"7fffffffffffffff", b"8000000000000005",
    b"ffffffffffffffff", b"fffffffffffffffb", b"10000000000000005", b"f" * 17, b"f" * 40, b"5;", b"5;a", b"5;a=1",
    b'5;a="b"', b'5;a="b', b'5;a="\r\n', b'5;a="b;c"', b"5; a=1", b"5 ;a=1", b"5\t;a=1", b"5;;", b"5;=", b"5;a=", b"5;a\nb",
    b"5;\n", b"5;a\rb", b"5;a\r", b"5;a\x00b", b"5;a\x01b", b"5;a\x7fb", b"5;a\xffb", b"5;a\x0bb", b"5;" + b"a" * 3000, b"5 a",
    b"5\r", b"5\n", b"5:a",
]  # fmt: skip
# Bodies of a message that says it is chunked, past the size of their first chunk.
CHUNKED = {
    "LF behind the size": b"5\nhello\r\n0\r\n\r\n",
    "CR behind the size": b"5\rhello\r\n0\r\n\r\n",
    "LF behind the data": b"5\r\nhello\n0\r\n\r\n",
    "CR behind the data": b"5\r\nhello\r0\r\n\r\n",
    "nothing behind the data": b"5\r\nhello0\r\n\r\n",
    "two letters behind the data": b"5\r\nhelloXX0\r\n\r\n",
    "LF CR behind the data": b"5\r\nhello\n\r0\r\n\r\n",
    "two line ends behind the data": b"5\r\nhello\r\n\r\n0\r\n\r\n",
    "data too long": b"5\r\nhello!\r\n0\r\n\r\n",
    "data too short": b"6\r\nhello\r\n0\r\n\r\n",
    "LF behind the last size": b"0\n\r\n",
    "LF at the end": b"0\r\n\n",
    "LF twice at the end": b"0\n\n",
    "CR at the end": b"0\r\n\r",
    "many zeros": b"0000000000\r\n\r\n",
    "no digits at the end": b"\r\n\r\n",
    "last size with an extension": b"0;a=1\r\n\r\n",
    "last size with an LF in an extension": b"0;a\n\r\n\r\n",
    "last size that is negative": b"-0\r\n\r\n",
    "last size with 0x": b"0x0\r\n\r\n",
    "one chunk too many": b"0\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "empty line before": b"\r\n5\r\nhello\r\n0\r\n\r\n",
    "many small": b"1\r\na\r\n" * 300 + b"0\r\n\r\n",
    "many extensions": b"1;a=bcdefghij\r\na\r\n" * 300 + b"0\r\n\r\n",
}
TRAILERS = [
    b"X-T: 1", b"Content-Length: 5", b"Transfer-Encoding: chunked", b"Host: b.example", b"Connection: close",
    b"Trailer: X-T", b"Authorization: x", b"Cookie: a=1", b"X-T : 1", b" X-T: 1", b"X-T", b": 1", b"X-T: a\x00b",
    b"X-T: a\rb", b"X-T: a\nb", b"X-T: 1\r\n 2", b"X-T: 1\r\n\t2", b"X-T: 1\n", b"X\x00T: 1", b"X(T): 1", b"X_T: 1",
    b"GET /q HTTP/1.1", b"X-T: " + b"a" * 5000, b"X-T: a\x7fb", b"X-T: a\xffb", b"Content-Length: 5\r\nContent-Length: 6",
    b"TE: trailers", b"Upgrade: websocket", b"Keep-Alive: a", b"Content-Type: a/b", b"Set-Cookie: a=1", b":path: /",
]  # fmt: skip
CONNECTIONS = [
    b"close", b"keep-alive", b"close, keep-alive", b"Close", b"close,", b",close", b"closed", b"x-a", b"host",
    b"te, close", b"authorization", b"cookie", b"content-type", b"expect", b"x_a", b"\x00close", b'"close"', b"a b", b"@",
    b"upgrade", b"accept, " * 50 + b"close", b"connection", b"close;q=1", b"", b"proxy-connection",
]  # fmt: skip
UPGRADES = {
    "h2c": [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__"],
    "h2c that is not nominated": [b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__"],
    "h2c in capitals": [b"Connection: Upgrade", b"Upgrade: H2C"],
    "h2c twice": [b"Connection: Upgrade", b"Upgrade: h2c", b"Upgrade: h2c"],
    "h2c in a list": [b"Connection: Upgrade", b"Upgrade: h2c, websocket"],
    "h2c with a control": [b"Connection: Upgrade", b"Upgrade: h2c\x0b"],
    "settings twice": [b"Connection: Upgrade, HTTP2-Settings", b"HTTP2-Settings: AA", b"HTTP2-Settings: AA"],
    "TLS": [b"Connection: Upgrade", b"Upgrade: TLS/1.0"],
    "empty": [b"Connection: Upgrade", b"Upgrade:"],
    "HTTP/2.0": [b"Connection: Upgrade", b"Upgrade: HTTP/2.0"],
    "websocket that is not nominated": [b"Upgrade: websocket"],
    "websocket": [
        b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ],  # fmt: skip
}
EXPECTATIONS = [
    b"100-continue", b"100-Continue", b"100-continue, 100-continue", b"100-continue;a", b"100", b"200-ok", b"", b"x",
    b"100-continue\r\nExpect: 100-continue", b"100-continue\x0b", b'"100-continue"', b"100-continue, x",
]  # fmt: skip
HEADS = {
    "LF behind the request line": b"GET /p HTTP/1.1\nHost: a.example\r\n\r\n",
    "LF behind a field": b"GET /p HTTP/1.1\r\nHost: a.example\n\r\n",
    "LF at the end": b"GET /p HTTP/1.1\r\nHost: a.example\r\n\n",
    "LF everywhere": b"GET /p HTTP/1.1\nHost: a.example\n\n",
    "CR everywhere": b"GET /p HTTP/1.1\rHost: a.example\r\r",
    "CR behind the request line": b"GET /p HTTP/1.1\rHost: a.example\r\n\r\n",
    "CR at the end": b"GET /p HTTP/1.1\r\nHost: a.example\r\n\r",
    "CR CR LF": b"GET /p HTTP/1.1\r\r\nHost: a.example\r\r\n\r\r\n",
    "LF CR": b"GET /p HTTP/1.1\n\rHost: a.example\n\r\n\r",
    "LF LF CR LF": b"GET /p HTTP/1.1\r\nHost: a.example\n\n\r\n",
    "an empty line before": b"\r\n" + get(),
    "two empty lines before": b"\r\n\r\n" + get(),
    "an LF before": b"\n" + get(),
    "a CR before": b"\r" + get(),
    "a space before": b" " + get(),
    "a line of a space before": b" \r\n" + get(),
    "a NUL before": b"\x00" + get(),
    "an empty line within": b"GET /p HTTP/1.1\r\n\r\nHost: a.example\r\n\r\n",
    "a line of a space within": b"GET /p HTTP/1.1\r\n \r\nHost: a.example\r\n\r\n",
    "a folded first field": b"GET /p HTTP/1.1\r\n X-A: 1\r\nHost: a.example\r\n\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "almost the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    "the preface of HTTP/2 behind a request": get() + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "the line of a proxy": b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n" + get(),
    "CONNECT": get(b"a.example:443", method=b"CONNECT"),
    "CONNECT with a path": get(b"/p", method=b"CONNECT"),
    "CONNECT with a body": get(b"a.example:443", b"Content-Length: 5", method=b"CONNECT") + b"hello",
    "connect in small letters": get(b"a.example:443", method=b"connect"),
    "OPTIONS *": get(b"*", method=b"OPTIONS"),
    "OPTIONS of an absolute target": get(b"http://a.example", method=b"OPTIONS"),
    "GET with a length": get(b"/p", b"Content-Length: 5") + b"hello",
    "GET with chunks": get(b"/p", b"Transfer-Encoding: chunked") + HELLO,
    "GET with a body that nothing announces": get() + b"hello\r\n",
    "GET with another behind it": get() + SMUGGLED,
    "GET with a length and a smuggled request": get(b"/p", b"Content-Length: %d" % len(SMUGGLED)) + SMUGGLED,
    "HEAD with a length": get(b"/p", b"Content-Length: 5", method=b"HEAD") + b"hello",
    "TRACE with a length": get(b"/p", b"Content-Length: 5", method=b"TRACE") + b"hello",
    "DELETE with chunks": get(b"/p", b"Transfer-Encoding: chunked", method=b"DELETE") + HELLO,
    "OPTIONS with chunks": get(b"*", b"Transfer-Encoding: chunked", method=b"OPTIONS") + HELLO,
    "two line ends behind a body": post(b"Content-Length: 5", body=b"hello\r\n\r\n"),
    "one line end behind a body": post(b"Content-Length: 5", body=b"hello\r\n"),
    "150 fields": get(b"/p", *[b"X-%d: 1" % number for number in range(150)]),
    "300 fields": get(b"/p", *[b"X-%d: 1" % number for number in range(300)]),
    "a field of 60,000 bytes": get(b"/p", b"X-A: " + b"a" * 60000),
    "a field of 70,000 bytes": get(b"/p", b"X-A: " + b"a" * 70000),
    "HTTP/1.0 without a host": get(version=b"HTTP/1.0", host=None),
    "HTTP/1.0 with two hosts": get(b"/p", HOST, version=b"HTTP/1.0"),
    "HTTP/1.0 that stays": get(b"/p", b"Connection: keep-alive", version=b"HTTP/1.0"),
    "HTTP/1.0 that stays and goes": get(b"/p", b"Connection: keep-alive, close", version=b"HTTP/1.0"),
    "HTTP/1.0 with a length": post(b"Content-Length: 5", body=b"hello", version=b"HTTP/1.0"),
    "HTTP/1.0 with a length, that stays": post(
        b"Content-Length: 5", b"Connection: keep-alive", body=b"hello", version=b"HTTP/1.0"
    ),
    "HTTP/1.0 without a length": post(body=b"hello", version=b"HTTP/1.0"),
    "HTTP/1.0 with an expectation": post(
        b"Expect: 100-continue", b"Content-Length: 5", body=b"hello", version=b"HTTP/1.0"
    ),
    "HTTP/1.0 with chunks": post(b"Transfer-Encoding: chunked", body=HELLO, version=b"HTTP/1.0"),
    "HTTP/1.0 with chunks, that stays": post(
        b"Transfer-Encoding: chunked", b"Connection: keep-alive", body=HELLO, version=b"HTTP/1.0"
    ),
    "HTTP/1.0 with chunks and a length": post(
        b"Transfer-Encoding: chunked", b"Content-Length: 5", body=HELLO, version=b"HTTP/1.0"
    ),
    "HTTP/1.0 with an unknown coding": post(
        b"Transfer-Encoding: cow", b"Content-Length: 5", body=b"hello", version=b"HTTP/1.0"
    ),
    "HTTP/1.0 with an absolute target": get(b"http://a.example/p", version=b"HTTP/1.0"),
    "HTTP/1.0 with another absolute target": get(b"http://b.example/p", version=b"HTTP/1.0"),
    "HTTP/1.0 with an absolute target and no host": get(b"http://a.example/p", version=b"HTTP/1.0", host=None),
}
# Absolute targets and the Host that stands beside them.
MATCHES = {
    f"{target.decode()} at {host.decode() or 'none'}": get(target, host=host and b"Host: " + host)
    for target in (b"http://a.example/p", b"http://a.example:80/p", b"https://a.example/p", b"http://a.example:8080/p")
    for host in (b"a.example", b"A.example", b"a.example:80", b"a.example:8080", b"b.example", b"")
}


def _both_bodies(fields):
    """A length of 5 reads something else than chunks do, and there is a request in either rest."""
    return [
        post(*fields, body=b"hello"),
        post(*fields, body=EMPTY + SMUGGLED),
        post(*fields, body=b"%x\r\n%b\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED)),
    ]


def _inputs():
    yield named("request line", REQUEST_LINES, lambda line: line + b"\r\n" + HOST + b"\r\n\r\n")
    yield named("version", VERSIONS, lambda version: get(version=version))
    yield named("method", METHODS, lambda method: get(method=method))
    yield named("target", TARGETS, get)
    yield named("host", HOSTS, lambda fields: get(b"/p", *fields, host=None))
    yield {f"absolute {name}": data for name, data in MATCHES.items()}
    yield named("name", NAMES, lambda line: get(b"/p", line))
    yield named("value", VALUES, lambda value: get(b"/p", b"X-A: " + value))
    yield named("length", LENGTHS, lambda value: post(b"Content-Length: " + value, body=b"hello"))
    yield named("coding", CODINGS, lambda value: post(b"Transfer-Encoding: " + value, body=HELLO))
    yield named(
        "coding and length",
        CODINGS,
        lambda value: post(b"Content-Length: %d" % len(HELLO), b"Transfer-Encoding: " + value, body=HELLO),
    )
    for number, what in enumerate(("five bytes", "an end of chunks", "a chunk")):
        yield named(f"{what} framed by", FRAMINGS, lambda fields: _both_bodies(fields)[number])
    chunked = b"Transfer-Encoding: chunked"
    yield named("chunk size", SIZES, lambda size: post(chunked, body=size + b"\r\nhello\r\n0\r\n\r\n"))
    yield named("chunks", CHUNKED, lambda body: post(chunked, body=body))
    yield named("trailer", TRAILERS, lambda line: post(chunked, body=b"5\r\nhello\r\n0\r\n" + line + b"\r\n\r\n"))
    yield named("connection", CONNECTIONS, lambda value: get(b"/p", b"X-A: 1", b"Connection: " + value))
    yield named("upgrade", UPGRADES, lambda fields: get(b"/p", *fields))
    yield named(
        "expectation", EXPECTATIONS, lambda value: post(b"Expect: " + value, b"Content-Length: 5", body=b"hello")
    )
    yield named("head", HEADS, lambda data: data)


INPUTS = {name: data + NEXT for table in _inputs() for name, data in table.items()}
