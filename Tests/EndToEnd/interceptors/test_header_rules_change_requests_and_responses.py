"""set, add, remove, rename and replace, in the order of that section, with templates. For responses the chain runs backwards."""

from support.protocol import CONNECT_UNARY_JSON

RESPONSE = b"HTTP/1.1 200 OK\r\nserver: up/1\r\nx-old: 7\r\nx-gone: 1\r\nlocation: /v1/x\r\ncontent-length: 2\r\n\r\nok"
CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - name: outer
    headers:
      response: {{ set: {{ x-order: outer }} }}
  - headers:
      request:
        remove: [x-internal]
        rename: {{ x-user: x-account }}
        replace: {{ x-path: {{ pattern: "^/v1/(\\\\w+)/(\\\\d+)$", with: "$2 of $1" }} }}
        set: {{ x-env: "{{env:STAGE}}", x-where: "{{host}} {{upstream.host}} {{path}} {{service}} {{method}}", x-braces: "{{{{{{header:x-in}}}}}}" }}
        add: {{ x-tag: two }}
      response:
        remove: [x-gone]
        rename: {{ x-old: x-new }}
        replace: {{ location: {{ pattern: "^/v1/", with: "/" }} }}
        set: {{ server: martlet, x-order: inner, x-call: "{{call.id}}" }}
        add: {{ x-tag: added }}
"""


def test_rules(martlet, recorder):
    upstream = recorder(response=RESPONSE)
    proxy = martlet(CONFIGURATION.format(url=upstream.url), environment={"STAGE": "test"})
    with proxy.http() as http:
        headers = {"x-internal": "1", "X-User": "ann", "x-path": "/v1/item/42", "x-tag": "one", "x-in": "y"}
        response = CONNECT_UNARY_JSON.call(http, "/pkg.Service/Method", headers | {"host": "b.example"})
    request = upstream.requests[0]
    assert request.values("x-internal") == [] and request.values("x-user") == []
    assert request.header("x-account") == "ann"
    assert request.header("x-path") == "42 of item"
    assert request.header("x-env") == "test"
    assert request.header("x-where") == f"b.example 127.0.0.1:{upstream.port} /pkg.Service/Method pkg.Service Method"
    assert request.header("x-braces") == "{y}"
    assert request.values("x-tag") == ["one", "two"]
    assert response.headers["x-new"] == "7" and "x-gone" not in response.headers and "x-old" not in response.headers
    assert response.headers["location"] == "/x"
    assert response.headers["server"] == "martlet"
    assert response.headers["x-tag"] == "added"
    assert response.headers["x-order"] == "outer"
    assert len(response.headers["x-call"]) == 32


def test_trailers(martlet, recorder):
    upstream = recorder(
        response=b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx-debug: 1\r\nx-cost: 7\r\n\r\n"
    )
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - headers: {{ trailers: {{ remove: [x-debug], set: {{ x-seen: "{{path}}" }} }} }}
        """
    )
    caller = proxy.connect()
    caller.send(b"GET /p HTTP/1.1\r\nhost: a.example\r\nte: trailers\r\n\r\n")
    assert sorted(caller.response().trailers) == [("x-cost", "7"), ("x-seen", "/p")]


def test_a_value_from_the_caller_cannot_add_a_header(martlet, recorder):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - headers: {{ request: {{ set: {{ x-path: "{{path}}" }} }} }}
        """
    )
    with proxy.http() as http:
        http.get("/a%0d%0ax-evil:%201")
    assert upstream.requests[0].values("x-evil") == []
    assert upstream.requests[0].header("x-path") in ("/a%0d%0ax-evil:%201", "/a%0D%0Ax-evil:%201")
