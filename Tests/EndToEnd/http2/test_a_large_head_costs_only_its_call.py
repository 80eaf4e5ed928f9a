"""A head or trailers beyond a limit cost their call alone: other calls of the connection continue, at the caller and at the upstream."""

import pytest

from support.http2 import h2_peer

KIB = 1 << 10
SIZES = [72 * KIB, 128 * KIB, 160_000, 1_000_000]
PARTS = [1, 20, 125]
PROTOCOLS = {
    "plain HTTP": (h2_peer.request("/large"), 431, None),
    "Connect": (h2_peer.request("/a.B/C", "POST", ("content-type", "application/json")), 431, None),
    "gRPC": (h2_peer.grpc_request("/a.B/C"), 200, "8"),
}


def spread(size, parts):
    return [(f"x-{number}", "v" * (size // parts)) for number in range(parts)]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("size", [160_000, 500_000, 1_040_000])
def test_a_head_within_a_larger_limit_passes(martlet, h2_recorder, size, parts):
    upstream = h2_recorder()
    text = f'listeners: [ {{ address: "127.0.0.1:0", limits: {{ head: 1MiB, fields: 1000 }} }} ]\nupstream: {upstream.url}\n'
    caller = martlet(text).connect_h2()
    fields = spread(size, parts)
    call = caller.finish(caller.open([*h2_peer.request("/large"), *fields], end=True))
    assert call.status == 200
    assert all(upstream.streams[0].header(name) == value for name, value in fields)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("size", SIZES)
def test_a_head_over_the_limit_costs_its_call(martlet, h2_recorder, protocol, size, parts):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    head, status, code = PROTOCOLS[protocol]
    other = caller.open(h2_peer.request("/other", "POST"))
    call = caller.finish(caller.open([*head, *spread(size, parts)], end=True))
    assert (call.status, call.grpc()) == (status, code)
    caller.data(other.id, b"x", end=True)
    assert caller.finish(other).status == 200
    assert [stream.path for stream in upstream.streams] == ["/other"]


def ends_large(size, parts, in_trailers):
    """An upstream that ends one call with a large section while another one waits on the same connection."""

    def respond(peer):
        streams = {}
        for _ in range(2):
            stream = peer.next_stream()
            peer.finish(stream)
            streams[stream.path] = stream.id
        large, waiting = streams["/a.B/Large"], streams["/a.B/Wait"]
        section = [("grpc-status", "5"), *spread(size, parts)]
        head = h2_peer.response(200, ("content-type", "application/grpc"))
        if in_trailers:
            peer.headers(large, head)
            peer.headers(large, section, end=True)
        else:
            peer.headers(large, [*head, *section], end=True)
        peer.headers(waiting, [*head, ("grpc-status", "0")], end=True)
        peer.wait_for_end()

    return respond


@pytest.mark.parametrize("in_trailers", [False, True], ids=["head", "trailers"])
@pytest.mark.parametrize("size, parts", [(66_000, 1), (150_000, 1), (150_000, 20), (500_000, 60)])
def test_a_large_response_costs_its_call(martlet, h2_recorder, size, parts, in_trailers):
    upstream = h2_recorder(script=ends_large(size, parts, in_trailers))
    daemon = martlet(upstream=upstream.url, more="workers: 1\n")
    one, two = daemon.connect_h2(), daemon.connect_h2()
    other = one.open(h2_peer.grpc_request("/a.B/Wait"), end=True)
    call = two.finish(two.open(h2_peer.grpc_request("/a.B/Large"), end=True))
    assert call.grpc() == "8"
    assert call.grpc("grpc-message") == "upstream default: a head exceeds limits.head"
    assert one.finish(other).grpc() == "0"


@pytest.mark.parametrize("size, parts", [(66_000, 1), (150_000, 1), (500_000, 60)])
def test_large_trailers_within_the_limit_of_an_upstream_pass(martlet, h2_recorder, size, parts):
    upstream = h2_recorder(script=ends_large(size, parts, True))
    daemon = martlet(
        "listen: 127.0.0.1:0\nworkers: 1\n"
        f"upstreams: {{ default: {{ url: {upstream.url}, limits: {{ head: 1MiB }} }} }}\nroutes: [ {{}} ]\n"
    )
    one, two = daemon.connect_h2(), daemon.connect_h2()
    other = one.open(h2_peer.grpc_request("/a.B/Wait"), end=True)
    call = two.finish(two.open(h2_peer.grpc_request("/a.B/Large"), end=True))
    assert call.grpc() == "5"
    assert dict(call.trailers)[b"x-0"] == b"v" * (size // parts)
    assert one.finish(other).grpc() == "0"
