"""Rules see one form of a path, however it is written, and the upstream gets the same form."""

import pytest


@pytest.fixture
def proxy(martlet, recorder):
    upstream = recorder()
    daemon = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - when: {{ service: shop.v1.OrderService, method: Delete }}
            reject: {{ code: permission_denied }}
          - when: {{ path: /admin/ }}
            reject: {{ code: permission_denied }}
        """
    )
    daemon.upstream = upstream
    return daemon


@pytest.mark.parametrize(
    "path",
    [
        "/shop.v1.OrderService/Delete",
        "/shop.v1.OrderService/D%65lete",
        "/shop.v1.Order%53ervice/Delete",
        "/x/../shop.v1.OrderService/./Delete",
        "/%61dmin/users",
        "/x/%2e%2e/admin/users",
    ],
)
def test_the_rule_holds(proxy, path):
    caller = proxy.connect()
    caller.send(f"POST {path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 0\r\n\r\n".encode())
    assert caller.head().startswith(b"HTTP/1.1 403 ")
    assert proxy.upstream.bytes == b""


def test_what_is_forwarded(proxy):
    caller = proxy.connect()
    caller.send(b"GET /a%20b/S%61y?q=%61 HTTP/1.1\r\nhost: a\r\n\r\n")
    assert caller.response().status == 200
    assert proxy.upstream.requests[0].target == "/a%20b/Say?q=%61"


@pytest.mark.parametrize("path", ["/x/%%32e%%32e/admin/users", "/x/%2%65%2%65/admin/users", "/%%361dmin/users"])
def test_no_new_escape_arises(proxy, path):
    caller = proxy.connect()
    caller.send(f"GET {path} HTTP/1.1\r\nhost: a\r\n\r\n".encode())
    assert caller.response().status == 200
    assert proxy.upstream.requests[0].target == path
