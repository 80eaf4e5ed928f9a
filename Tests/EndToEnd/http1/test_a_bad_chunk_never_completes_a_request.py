"""When the framing of a body is invalid, the upstream gets one unfinished request and never a second one."""

import pytest

HEAD = b"POST /p HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
SMUGGLED = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"
CASES = {
    "0x prefix": b"0x5\r\nhello\r\n",
    "plus sign": b"+5\r\nhello\r\n",
    "minus sign": b"-5\r\nhello\r\n",
    "17 digits": b"00000000000000005\r\nhello\r\n",
    "16 digits that overflow": b"ffffffffffffffff\r\nhello\r\n",
    "no digits": b"\r\nhello\r\n",
    "only an extension": b";a=1\r\nhello\r\n",
    "space before the size": b" 5\r\nhello\r\n",
    "space after the size": b"5 \r\nhello\r\n",
    "underscore": b"1_0\r\nhello\r\n",
    "LF only after the size": b"5\nhello\r\n",
    "LF only after the data": b"5\r\nhello\n",
    "CR only after the size": b"5\rhello\r\n",
    "nothing after the data": b"5\r\nhello5\r\nhello\r\n",
    "data longer than its size": b"5\r\nhello!\r\n",
    "LF in an extension": b"5;a\nb\r\nhello\r\n",
    "NUL in an extension": b"5;a\x00b\r\nhello\r\n",
    "extension without end": b"5;" + b"a" * 70000,
    "trailer with a space before its colon": b"0\r\nx-t : 1\r\n\r\n",
    "folded trailer": b"0\r\nx-t: 1\r\n 2\r\n\r\n",
    "LF only after a trailer": b"0\r\nx-t: 1\n\r\n",
    "NUL in a trailer": b"0\r\nx-t: a\x00\r\n\r\n",
}


@pytest.mark.parametrize("name", CASES)
def test_rejected(martlet, recorder, name):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url)
    smuggler = proxy.connect()
    try:
        smuggler.send(HEAD + CASES[name] + SMUGGLED)
    except ConnectionError:
        pass  # rejected before all of it was sent
    response = smuggler.response("POST")
    assert response.status in (400, 431)
    assert smuggler.has_ended()
    with proxy.http() as http:
        assert http.get("/good").text == "ok"
    assert [request.target for request in upstream.requests] == ["/good"]
    assert b"smuggled" not in upstream.bytes
