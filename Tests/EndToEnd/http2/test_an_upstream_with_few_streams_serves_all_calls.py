"""An upstream that allows few streams gets no more at a time, and still serves every call."""

import threading

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer

ALLOWED, CALLS = 4, 32


def test_the_published_server(martlet, grpc_service, grpc_channel):
    rest = threading.Event()

    def unary(request, context):
        rest.wait(0.02)
        return request

    # Without the protection, which counts streams that have ended and resets others for them.
    limits = [("grpc.max_concurrent_streams", ALLOWED), ("grpc.http.overload_protection", 0)]
    service = grpc_service({"Unary": unary}, options=limits)
    channel = grpc_channel(martlet(upstream=service.url, more="workers: 1"))
    for _ in range(3):
        calls = [channel.unary.future(b"%d" % number, timeout=10) for number in range(CALLS)]
        assert [call.result() for call in calls] == [b"%d" % number for number in range(CALLS)]


@pytest.mark.parametrize("allowed", [1, ALLOWED])
def test_the_limit_is_kept(martlet, h2_recorder, allowed):
    upstream = h2_recorder(settings={SettingsFrame.MAX_CONCURRENT_STREAMS: allowed})
    caller = martlet(upstream=upstream.url, more="workers: 1").connect_h2()
    caller.finish(caller.open(h2_peer.request(), end=True))  # now the limit is known
    calls = [caller.open(h2_peer.request(f"/{number}", "POST"), end=True) for number in range(CALLS)]
    assert [caller.finish(call).status for call in calls] == [200] * CALLS
    assert max(stream.beside for stream in upstream.streams) < allowed
    assert len(upstream.streams) == 1 + CALLS
