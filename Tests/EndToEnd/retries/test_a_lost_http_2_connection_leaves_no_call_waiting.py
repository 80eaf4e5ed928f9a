"""When an HTTP/2 connection to the upstream dies, its calls fail, or are retried if that is safe."""

import pytest
from hyperframe.frame import DataFrame, SettingsFrame

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok

DEATHS = {
    "reset": lambda peer, stream: peer.abort(),
    "bytes that are no frames": lambda peer, stream: peer.write(b"\xff" * 100),
    "settings that cannot be": lambda peer, stream: peer.send(SettingsFrame(0, settings={5: 1})),
    "data before a head": lambda peer, stream: peer.send(DataFrame(stream.id, b"x")),
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("death", DEATHS)
def test_each_call_ends(martlet, h2_recorder, death, count):
    def script(peer):
        if len(upstream.connections) > 1:
            while stream := upstream.next_stream(peer):
                response_ok(peer, stream)
            return
        response_ok(peer, upstream.next_stream(peer))
        streams = [upstream.next_stream(peer) for _ in range(count)]
        DEATHS[death](peer, streams[0])
        while peer.receive():
            pass

    upstream = h2_recorder(script=script)
    proxy = martlet(upstream=upstream.url, more="workers: 1\ninterceptors: [{ metrics: {} }]")
    caller = proxy.connect_h2(timeout=5)
    assert caller.finish(caller.open(h2_peer.request("/warm"), end=True)).status == 200
    calls = [caller.open(h2_peer.request("/x"), end=True) for _ in range(count)]
    for call in calls:
        assert caller.finish(call).status in (200, 502)
    assert proxy.metrics().total("martlet_rpc_in_flight") == 0


def test_interim_responses_are_limited(martlet, h2_recorder):
    def response(peer, stream):
        for _ in range(2000):
            peer.headers(stream.id, h2_peer.response(103, ("link", "x" * 100)))
        response_ok(peer, stream)

    proxy = martlet(upstream=h2_recorder(response).url)
    caller = proxy.connect_h2(timeout=5)
    assert caller.finish(caller.open(h2_peer.request("/x"), end=True)).status == 502


@pytest.mark.parametrize("name", ["authorization", "cookie", "http2-settings"])
def test_a_trailer_is_not_a_header(martlet, recorder, name):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/x", "POST"))
    caller.data(call.id, b"a")
    caller.headers(call.id, [(name, "evil"), ("x-a", "1")], end=True)
    assert caller.finish(call).status == 200
    assert b"evil" not in upstream.bytes and b"x-a: 1" in upstream.bytes
