"""The metrics go to a receiver of OTLP, again and again and once more at the end, as `/metrics` has them."""

import re
import signal
import time

import pytest
from support.servers.otlp_receiver import OTLPReceiver
from support.servers.replicas import HTTPReplica
from support.wait import eventually, settled

UNITS = {"": "", "s": "_seconds", "By": "_bytes"}
# What the export itself changes, or the clock.
RESTLESS = re.compile(r"process_|martlet_metric_exports|martlet_heap|martlet_held_memory$|martlet_connection_memory$|martlet_descriptors$")


def text(server, receiver, otlp=", metrics: 50ms", chain="{ metrics: {} }, { trace: { sample: 1 } }", more=""):
    return (
        f"listen: 127.0.0.1:0\nupstream: http://{server.name}\ninterceptors: [ {chain} ]\n"
        f"telemetry: {{ service: shop, otlp: {{ url: {receiver.url}, every: 50ms{otlp} }} }}\n{more}"
    )


def samples(snapshot):
    """The samples that a collector would make of a request, by the compatibility specification of OpenTelemetry."""
    made = {}

    def add(name, point, value, **more):
        labels = {pair.key: pair.value.string_value for pair in point.attributes} | more
        made[name, tuple(sorted(labels.items()))] = value

    for metric in snapshot.values():
        name = metric.name + UNITS[metric.unit]
        for point in metric.gauge.data_points:
            assert point.start_time_unix_nano == 0
            add(name, point, getattr(point, point.WhichOneof("value")))
        for point in metric.sum.data_points:
            assert metric.sum.is_monotonic and metric.sum.aggregation_temporality == 2
            add(f"{name}_total", point, getattr(point, point.WhichOneof("value")))
        for point in metric.histogram.data_points:
            assert metric.histogram.aggregation_temporality == 2
            assert sum(point.bucket_counts) == point.count and len(point.bucket_counts) == len(point.explicit_bounds) + 1
            total = 0
            for bound, count in zip([*point.explicit_bounds, None], point.bucket_counts):
                total += count
                add(f"{name}_bucket", point, total, le="+Inf" if bound is None else f"{bound:.9f}".rstrip("0").rstrip("."))
            add(f"{name}_sum", point, point.sum)
            add(f"{name}_count", point, point.count)
        for point in metric.summary.data_points:
            add(f"{name}_sum", point, point.sum)
            add(f"{name}_count", point, point.count)
    return {key: value for key, value in made.items() if not RESTLESS.match(key[0])}


def scraped(proxy):
    found = proxy.metrics().samples
    return {(name, tuple(sorted(labels.items()))): value for name, labels, value in found if not RESTLESS.match(name)}


def snapshots(receiver, count):
    return eventually(lambda: len(receiver.snapshots) >= count and receiver.snapshots, what=f"{count} requests with metrics")


def started(snapshot, name="martlet_rpc_started"):
    return sum(point.as_int for point in snapshot[name].sum.data_points) if name in snapshot else 0


@pytest.fixture
def server(upstream):
    return upstream(HTTPReplica)


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
@pytest.mark.parametrize("compression", ["gzip", "none"])
def test_they_are_those_of_the_page(martlet, server, receiver, caller, encoding, compression):
    before = time.time_ns()
    proxy = martlet(text(server, receiver, f", metrics: 50ms, encoding: {encoding}, compression: {compression}"))
    with proxy.http() as client:
        for path in ("/a", "/b"):
            client.get(path)
        client.post("/shop.v1.OrderService/Get", content=b"{}", headers={"content-type": "application/json"})
    # The connections have gone, and the spans.
    settled(lambda: scraped(proxy))
    page = scraped(proxy)
    count = len(receiver.snapshots)
    pushed = samples(snapshots(receiver, count + 2)[-1])
    assert scraped(proxy) == page
    assert pushed.keys() == page.keys()
    assert {key: (value, page[key]) for key, value in pushed.items() if value != pytest.approx(page[key])} == {}
    histogram = receiver.snapshots[-1]["martlet_rpc_duration"]
    point = histogram.histogram.data_points[0]
    assert (histogram.unit, point.explicit_bounds[0]) == ("s", 0.0001)
    start = receiver.snapshots[-1]["process_start_time"].gauge.data_points[0].as_double
    assert point.start_time_unix_nano / 1e9 == pytest.approx(start, abs=1.5) and abs(start - before / 1e9) < 5
    assert before < point.time_unix_nano < time.time_ns()
    assert histogram.description and receiver.resource == {"service.name": "shop"}
    requests = [headers for headers in receiver.headers if headers["path"] == "/v1/metrics"]
    assert len(requests) >= count and requests[0]["content-type"] == {"json": "application/json"}.get(encoding, "application/x-protobuf")


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_points_have_exemplars(martlet, server, receiver, encoding):
    proxy = martlet(text(server, receiver, f", metrics: 50ms, encoding: {encoding}"))
    with proxy.http() as client:
        client.get("/")
    eventually(lambda: receiver.spans)
    own = receiver.spans[0]
    span = (own.trace, own.id) if encoding == "protobuf" else (own["traceId"], own["spanId"])
    end = own.end if encoding == "protobuf" else int(own["endTimeUnixNano"])
    snapshot = eventually(lambda: started(snapshots(receiver, 1)[-1]) and receiver.snapshots[-1])
    for name in ("martlet_rpc_duration", "martlet_upstream_call_duration"):
        (point,) = snapshot[name].histogram.data_points
        (exemplar,) = point.exemplars
        assert (exemplar.trace_id.hex(), exemplar.span_id.hex(), exemplar.time_unix_nano) == (*span, pytest.approx(end, abs=10**7))
        assert exemplar.as_double == pytest.approx(point.sum)


def test_they_go_without_traces(martlet, server, receiver):
    proxy = martlet(text(server, receiver, chain="{ metrics: {} }"))
    with proxy.http() as client:
        client.get("/")
    eventually(lambda: started(snapshots(receiver, 1)[-1]) == 1)
    assert not receiver.spans and started(receiver.snapshots[-1], "martlet_spans") == 0
    # What Martlet sends by itself is no call.
    assert settled(lambda: proxy.metrics().total("martlet_rpc_started_total")) == 1
    assert {headers["path"] for headers in receiver.headers} == {"/v1/metrics"}


def test_they_do_not_go_by_default(martlet, server, receiver):
    proxy = martlet(text(server, receiver, ""))
    with proxy.http() as client:
        client.get("/")
    eventually(lambda: receiver.spans)
    proxy.stop()
    assert not receiver.snapshots


@pytest.mark.parametrize(
    ("url", "path"),
    [("/otlp/v1/traces", "/otlp/v1/metrics"), ("/v1/traces?key=1", "/v1/metrics?key=1"), ("", "/v1/metrics")],
)
def test_the_path_is_beside_that_of_spans(martlet, server, receiver, url, path):
    martlet(text(server, receiver).replace(receiver.url, f'"{receiver.url}{url}"'))
    snapshots(receiver, 1)
    assert receiver.headers[0]["path"] == path


def test_a_job_that_ends_is_seen(martlet, server, receiver):
    proxy = martlet(text(server, receiver, ", metrics: 1h"))
    with proxy.http() as client:
        for _ in range(3):
            client.get("/")
    assert not receiver.snapshots
    proxy.stop()
    (last,) = receiver.snapshots
    assert started(last) == 3 and last["martlet_rpc_in_flight"].gauge.data_points[0].as_int == 0


def test_a_call_that_is_cut_off_at_the_end_is_counted(martlet, server, receiver):
    server.gate.clear()
    proxy = martlet(text(server, receiver, ", metrics: 1h", more="drain: { min: 0s, max: 200ms }\n"))
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    eventually(lambda: server.calls == 1)
    proxy.stop()
    caller.close()
    (last,) = receiver.snapshots
    points = last["martlet_rpc_handled"].sum.data_points
    assert [point.as_int for point in points] == [1]


@pytest.mark.parametrize("script", [[503], [429], [502, 504]])
def test_a_receiver_that_is_busy_gets_newer_ones(martlet, server, receiver, script):
    receiver.script = list(script)
    proxy = martlet(text(server, receiver))
    with proxy.http() as client:
        proxy.stderr.wait(f"cannot export metrics.*{script[0]}")
        client.get("/")
    # What waits is replaced by what has been counted since.
    assert started(eventually(lambda: receiver.snapshots, within=10)[0]) == 1
    metrics = proxy.metrics()
    assert metrics.total("martlet_metric_exports_total", result="replaced") > 0
    assert metrics.total("martlet_metric_exports_total", result="failed") == 0
    assert len(proxy.stderr.matches("cannot export metrics")) == 1


def test_a_receiver_that_rejects_gets_the_next_ones(martlet, server, receiver):
    receiver.script = [400]
    proxy = martlet(text(server, receiver))
    snapshots(receiver, 2)
    assert proxy.metrics().total("martlet_metric_exports_total", result="failed") == 1


@pytest.mark.parametrize("encoding", ["protobuf", "json"])
def test_what_is_accepted_in_part_is_logged_once(martlet, server, receiver, encoding):
    receiver.rejects = 3
    proxy = martlet(text(server, receiver, f", metrics: 50ms, encoding: {encoding}"))
    snapshots(receiver, 4)
    (line,) = proxy.stderr.matches("cannot export metrics.*")
    assert "the receiver rejected 3 data points: too many" in line[0]
    metrics = proxy.metrics()
    assert metrics.total("martlet_metric_exports_total", result="exported") >= 3
    assert metrics.total("martlet_metric_exports_total", result="failed") == 0


def test_what_is_too_large_is_split(martlet, server, receiver):
    receiver.script = [413]
    proxy = martlet(text(server, receiver, ", metrics: 1h"))
    page = scraped(proxy)
    proxy.stop()
    first, second = receiver.snapshots
    assert not first.keys() & second.keys()
    assert samples(first | second).keys() >= page.keys()


@pytest.mark.waits
@pytest.mark.parametrize("is_there", [True, False])
def test_a_receiver_that_does_not_respond_makes_no_call_slower(martlet, server, receiver, is_there):
    receiver.gate.clear()
    if not is_there:
        receiver.stop()
        receiver.gate.clear()
    proxy = martlet(text(server, receiver, ", metrics: 20ms, timeout: 3s", chain="{ metrics: {} }"))
    proxy.stderr.wait("cannot export metrics")
    with proxy.http() as client:
        slowest = 0
        for _ in range(100):
            start = time.monotonic()
            assert client.get("/").status_code == 200
            slowest = max(slowest, time.monotonic() - start)
    assert slowest < 2
    eventually(lambda: proxy.metrics().total("martlet_metric_exports_total", result="replaced") > 3)
    start = time.monotonic()
    proxy.stop()
    assert time.monotonic() - start < 6
    proxy.stderr.wait("the last metrics were not exported before the end")


def test_they_go_through_a_reload(martlet, server, receiver):
    other = OTLPReceiver()
    proxy = martlet(text(server, receiver, "", chain="{ metrics: {} }"))
    with proxy.http() as client:
        client.get("/")
    proxy.reload(text(server, receiver, chain="{ metrics: {} }"))
    assert started(snapshots(receiver, 1)[0]) == 1
    proxy.reload(text(server, other, ", metrics: 20ms, encoding: json", chain="{ metrics: {} }"))
    assert started(snapshots(other, 2)[0]) == 1
    count = len(receiver.snapshots)
    proxy.reload(text(server, other, ", metrics: none", chain="{ metrics: {} }"))
    assert settled(lambda: len(other.snapshots)) and len(receiver.snapshots) <= count + 1
    count = len(other.snapshots)
    proxy.reload(re.sub("telemetry:.*\n", "", text(server, other)))
    proxy.reload(text(server, other))
    assert started(snapshots(other, count + 1)[-1]) == 1
    proxy.stop()
    other.stop()


def test_other_buckets_begin_another_series(martlet, server, receiver):
    proxy = martlet(text(server, receiver))
    with proxy.http() as client:
        client.get("/")
    point = eventually(lambda: started(snapshots(receiver, 1)[-1]) and receiver.snapshots[-1]["martlet_rpc_duration"]).histogram.data_points[0]
    proxy.reload(text(server, receiver, chain="{ metrics: { buckets: [1ms, 10s] } }"))
    new = eventually(lambda: [s for s in receiver.snapshots if len(s["martlet_rpc_duration"].histogram.data_points[0].explicit_bounds) == 2] if started(receiver.snapshots[-1]) else None)[0]
    later = new["martlet_rpc_duration"].histogram.data_points[0]
    assert point.start_time_unix_nano < point.time_unix_nano <= later.start_time_unix_nano < later.time_unix_nano
    assert new["martlet_rpc_started"].sum.data_points[0].start_time_unix_nano == point.start_time_unix_nano


def test_settings_of_the_environment(martlet, server, receiver):
    traces = OTLPReceiver()
    configuration = re.sub("telemetry:.*\n", "", text(server, receiver))
    environment = {
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_METRIC_EXPORT_INTERVAL": "50",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{receiver.url}/all-metrics",
        "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "x-key=m",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{traces.url}/all-traces",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=t",
    }
    proxy = martlet(configuration, environment=environment)
    with proxy.http() as client:
        client.get("/")
    snapshots(receiver, 2)
    proxy.stop()
    assert len(traces.spans) == 2
    for one, path, key in ((receiver, "/all-metrics", "m"), (traces, "/all-traces", "t")):
        assert {(headers["path"], headers["x-key"]) for headers in one.headers} == {(path, key)}
    traces.stop()


def test_the_environment_may_name_a_receiver_of_metrics_alone(martlet, server, receiver):
    configuration = re.sub("telemetry:.*\n", "", text(server, receiver))
    environment = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{receiver.url}/my-metrics", "OTEL_METRICS_EXPORTER": "otlp"}
    proxy = martlet(configuration, environment=environment)
    with proxy.http() as client:
        client.get("/")
    proxy.stop()
    assert [headers["path"] for headers in receiver.headers] == ["/my-metrics"]


def test_the_environment_has_one_endpoint(martlet, server, receiver):
    configuration = re.sub("telemetry:.*\n", "", text(server, receiver))
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{receiver.url}/", "OTEL_METRICS_EXPORTER": "otlp"}
    proxy = martlet(configuration, environment=environment)
    with proxy.http() as client:
        client.get("/")
    proxy.stop()
    assert len(receiver.snapshots) == 1 and len(receiver.spans) == 2
    assert {headers["path"] for headers in receiver.headers} == {"/v1/metrics", "/v1/traces"}


@pytest.mark.parametrize(("metrics", "goes"), [("", True), (", metrics: none", False)])
def test_the_file_comes_before_the_environment(martlet, server, receiver, metrics, goes):
    environment = {"OTEL_METRICS_EXPORTER": "otlp", "OTEL_METRIC_EXPORT_INTERVAL": "50"}
    proxy = martlet(text(server, receiver, metrics), environment=environment)
    with proxy.http() as client:
        client.get("/")
    eventually(lambda: receiver.spans)
    if goes:
        snapshots(receiver, 2)
    proxy.stop()
    assert bool(receiver.snapshots) == goes


def test_a_path_without_a_place_beside_it_is_told(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(
        "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\ntelemetry: { otlp: { url: http://127.0.0.1:4318/in, metrics: 60s } }\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78 and "does not end in /traces" in result.stderr.text


def test_a_second_signal_does_not_wait(martlet, server, receiver):
    receiver.gate.clear()
    proxy = martlet(text(server, receiver, ", metrics: 1h"))
    proxy.signal(signal.SIGQUIT)
    assert proxy.exit_code() != 0
    assert not receiver.snapshots
