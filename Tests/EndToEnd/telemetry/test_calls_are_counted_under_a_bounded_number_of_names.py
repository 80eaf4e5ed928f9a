"""Counters and the histogram count each call once. Methods beyond the limit share the name _OTHER."""

from support import protocol
from support.http1.recorder import JSON
from support.wait import eventually


def test_what_is_counted(martlet, recorder):
    proxy = martlet(upstream=recorder(response=JSON).url, more="interceptors: [{metrics: {}}]")
    with proxy.http() as http:
        for caller in [protocol.CONNECT_UNARY_JSON, protocol.CONNECT_STREAM_PROTO, protocol.GRPC_WEB]:
            caller.call(http)
        http.get("/page")
        labels = {"rpc_service": "connectrpc.eliza.v1.ElizaService", "rpc_method": "Say"}
        metrics = eventually(lambda: (m := proxy.metrics()).total("martlet_rpc_handled_total") == 4 and m)
    assert metrics.total("martlet_rpc_started_total", protocol="connect", **labels) == 2
    assert metrics.total("martlet_rpc_started_total", protocol="grpc_web", **labels) == 1
    assert metrics.total("martlet_rpc_handled_total", protocol="connect", code="ok", **labels) >= 1
    assert metrics.total("martlet_rpc_started_total", protocol="http") == 1
    assert metrics.total("martlet_rpc_duration_seconds_count", protocol="connect", **labels) == 2
    assert metrics.total("martlet_rpc_duration_seconds_bucket", protocol="connect", le="+Inf", **labels) == 2
    assert metrics.total("martlet_rpc_in_flight") == 0
    assert metrics.total("martlet_upstream_attempts_total", upstream="default", result="ok") == 4
    assert metrics.total("martlet_connections_accepted_total") >= 1
    assert metrics.total("martlet_config_generation") == 1
    assert len(metrics.select("martlet_build_info")) == 1
    assert metrics.total("process_resident_memory_bytes") > 1 << 20
    assert metrics.total("process_open_fds") > 3


def test_the_bound(martlet, recorder):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {recorder(response=JSON).url}
        workers: 1
        interceptors: [ metrics: {{ methods: 2 }} ]
        """
    )
    with proxy.http() as http:
        for number in range(5):
            protocol.CONNECT_UNARY_JSON.call(http, path=f"/pkg.Service/Method{number}")
    metrics = eventually(lambda: (m := proxy.metrics()).total("martlet_rpc_handled_total") == 5 and m)
    named = {labels["rpc_method"] for labels, _ in metrics.select("martlet_rpc_handled_total")}
    assert named == {"Method0", "Method1", "_OTHER"}
    assert metrics.total("martlet_rpc_handled_total", rpc_method="_OTHER") == 3
