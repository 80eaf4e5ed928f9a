"""Plain HTTP has neither a service nor a method, whatever its path: not for rules, and not in anything that Martlet shows."""

import json

import pytest

from support.http1.recorder import JSON
from support.protocol import envelope
from support.raw_call import response_parts
from support.servers.otlp_receiver import OTLPReceiver
from support.wait import eventually

PATH = "/shop.v1.Orders/Get"
TEXT = {"content-type": "text/plain"}
CONNECT = {"content-type": "application/json", "connect-protocol-version": "1"}
PLAIN = {
    "GET": ("GET", PATH, {}, b""),
    "GET with a query": ("GET", f"{PATH}?a=1", {}, b""),
    "GET of another Connect": ("GET", f"{PATH}?connect=v2&encoding=json&message=x", {}, b""),
    "HEAD": ("HEAD", PATH, {}, b""),
    "DELETE": ("DELETE", PATH, {}, b""),
    "OPTIONS": ("OPTIONS", PATH, {}, b""),
    "PUT of JSON": ("PUT", PATH, {"content-type": "application/json"}, b"{}"),
    "PUT of Connect": ("PUT", PATH, CONNECT, b"{}"),
    "POST of a text": ("POST", PATH, TEXT, b"x"),
    "POST of a form": ("POST", PATH, {"content-type": "application/x-www-form-urlencoded"}, b"a=1"),
    "POST of nothing": ("POST", PATH, {}, b""),
    "POST of another type": ("POST", PATH, {"content-type": "application/foo"}, b"x"),
    "GET of a stream": ("GET", PATH, {"content-type": "application/connect+json"}, b""),
    "JSON without a package": ("POST", "/Orders/Get", {"content-type": "application/json"}, b"{}"),
    "a short path": ("GET", "/Get", {}, b""),
    "a long path": ("GET", "/api/shop.v1.Orders/Get", {}, b""),
}
RPC = {
    "Connect": ("POST", PATH, CONNECT, b"{}"),
    "Connect by its path": ("POST", PATH, {"content-type": "application/json"}, b"{}"),
    "a Connect GET": ("GET", f"{PATH}?connect=v1&encoding=json&message=%7B%7D", {}, b""),
    "a Connect stream": ("POST", PATH, {"content-type": "application/connect+json"}, envelope(0, b"{}")),
    "gRPC-Web": ("POST", PATH, {"content-type": "application/grpc-web+json"}, envelope(0, b"{}")),
}
SHOWN = 'set: { x-service: "[{service}]", x-method: "[{method}]" }'


def marked(condition, name):
    return f"{{ when: {condition}, headers: {{ request: {{ set: {{ {name}: '1' }} }} }} }}"


CONDITIONS = {
    "x-when-service": "{ service: shop.v1.Orders }",
    "x-when-method": "{ method: Get }",
    "x-when-both": "{ service: shop.v1.Orders, method: Get }",
}
CHAIN = ", ".join(marked(condition, name) for name, condition in CONDITIONS.items())


@pytest.fixture
def receiver(running):
    return running(OTLPReceiver())


def respond(request):
    """Responds in the protocol of the request, as far as that is RPC; without a body to HEAD."""
    kind = request.header("content-type")
    if not kind or "+" not in kind or request.method != "POST":
        return JSON[:-2] if request.method == "HEAD" else JSON
    kind, *parts = response_parts(kind)
    body = b"".join(parts)
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind.encode(), len(body), body)


@pytest.fixture
def upstream(recorder):
    return recorder(respond)


@pytest.fixture
def proxy(martlet, upstream, receiver):
    return martlet(
        f"""
        listen: 127.0.0.1:0
        workers: 1
        upstream: {upstream.url}
        telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}
        interceptors: [ {{ log: {{}} }}, {{ trace: {{ sample: 1 }} }}, {{ metrics: {{}} }}, {{ headers: {{ request: {{ {SHOWN} }}, response: {{ {SHOWN} }} }} }}, {CHAIN} ]
        """
    )


def called(proxy, request):
    method, target, headers, content = request
    with proxy.http() as http:
        return http.request(method, target, headers=headers, content=content)


def logged(proxy):
    proxy.stdout.wait(r"^\{.*\}$")
    return json.loads(list(proxy.stdout)[0])


@pytest.mark.parametrize("name", PLAIN)
def test_plain_http(proxy, upstream, receiver, name):
    reported = called(proxy, PLAIN[name])
    (request,) = upstream.requests
    headers = dict(request.headers)
    assert (headers["x-service"], headers["x-method"]) == ("[]", "[]")
    assert (reported.headers["x-service"], reported.headers["x-method"]) == ("[]", "[]")
    assert not [name for name in CONDITIONS if name in headers]
    line = logged(proxy)
    assert line["protocol"] == "http"
    assert (line["service"], line["method"]) == (None, None)
    (recent,) = proxy.admin("/calls/recent").json()["calls"]
    assert (recent["service"], recent["method"]) == (None, None)
    assert proxy.metrics().counted("martlet_rpc_started_total", "rpc_service") == {""}
    assert proxy.metrics().counted("martlet_rpc_started_total", "rpc_method") == {"_OTHER"}
    spans = eventually(lambda: len(receiver.spans) >= 2 and list(receiver.spans), what="the spans")
    assert {span.name for span in spans} == {PLAIN[name][0]}
    assert not [key for span in spans for key in span.attributes if key.startswith("rpc.")]


@pytest.mark.parametrize("name", RPC)
def test_rpc_has_both(proxy, upstream, name):
    called(proxy, RPC[name])
    headers = dict(upstream.requests[0].headers)
    assert (headers["x-service"], headers["x-method"]) == ("[shop.v1.Orders]", "[Get]")
    assert [name for name in CONDITIONS if name in headers] == list(CONDITIONS)
    line = logged(proxy)
    assert (line["service"], line["method"]) == ("shop.v1.Orders", "Get")
    (recent,) = proxy.admin("/calls/recent").json()["calls"]
    assert (recent["service"], recent["method"]) == ("shop.v1.Orders", "Get")
    assert proxy.metrics().counted("martlet_rpc_started_total", "rpc_method") == {"Get"}


ROUTES = {
    "service": "{ service: shop.v1.Orders }",
    "method": "{ method: Get }",
    "list": "{ service: [a.B, shop.v1.Orders], method: [Get, Put] }",
}


@pytest.mark.parametrize("match", ROUTES)
def test_a_route_to_a_method_is_not_for_plain_http(martlet, recorder, match):
    methods, others = recorder(respond), recorder(respond)
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ methods: {{ url: {methods.url} }}, others: {{ url: {others.url} }} }}\n"
        f"routes: [ {{ match: {ROUTES[match]}, upstream: methods }}, {{ upstream: others }} ]\n"
    )
    for request in PLAIN.values():
        called(proxy, request)
    assert (len(methods.requests), len(others.requests)) == (0, len(PLAIN))
    for request in RPC.values():
        called(proxy, request)
    assert (len(methods.requests), len(others.requests)) == (len(RPC), len(PLAIN))


def test_without_a_method_a_template_that_needs_one_is_empty(martlet, upstream):
    """A value that is all template has no field, as for other parts that a call lacks."""
    rules = 'if_absent: { x-a: "{service}", x-b: "{method}", x-c: "/{service}/{method}" }'
    proxy = martlet(upstream=upstream.url, more=f"interceptors: [ {{ headers: {{ request: {{ {rules} }} }} }} ]\n")
    called(proxy, PLAIN["POST of a text"])
    headers = dict(upstream.requests[0].headers)
    print(headers)
    assert headers["x-c"] == "//"
