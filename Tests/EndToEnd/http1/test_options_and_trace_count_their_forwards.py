"""Max-Forwards of OPTIONS and TRACE: Martlet counts itself, and responds to what may go no further (RFC 9110 section 7.6.2)."""

import pytest
from support.http2 import h2_peer

# The method, the value as it comes, and as the upstream gets it; None if the upstream gets nothing.
CASES = [
    ("OPTIONS", "5", "4"),
    ("OPTIONS", "1", "0"),
    ("OPTIONS", "010", "9"),
    ("OPTIONS", "0", None),
    ("OPTIONS", "00", None),
    ("OPTIONS", "x", "x"),
    ("OPTIONS", "-1", "-1"),
    ("OPTIONS", "1, 2", "1, 2"),
    ("OPTIONS", "9" * 30, "9" * 30),
    ("TRACE", "5", "4"),
    ("TRACE", "0", None),
    ("GET", "0", "0"),
    ("POST", "5", "5"),
    ("HEAD", "1", "1"),
]


def check(method, status, header, right):
    allow = header("allow")
    if right is not None:
        assert (status, allow) == (200, None)
    else:
        assert status == (200 if method == "OPTIONS" else 405)
        assert "OPTIONS" in allow and "TRACE" not in allow


@pytest.mark.parametrize(("method", "value", "right"), CASES)
def test_every_version(martlet, recorder, method, value, right):
    upstream = recorder(response=b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    proxy = martlet(upstream=upstream.url)
    caller = proxy.connect()
    head = f"{method} / HTTP/1.1\r\nhost: a\r\nmax-forwards: {value}\r\ncookie: secret\r\ncontent-length: 0\r\n\r\n"
    caller.send(head.encode())
    response = caller.response(method)
    check(method, response.status, response.header, right)
    new = proxy.connect_h2()
    call = new.finish(new.open(h2_peer.request("/", method, ("max-forwards", value), ("cookie", "secret")), end=True))
    check(method, call.status, call.header, right)
    assert b"secret" not in response.body + bytes(call.body)
    assert [request.header("max-forwards") for request in upstream.requests] == ([right] * 2 if right is not None else [])


def test_the_chain_comes_first_and_a_retry_counts_once(martlet, recorder):
    upstream = recorder(response=lambda _: b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n")
    proxy = martlet(
        f"""
listen: 127.0.0.1:0
upstream: {upstream.url}
interceptors:
- {{ when: {{ path: /closed }}, reject: {{ code: permission_denied }} }}
- {{ validate: {{ max_retries: 2, rules: [ {{ when: {{ status: [503] }}, retry: {{ delayed: 1ms }} }} ] }} }}
"""
    )
    caller = proxy.connect()
    caller.send(b"OPTIONS /closed HTTP/1.1\r\nhost: a\r\nmax-forwards: 0\r\n\r\n")
    assert caller.response("OPTIONS").status == 403
    caller.send(b"OPTIONS / HTTP/1.1\r\nhost: a\r\nmax-forwards: 7\r\n\r\n")
    assert caller.response("OPTIONS").status == 503
    assert [request.header("max-forwards") for request in upstream.requests] == ["6"] * 3
