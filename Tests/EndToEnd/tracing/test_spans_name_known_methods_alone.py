"""A span is called after a method once an upstream has shown that it exists: callers cannot invent names of spans."""

import pytest
from support.servers.replicas import METHOD
from support.wait import eventually

NAME = METHOD[1:]
PROTOCOLS = {
    "application/grpc-web+proto": (b"\0\0\0\0\0", "grpc"),
    "application/grpc-web-text+proto": (b"AAAAAAA=", "grpc"),
    "application/proto": (b"", "connectrpc"),
    "application/connect+proto": (b"\0\0\0\0\0", "connectrpc"),
}


def text(server, receiver, chain="", more=""):
    return (
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://{server.name}', speaks: [grpc] }} }}\n"
        f"interceptors: [ {{ trace: {{ sample: 1 }} }}{chain} ]\n"
        f"telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}\nworkers: 1\n{more}"
    )


def names(span):
    return span.name, span.attributes["rpc.method"], span.attributes.get("rpc.method_original")


def spans(receiver, count):
    found = eventually(lambda: len(receiver.spans) >= count and list(receiver.spans), what=f"{count} spans")
    receiver.spans.clear()
    return found


@pytest.mark.parametrize("chain", ["", ", { metrics: {} }"])
@pytest.mark.parametrize("content_type", PROTOCOLS)
def test_every_protocol(martlet, upstream, receiver, content_type, chain):
    server = upstream()
    body, system = PROTOCOLS[content_type]
    proxy = martlet(text(server, receiver, chain))
    with proxy.http() as client:

        def call(path):
            client.post(path, content=body, headers={"content-type": content_type, "connect-protocol-version": "1"})
            return [names(span) for span in spans(receiver, 2)]

        assert call("/shop.v1.OrderService/Invented") == [(system, "_OTHER", "shop.v1.OrderService/Invented")] * 2
        server.mode = "unavailable"
        assert call(METHOD) == [(system, "_OTHER", NAME)] * 2
        # The name is known before the spans of the call that has shown it.
        server.mode = "ok"
        assert call(METHOD) == [(NAME, NAME, None)] * 2
        server.mode = "unavailable"
        assert call(METHOD) == [(NAME, NAME, None)] * 2
    counted = {labels["rpc_method"] for labels, _ in proxy.metrics().select("martlet_rpc_started_total")}
    assert counted == ({"Get", "_OTHER"} if chain else set())


def test_grpc(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver))
    client = caller(proxy)
    server.mode = "unavailable"
    client.poke(5)
    assert [names(span) for span in spans(receiver, 2)] == [("grpc", "_OTHER", NAME)] * 2
    server.mode = "ok"
    client.call()
    assert [names(span) for span in spans(receiver, 2)] == [(NAME, NAME, None)] * 2


def test_connect_get(martlet, upstream, receiver):
    server = upstream()
    proxy = martlet(text(server, receiver))
    with proxy.http() as client:
        for path, expected in (("/shop.v1.OrderService/Not", ("connectrpc", "_OTHER", "shop.v1.OrderService/Not")), (METHOD, (NAME, NAME, None))):
            client.get(f"{path}?connect=v1&encoding=proto&message=")
            assert names(spans(receiver, 2)[0]) == expected


def test_what_the_caller_says_is_bounded(martlet, upstream, receiver):
    proxy = martlet(text(upstream(), receiver))
    path = "/shop.v1.OrderService/" + "x" * 4000
    with proxy.http() as client:
        client.post(path, content=b"{}", headers={"content-type": "application/json", "connect-protocol-version": "1"})
    assert names(spans(receiver, 2)[0]) == ("connectrpc", "_OTHER", path[1:1025])


def test_a_method_that_is_rewritten_has_the_name_of_the_metrics(martlet, upstream, receiver, caller):
    proxy = martlet(text(upstream(), receiver, ", { rewrite: { path: { prefix: /old.v1.Orders, with: /shop.v1.OrderService } } }"))
    with proxy.http() as client:
        client.post("/old.v1.Orders/Get", content=b"", headers={"content-type": "application/proto", "connect-protocol-version": "1"})
    assert [names(span) for span in spans(receiver, 2)] == [(NAME, NAME, "old.v1.Orders/Get")] * 2


def test_the_limit_of_the_metrics_holds(martlet, upstream, receiver, caller):
    proxy = martlet(text(upstream(), receiver, ", { metrics: { methods: 0 } }"))
    caller(proxy).call()
    assert [names(span) for span in spans(receiver, 2)] == [("grpc", "_OTHER", NAME)] * 2


def test_a_method_that_the_file_names_is_known(martlet, upstream, receiver, caller):
    proxy = martlet(text(upstream(), receiver, ", { when: { service: shop.v1.OrderService, method: Get }, respond: {} }"))
    caller(proxy).outcome()
    assert names(spans(receiver, 1)[0]) == (NAME, NAME, None)
