"""A call has a span, and so has each of its attempts; upstreams are told of them, and a receiver of OTLP gets them."""

import re
import time

import httpx


import pytest
from support.servers.otlp_receiver import OTLPReceiver
from support.servers.replicas import METHOD, GRPCReplica, HTTPReplica, listed
from support.wait import eventually, settled

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{SPAN}-01"
UNSAMPLED = f"00-{TRACE}-{SPAN}-00"


def text(upstream, receiver, trace="{ sample: 1 }", scheme="h2c", chain="", otlp="", more=""):
    return (
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: '{scheme}://{upstream.name}'{more} }} }}\n"
        f"interceptors: [ {{ trace: {trace} }}{chain} ]\n"
        f"telemetry: {{ service: shop, otlp: {{ url: {receiver.url}, every: 50ms{otlp} }} }}\n"
    )


def spans(receiver, count):
    return eventually(lambda: len(receiver.spans) >= count and receiver.spans, what=f"{count} spans")


def test_ids_join_caller_and_upstream(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver))
    caller(proxy).call(traceparent=PARENT, tracestate="vendor=1")
    own, attempt = spans(receiver, 2)
    assert (own.trace, own.parent, own.kind, own.flags) == (TRACE, SPAN, 2, 1)
    assert (attempt.trace, attempt.parent, attempt.kind) == (TRACE, own.id, 3)
    assert server.metadata["traceparent"] == f"00-{TRACE}-{attempt.id}-01"
    assert server.metadata["tracestate"] == own.state == "vendor=1"
    assert own.name == attempt.name == "shop.v1.OrderService/Get"
    assert own.attributes["rpc.system.name"] == "grpc"
    assert own.attributes["rpc.method"] == "shop.v1.OrderService/Get"
    assert own.attributes["rpc.response.status_code"] == attempt.attributes["rpc.response.status_code"] == "OK"
    assert own.attributes["martlet.decided_by"] == "upstream"
    peer = f"{attempt.attributes['network.peer.address']}:{attempt.attributes['network.peer.port']}"
    assert peer == server.name
    assert attempt.attributes["martlet.result"] == "ok"
    assert own.start <= attempt.start <= attempt.end <= own.end
    assert abs(own.start / 1e9 - time.time()) < 10
    assert not own.is_error and not attempt.is_error
    assert receiver.resource == {"service.name": "shop"}
    assert receiver.headers[0]["path"] == "/v1/traces"
    assert proxy.metrics().total("martlet_spans_total", result="exported") == 2


VALID = {
    PARENT: True,
    UNSAMPLED: False,
    # A version to come has more, and is read by its beginning.
    f"01-{TRACE}-{SPAN}-01-more": True,
    f"cc-{TRACE}-{SPAN}-03": True,
}
INVALID = [
    f"ff-{TRACE}-{SPAN}-01",
    f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01",
    PARENT.upper(),
    PARENT + "-more",
    PARENT[:-1],
    f"01-{TRACE}-{SPAN}-01.more",
    f"00_{TRACE}_{SPAN}_01",
    f"0-{TRACE}-{SPAN}-01",
    f"00-{TRACE[:-1]}g-{SPAN}-01",
    "nonsense",
    "",
]


@pytest.mark.parametrize("header", VALID)
def test_a_traceparent_that_is_valid(martlet, upstream, receiver, header):
    server = upstream(HTTPReplica)
    proxy = martlet(text(server, receiver, "{ sample: 0 }", "http"))
    with proxy.http() as client:
        client.get("/", headers={"traceparent": header})
        client.get("/", headers={"traceparent": PARENT})
    found = spans(receiver, 4 if VALID[header] else 2)
    assert len(found) == (4 if VALID[header] else 2)
    if VALID[header]:
        assert (found[0].trace, found[0].parent) == (TRACE, SPAN)


@pytest.mark.parametrize("header", INVALID)
def test_a_traceparent_that_is_not_valid_begins_a_trace(martlet, upstream, receiver, header):
    server = upstream()
    proxy = martlet(text(server, receiver, scheme="h2c"))
    with proxy.http() as client:
        client.post(METHOD, content=b"\0\0\0\0\0", headers={"content-type": "application/grpc-web+proto", "traceparent": header, "tracestate": "a=1"})
    own = spans(receiver, 1)[0]
    assert own.trace != TRACE and own.parent == "" and own.state == ""


def test_two_of_them_are_none(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    proxy = martlet(text(server, receiver, scheme="http"))
    with proxy.http() as client:
        client.get("/", headers=[("traceparent", PARENT), ("traceparent", PARENT)])
    own, attempt = spans(receiver, 2)
    assert own.trace != TRACE
    assert attempt.parent == own.id


def test_without_the_interceptor_everything_passes(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver).replace("{ trace: { sample: 1 } }", ""))
    given = {"traceparent": UNSAMPLED, "tracestate": "a=1", "b3": "0", "x_b3_traceid": "1", "baggage": "k=v", "grpc_trace_bin": ""}
    del given["grpc_trace_bin"]
    caller(proxy).call(**given)
    for name, value in given.items():
        assert server.metadata[name.replace("_", "-")] == value


def test_what_the_caller_does_not_sample_passes_untouched(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, "{ sample: 1 }"))
    caller(proxy).call(traceparent=UNSAMPLED)
    assert server.metadata["traceparent"] == UNSAMPLED
    caller(proxy).call(traceparent=PARENT)
    assert {span.trace for span in spans(receiver, 2)} == {TRACE}
    assert settled(lambda: len(receiver.spans)) == 2


def test_the_share_of_calls_without_a_trace(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    proxy = martlet(text(server, receiver, "{ sample: 0.25 }", "http"))
    with proxy.http() as client:
        for _ in range(400):
            client.get("/")
    count = settled(lambda: len(receiver.spans)) / 2
    assert 60 <= count <= 140
    assert len({span.trace for span in receiver.spans}) == count


def test_failures_and_slow_calls_are_exported_late(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, "{ sample: 0, errors: true, slow: 80ms }"))
    client = caller(proxy)
    for _ in range(5):
        client.call(traceparent=UNSAMPLED)
        client.call()
    assert settled(lambda: len(receiver.spans)) == 0
    server.mode = "unavailable"
    client.poke(5)
    own, attempt = spans(receiver, 2)
    assert own.attributes["martlet.late"] is True and own.flags == 0
    assert own.is_error and attempt.is_error and own.message == "sick"
    assert own.attributes["error.type"] == "unavailable"
    # Nothing downstream is changed by it.
    assert server.metadata["traceparent"] == f"00-{own.trace}-{attempt.id}-00"
    server.mode = "slow"
    client.call(traceparent=UNSAMPLED)
    assert spans(receiver, 4)[2].parent == SPAN
    assert server.metadata["traceparent"] == UNSAMPLED


def test_each_attempt_has_a_span(martlet, upstream, receiver, caller):
    server = upstream()
    server.mode = "unavailable"
    retry = ", { validate: { max_retries: 2, retry: { methods: [shop.v1.OrderService/Get] }, rules: [ { when: { code: unavailable }, retry: { delayed: 20ms } } ] } }"
    proxy = martlet(text(server, receiver, chain=retry))
    caller(proxy).poke(5)
    own, *attempts = spans(receiver, 4)
    assert [attempt.parent for attempt in attempts] == [own.id] * 3
    assert len({attempt.id for attempt in attempts}) == 3
    assert all(attempt.is_error and attempt.attributes["rpc.response.status_code"] == "UNAVAILABLE" for attempt in attempts)
    assert attempts[0].end <= attempts[1].start <= attempts[1].end <= attempts[2].start
    assert server.metadata["traceparent"].split("-")[2] == attempts[2].id
    assert [name for name, _ in own.events].count("martlet.retry") + [name for name, _ in own.events].count("martlet.suspend") >= 2


def test_hedged_attempts_are_siblings(martlet, receiver, upstream, caller):
    servers = [upstream(host=f"127.0.0.{number}") for number in (71, 72)]
    servers[0].mode = servers[1].mode = "slow"
    configuration = listed(servers, ", hedge: { after: 20ms, methods: [shop.v1.OrderService/Get] }", "{ trace: { sample: 1 } }")
    proxy = martlet(configuration + f"telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}\n")
    caller(proxy).call()
    own, first, second = spans(receiver, 3)
    assert {first.parent, second.parent} == {own.id}
    assert second.attributes["martlet.hedge"] is True and "martlet.hedge" not in first.attributes
    assert {first.attributes["martlet.result"], second.attributes["martlet.result"]} == {"ok", "canceled"}
    assert {server.metadata["traceparent"].split("-")[2] for server in servers} == {first.id, second.id}


@pytest.mark.parametrize(
    ("content_type", "body", "system"),
    [
        ("application/grpc-web+proto", b"\0\0\0\0\0", "grpc"),
        ("application/proto", b"", "connectrpc"),
        ("application/connect+proto", b"\0\0\0\0\0", "connectrpc"),
    ],
)
@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("mode", ["ok", "unavailable"])
def test_every_protocol(martlet, upstream, receiver, content_type, body, system, http2, mode):
    server = upstream()
    server.mode = mode
    proxy = martlet(text(server, receiver, more=", speaks: [grpc]"))
    with proxy.http(http2=http2, http1=not http2) as client:
        client.post(METHOD, content=body, headers={"content-type": content_type, "connect-protocol-version": "1", "traceparent": PARENT})
    own, attempt = spans(receiver, 2)
    assert (own.trace, own.parent, attempt.parent) == (TRACE, SPAN, own.id)
    assert server.metadata["traceparent"] == f"00-{TRACE}-{attempt.id}-01"
    assert own.attributes["rpc.system.name"] == system
    code = own.attributes.get("rpc.response.status_code")
    assert code == {("grpc", "ok"): "OK", ("grpc", "unavailable"): "UNAVAILABLE", ("connectrpc", "ok"): None}.get((system, mode), "unavailable")
    assert own.is_error == (mode == "unavailable")


def test_plain_http(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    server.status = 404
    proxy = martlet(text(server, receiver, "{ sample: 1, attributes: { tenant: '{header:x-tenant}' } }", "http"))
    with proxy.http() as client:
        client.get("/a/b?secret=1", headers={"x-tenant": "blue"})
    own, attempt = spans(receiver, 2)
    assert own.name == "GET"
    assert (own.attributes["http.request.method"], own.attributes["url.path"]) == ("GET", "/a/b")
    assert own.attributes["http.response.status_code"] == 404 and own.attributes["tenant"] == "blue"
    # The caller's mistake is an error of the attempt alone.
    assert (own.is_error, attempt.is_error) == (False, True)
    assert "secret" not in str(receiver.bodies)


def test_a_rejection_is_an_event(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, chain=", { name: gate, reject: { code: permission_denied } }"))
    assert caller(proxy).outcome() == "PERMISSION_DENIED"
    (own,) = spans(receiver, 1)
    assert own.attributes["martlet.decided_by"] == "interceptor:gate"
    assert ("martlet.reject", "gate") in [(name, attributes["martlet.interceptor"]) for name, attributes in own.events]


B3 = f"{TRACE}-{SPAN}-1"


@pytest.mark.parametrize(
    ("given", "parent"),
    [
        ({"b3": B3}, SPAN),
        ({"b3": f"{TRACE[16:]}-{SPAN}-d-{SPAN}"}, SPAN),
        ({"x_b3_traceid": TRACE, "x_b3_spanid": SPAN, "x_b3_sampled": "1"}, SPAN),
        ({"b3": "1"}, ""),
        ({"b3": f"{TRACE}-{SPAN}"}, SPAN),
        ({"x_b3_traceid": TRACE, "x_b3_spanid": SPAN, "x_b3_flags": "1"}, SPAN),
        ({"b3": "nonsense"}, ""),
    ],
)
def test_b3(martlet, upstream, receiver, caller, given, parent):
    server = upstream()
    proxy = martlet(text(server, receiver, "{ sample: 1, formats: [tracecontext, b3] }"))
    caller(proxy).call(**given)
    own, attempt = spans(receiver, 2)
    assert own.parent == parent
    assert server.metadata["b3"] == f"{own.trace}-{attempt.id}-1"
    assert not any(name.startswith("x-b3-") for name in server.metadata)
    assert server.metadata["traceparent"] == f"00-{own.trace}-{attempt.id}-01"


def test_json(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, otlp=", encoding: json, compression: none"))
    caller(proxy).call(traceparent=PARENT)
    own, attempt = spans(receiver, 2)
    assert (own["traceId"], own["parentSpanId"], attempt["parentSpanId"]) == (TRACE, SPAN, own["spanId"])
    assert own["kind"] == 2 and own["startTimeUnixNano"].isdigit()
    assert {"key": "rpc.system.name", "value": {"stringValue": "grpc"}} in own["attributes"]


def test_settings_of_the_environment(martlet, upstream, receiver, caller):
    server = upstream()
    configuration = re.sub("telemetry:.*\n", "", text(server, receiver, "{}"))
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=s3cret%20one",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": "1.0",
        "OTEL_SERVICE_NAME": "orders",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,k={v",
    }
    proxy = martlet(configuration, environment=environment)
    caller(proxy).call()
    # What waits goes when the process ends.
    proxy.stop()
    assert len(receiver.spans) == 2
    assert receiver.resource == {"service.name": "orders", "deployment.environment.name": "test", "k": "{v"}
    headers = {name.lower(): value for name, value in receiver.headers[0].items()}
    assert headers["x-key"] == "s3cret one" and headers["path"] == "/v1/traces"


def test_a_receiver_that_is_busy_gets_the_spans_later(martlet, upstream, receiver, caller):
    server = upstream()
    receiver.script = [503, 429, 200]
    proxy = martlet(text(server, receiver))
    caller(proxy).call()
    eventually(lambda: len(receiver.spans) == 2, within=15)
    proxy.stderr.wait("cannot export spans.*503")
    assert receiver.requests == 3
    assert proxy.metrics().total("martlet_spans_total", result="failed") == 0


def test_a_receiver_that_rejects_is_not_asked_again(martlet, upstream, receiver, caller):
    server = upstream()
    receiver.script = [400]
    proxy = martlet(text(server, receiver))
    client = caller(proxy)
    client.call()
    eventually(lambda: proxy.metrics().total("martlet_spans_total", result="failed") == 2)
    client.call()
    assert len(spans(receiver, 2)) == 2 and receiver.requests == 2


def test_a_receiver_that_responds_with_too_much_is_not_asked_again(martlet, upstream, receiver, caller):
    server = upstream()
    receiver.padding = b"x" * 70_000
    proxy = martlet(text(server, receiver))
    caller(proxy).call()
    eventually(lambda: proxy.metrics().total("martlet_spans_total", result="failed") == 2)
    proxy.stderr.wait("cannot export spans.*the response exceeds 65536 bytes")
    assert receiver.requests == 1


def test_a_batch_that_is_too_large_is_split(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    receiver.script = [413]
    proxy = martlet(text(server, receiver, scheme="http"))
    with proxy.http() as client:
        client.get("/")
    assert len(spans(receiver, 2)) == 2
    assert receiver.requests == 3


def test_a_receiver_that_hangs_makes_no_call_slower(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    receiver.gate.clear()
    proxy = martlet(text(server, receiver, scheme="http", otlp=", queue: 20"))
    with proxy.http() as client:
        start = time.monotonic()
        for _ in range(40):
            assert client.get("/").status_code == 200
        assert time.monotonic() - start < 10
        eventually(lambda: proxy.metrics().total("martlet_spans_total", result="dropped") > 0)
    receiver.gate.set()
    eventually(lambda: len(receiver.spans) >= 20)


def test_what_is_no_utf_8_does_no_harm(martlet, upstream, receiver):
    server = upstream(HTTPReplica)
    proxy = martlet(text(server, receiver, "{ sample: 1, attributes: { tenant: '{header:x-tenant}' } }", "http"))
    with proxy.http() as client:
        client.get("/", headers=[(b"traceparent", PARENT.encode()), (b"tracestate", b"a=\xff"), (b"x-tenant", b"b\xfe")])
    own, _ = spans(receiver, 2)
    assert own.attributes["tenant"] == "b\ufffd" and own.state == "a=\ufffd"


def test_a_receiver_that_asks_for_a_day(martlet, upstream, receiver, caller):
    server = upstream()
    other = OTLPReceiver()
    receiver.script, receiver.retry_after = [503], "86400"
    proxy = martlet(text(server, receiver))
    caller(proxy).call()
    proxy.stderr.wait("cannot export spans")
    # What has not gone to one goes to the other.
    proxy.reload(text(server, other))
    assert len(spans(other, 2)) == 2
    other.stop()


def test_a_call_that_is_cut_off_at_the_end_has_spans(martlet, upstream, receiver, caller):
    server = upstream()
    server.mode = "hang"
    proxy = martlet(text(server, receiver) + "drain: { min: 0s, max: 200ms }\n")
    client = caller(proxy)
    pending = client.method.future(b"", timeout=20)
    eventually(lambda: server.calls == 1)
    proxy.stop()
    assert pending.exception() is not None
    own, attempt = spans(receiver, 2)
    assert own.is_error and attempt.parent == own.id


def test_a_response_that_breaks_off(martlet, recorder, receiver):
    broken = recorder(script=lambda peer: (peer.request(), peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")))

    class Server:
        name = broken.url.removeprefix("http://")

    proxy = martlet(text(Server, receiver, scheme="http"))
    with proxy.http() as client, pytest.raises(httpx.HTTPError):
        client.get("/")
    own, attempt = spans(receiver, 2)
    assert own.is_error and own.attributes["error.type"] not in {"0", "200"}
    assert attempt.attributes["martlet.result"] == "reset" and attempt.attributes["http.response.status_code"] == 200


def test_a_caller_that_leaves_is_no_error(martlet, upstream, receiver, caller):
    server = upstream(HTTPReplica)
    server.gate.clear()
    proxy = martlet(text(server, receiver, scheme="http"))
    with proxy.http() as client, pytest.raises(httpx.TimeoutException):
        client.get("/", timeout=0.2)
    own, attempt = spans(receiver, 2)
    assert not own.is_error and "error.type" not in own.attributes and not attempt.is_error


def test_spans_are_exported_through_a_reload(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, otlp=", queue: 1000"))
    client = caller(proxy)
    for number in range(5):
        client.call()
        proxy.reload(text(server, receiver, otlp=f", queue: {900 + number}"))
    eventually(lambda: len(receiver.spans) == 10)


def test_two_interceptors_make_one_span(martlet, upstream, receiver, caller):
    server = upstream()
    proxy = martlet(text(server, receiver, chain=", { name: second, trace: { sample: 1 } }"))
    caller(proxy).call()
    assert len(spans(receiver, 2)) == settled(lambda: len(receiver.spans)) == 2


def test_headers_of_the_receiver_are_no_secret_that_is_shown(martlet, upstream, receiver):
    server = upstream()
    proxy = martlet(text(server, receiver, otlp=", headers: { authorization: Bearer s3cret, x-key: s3cret }"))
    assert "s3cret" not in proxy.admin("/config").text


MISTAKES = {
    "interceptors: [ { trace: { sample: 2 } } ]": '"sample" cannot be "2"; write a number from 0 to 1',
    "interceptors: [ { trace: { formats: [] } } ]": "tracecontext",
    "interceptors: [ { trace: { attributes: { a: '{nothing}' } } } ]": "{nothing} is unknown",
    "telemetry: { otlp: {} }": '"url"',
    "telemetry: { otlp: { url: http://127.0.0.1:1, headers: { content-length: 5 } } }": "content-length",
    "telemetry: { otlp: { url: http://127.0.0.1:1, headers: { a b: 5 } } }": "a b",
    "telemetry: { otlp: http://collector.example:4318 }": "in clear text",
    "telemetry: { otlp: http://127.0.0.1:4318, resource: { a: '{header:x}' } }": "depends on a call",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_what_is_wrong_is_told(command, tmp_path, line):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\n{line}\n")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, MISTAKES[line] in result.stderr.text) == (78, True), result.stderr.text
