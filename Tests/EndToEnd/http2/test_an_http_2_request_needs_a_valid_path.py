"""The `:path` of an HTTP/2 request must be a path, whatever the scheme. Otherwise the request is rejected."""

import pytest

RULE = """
chains:
  closed: [{ reject: { code: permission_denied } }]
routes:
  - match: { path: /admin/ }
    chain: closed
  - {}
"""
PATHS = ["http://a/admin/x", "admin/x", "*", "?x", "/admin/x y", ""]


def fields(scheme, path, method="GET"):
    return [(":method", method), (":scheme", scheme), (":authority", "a"), (":path", path)]


@pytest.mark.parametrize("scheme", ["http", "x"])
@pytest.mark.parametrize("path", PATHS)
def test_rejected(martlet, recorder, scheme, path):
    upstream = recorder()
    caller = martlet(upstream=upstream.url, more=RULE).connect_h2()
    call = caller.finish(caller.open(fields(scheme, path), end=True))
    assert call.reset is not None or call.status == 400
    assert upstream.requests == []


def test_only_http_has_a_scheme(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url, more=RULE).connect_h2()
    assert caller.finish(caller.open(fields("x", "/"), end=True)).status == 400
    assert caller.finish(caller.open(fields("https", "/"), end=True)).status == 200
    assert caller.finish(caller.open(fields("http", "*", "OPTIONS"), end=True)).status == 200
    assert [request.target for request in upstream.requests] == ["/", "*"]
