"""The first route that matches decides the upstream and the chain of a call."""

from support.protocol import CONNECT_UNARY_JSON


def test_first_match_wins(martlet, recorder):
    one, two = (recorder(response=b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n" + body) for body in (b"one", b"two"))
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ one: "{one.url}", two: {{ url: "{two.url}" }} }}
        interceptors:
          - headers: {{ response: {{ set: {{ x-chain: default }} }} }}
        chains:
          closed: [ {{ reject: {{ code: permission_denied, message: "not from here" }} }} ]
          none: []
        routes:
          - match: {{ path: /admin/ }}
            chain: closed
          - match: {{ service: a.B, method: C }}
            upstream: two
            chain: none
          - match: {{ service: a.B }}
            upstream: two
          - upstream: one
        """
    )
    with proxy.http() as http:
        responses = [CONNECT_UNARY_JSON.call(http, path) for path in ("/admin/x", "/a.B/C", "/a.B/D", "/other")]
    assert [response.status_code for response in responses] == [403, 200, 200, 200]
    assert responses[0].json() == {"code": "permission_denied", "message": "not from here"}
    assert [response.text for response in responses[1:]] == ["two", "two", "one"]
    assert [response.headers.get("x-chain") for response in responses] == [None, None, "default", "default"]


def test_the_host_of_a_route_is_the_one_that_the_caller_sends(martlet, recorder):
    one, two = recorder(), recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ one: "{one.url}", two: {{ url: "{two.url}", host: caller }} }}
        routes:
          - match: {{ host: one.example }}
            upstream: one
          - match: {{ host: "*.example" }}
            upstream: two
        """
    )
    with proxy.http() as http:
        responses = [http.get("/", headers={"host": host}) for host in ("One.example:80", "two.example", "127.0.0.1")]
    assert [response.status_code for response in responses] == [200, 200, 404]
    assert [request.header("host") for request in one.requests] == [f"127.0.0.1:{one.port}"]
    assert [request.header("host") for request in two.requests] == ["two.example"]
