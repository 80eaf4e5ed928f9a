"""A request head larger than SETTINGS_MAX_HEADER_LIST_SIZE of the upstream costs its call alone, and is not sent."""

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer

LIMIT = 8192
PROTOCOLS = {
    "plain HTTP": (h2_peer.request("/large"), 431, None),
    "Connect": (h2_peer.request("/a.B/C", "POST", ("content-type", "application/json")), 431, None),
    "gRPC": (h2_peer.grpc_request("/a.B/C"), 200, "8"),
    "gRPC-Web": (h2_peer.request("/a.B/C", "POST", ("content-type", "application/grpc-web+proto")), 200, None),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("size", [100, 7000])
def test_a_request_head_within_the_limit(martlet, h2_recorder, protocol, size):
    upstream = h2_recorder(settings={SettingsFrame.MAX_HEADER_LIST_SIZE: LIMIT})
    caller = martlet(upstream=upstream.url).connect_h2()
    assert caller.finish(caller.open(h2_peer.request("/other"), end=True)).status == 200
    assert caller.finish(caller.open([*PROTOCOLS[protocol][0], ("x-large", "v" * size)], end=True)).status == 200
    assert upstream.streams[1].header("x-large") == "v" * size


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("size", [9000, 20_000, 60_000])
def test_a_request_head_over_the_limit_costs_its_call(martlet, h2_recorder, protocol, size):
    upstream = h2_recorder(settings={SettingsFrame.MAX_HEADER_LIST_SIZE: LIMIT})
    daemon = martlet(upstream=upstream.url, more="workers: 1\n")
    one, two = daemon.connect_h2(), daemon.connect_h2()
    other = one.open(h2_peer.request("/other", "POST"))
    upstream.wait_for_streams(1)
    head, status, code = PROTOCOLS[protocol]
    call = two.finish(two.open([*head, ("x-large", "v" * size)], end=True))
    assert (call.status, call.grpc()) == (status, code)
    text = call.grpc("grpc-message") if code else call.body.decode(errors="replace")
    assert f"{LIMIT} bytes" in text and "SETTINGS_MAX_HEADER_LIST_SIZE" in text
    one.data(other.id, b"x", end=True)
    assert one.finish(other).status == 200
    assert [stream.path for stream in upstream.streams] == ["/other"]
