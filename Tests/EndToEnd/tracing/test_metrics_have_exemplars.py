"""`/metrics` is OpenMetrics for readers that prefer it, where the buckets of histograms name traces that were exported."""

import re

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from support.martlet import CLEAR_TEXT
from support.servers.replicas import HTTPReplica
from support.wait import eventually

OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
# What Prometheus 2 and 3 send.
PROMETHEUS = [
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,"
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
]
UNSAMPLED = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}


def page(proxy, accept=OPEN):
    transport = httpx.HTTPTransport(uds=str(proxy.admin_socket), **CLEAR_TEXT)
    with httpx.Client(base_url="http://localhost", transport=transport) as client:
        headers = [("accept", value) for value in ([accept] if isinstance(accept, str) else accept or [])]
        request = client.build_request("GET", "/metrics", headers=headers)
        if not headers:
            del request.headers["accept"]
        return client.send(request)


def families(proxy):
    response = page(proxy)
    assert response.headers["content-type"] == OPEN and response.text.endswith("\n# EOF\n")
    return {family.name: family for family in text_string_to_metric_families(response.text)}


def exemplars(proxy, name="martlet_rpc_duration_seconds"):
    """The bounds and exemplars of a histogram's buckets."""
    found = families(proxy)
    samples = found[name].samples if name in found else []
    return {(float(sample.labels["le"])): sample.exemplar for sample in samples if sample.exemplar}


def text(server, receiver, chain, more=""):
    return (
        f"listen: 127.0.0.1:0\nupstream: http://{server.name}\ninterceptors: [ {chain} ]\n"
        f"telemetry: {{ otlp: {{ url: {receiver.url}, every: 50ms }} }}\n{more}"
    )


@pytest.fixture
def server(upstream):
    return upstream(HTTPReplica)


@pytest.mark.parametrize("accept", [*PROMETHEUS, "application/openmetrics-text", "APPLICATION/OpenMetrics-Text; q=1", OPEN, ["text/plain;q=0.5", OPEN]])
def test_who_prefers_it_gets_it(martlet, server, receiver, accept):
    proxy = martlet(text(server, receiver, "metrics: {}"))
    assert page(proxy, accept).headers["content-type"] == OPEN


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "*/*",
        "text/plain",
        "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text;version=2.0.0,text/plain;q=0.1",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=0.4,text/plain;q=0.5",
        "application/openmetrics-text;q=nonsense",
        "application/*",
        ",;,",
    ],
)
def test_others_get_the_text_of_prometheus(martlet, server, receiver, accept):
    proxy = martlet(text(server, receiver, "metrics: {}"))
    response = page(proxy, accept)
    assert response.headers["content-type"] == PLAIN and "# EOF" not in response.text


def test_it_says_the_same(martlet, server, receiver):
    proxy = martlet(text(server, receiver, "metrics: {}, log: { to: /dev/null }"))
    with proxy.http() as client:
        client.get("/")
        client.post("/shop.v1.OrderService/Get", content=b"{}", headers={"content-type": "application/json"})
    proxy.wait_for_rest()
    found = families(proxy)

    def settled_samples(samples):
        # The length of the bound is all that differs in the labels.
        return {
            (name, *sorted((key, value.removesuffix(".0") if key == "le" else value) for key, value in labels.items())): value
            for name, labels, value in samples
            if not re.match("process_|martlet_heap|martlet_descriptors$", name)
        }

    open_samples = [(sample.name, sample.labels, sample.value) for family in found.values() for sample in family.samples]
    assert settled_samples(open_samples) == settled_samples(proxy.metrics().samples)
    kinds = re.findall("^# TYPE (.*) (.*)$", proxy.admin("/metrics").text, re.MULTILINE)
    assert {(name.removesuffix("_total") if kind == "counter" else name, kind) for name, kind in kinds} == {(family.name, family.type) for family in found.values()}
    assert (found["martlet_rpc_duration_seconds"].unit, found["process_resident_memory_bytes"].unit) == ("seconds", "bytes")
    assert found["process_cpu_seconds"].type == "counter" and not found["martlet_ready"].unit


@pytest.mark.parametrize("chain", ["{ metrics: {} }, { trace: { sample: 1 } }", "{ trace: { sample: 1 } }, { metrics: {} }"])
def test_the_last_call_of_a_bucket(martlet, server, receiver, chain):
    proxy = martlet(text(server, receiver, chain))
    with proxy.http() as client:
        for count in range(1, 4):
            client.get("/")
            eventually(lambda: len(receiver.spans) == 2 * count)
            own = receiver.spans[-2]
            for name in ("martlet_rpc_duration_seconds", "martlet_upstream_call_duration_seconds"):
                last = max(exemplars(proxy, name).items(), key=lambda pair: float(pair[1].timestamp))
                assert last[1].labels == {"trace_id": own.trace, "span_id": own.id}
                assert last[1].value <= last[0] and abs(float(last[1].timestamp) - own.end / 1e9) < 0.01
                if name == "martlet_rpc_duration_seconds":
                    assert last[1].value == pytest.approx((own.end - own.start) / 1e9, abs=1e-5)
    assert "trace_id" not in proxy.admin("/metrics").text


def test_each_bucket_has_its_own(martlet, server, receiver):
    proxy = martlet(text(server, receiver, "{ metrics: { buckets: [100ms] } }, { trace: { sample: 1 } }"))
    with proxy.http() as client:
        client.get("/")
        server.gate.clear()
        with httpx.Client(base_url=proxy.url, **CLEAR_TEXT) as other, pytest.raises(httpx.TimeoutException):
            other.get("/", timeout=0.15)
        server.gate.set()
    eventually(lambda: len(receiver.spans) == 4)
    fast, slow = receiver.spans[0], receiver.spans[2]
    found = exemplars(proxy)
    assert {bound: exemplar.labels["span_id"] for bound, exemplar in found.items()} == {0.1: fast.id, float("inf"): slow.id}


def test_traces_that_nobody_exports_are_in_none(martlet, server, receiver):
    proxy = martlet(text(server, receiver, "{ metrics: {} }, { trace: { sample: 0, errors: true } }"))
    with proxy.http() as client:
        client.get("/", headers=UNSAMPLED)
        client.get("/")
        assert exemplars(proxy) == {}
        server.status = 500
        client.get("/", headers=UNSAMPLED)
    eventually(lambda: receiver.spans)
    own = receiver.spans[0]
    assert own.attributes["martlet.late"]
    assert [exemplar.labels["span_id"] for exemplar in exemplars(proxy).values()] == [own.id]


def test_without_a_receiver_there_are_none(martlet, server, receiver):
    proxy = martlet(re.sub("telemetry:.*", "", text(server, receiver, "{ metrics: {} }, { trace: { sample: 1 } }")))
    with proxy.http() as client:
        client.get("/")
    assert exemplars(proxy) == {}
