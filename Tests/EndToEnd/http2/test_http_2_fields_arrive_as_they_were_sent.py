"""Over HTTP/2 on both sides, heads, trailers and statuses pass with every field in its place."""

import pytest

from support.http2 import h2_peer

MANY = [
    ("x-one", "1"),
    ("x-twice", "first"),
    ("x-between", "a, b"),
    ("x-twice", "second"),
    ("x-empty", ""),
    ("x-obs", b"caf\xe9 \xe2\x98\x83"),
    ("x-token!#$%&'*+-.^_`|~", "odd name"),
    ("x-twice", "third"),
    ("x-long", "l" * 5000),
]
OWN = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in MANY]


def own(fields):
    return [(name, value) for name, value in fields if name.startswith(b"x-")]


def responding(status, trailers=()):
    def response(peer, stream):
        peer.finish(stream)
        peer.headers(stream.id, h2_peer.response(status, *MANY), end=not trailers)
        if trailers:
            peer.data(stream.id, b"body")
            peer.headers(stream.id, trailers, end=True)

    return response


def test_heads_and_trailers(martlet, h2_recorder):
    upstream = h2_recorder(responding(200, MANY))
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/path?query=1&x=%2f", "POST", *MANY))
    caller.data(call.id, b"body")
    caller.headers(call.id, MANY, end=True)
    caller.finish(call)
    seen = upstream.streams[0]
    assert (seen.header(":method"), seen.header(":scheme"), seen.path) == ("POST", "http", "/path?query=1&x=%2f")
    assert own(seen.fields) == own(seen.trailers) == OWN
    assert own(call.fields) == own(call.trailers) == OWN
    assert (seen.body, call.body) == (b"body", b"body")
    for fields in (seen.fields, call.fields):
        names = [name for name, _ in fields]
        pseudo = [name for name in names if name.startswith(b":")]
        assert names[: len(pseudo)] == pseudo and len(set(pseudo)) == len(pseudo)


@pytest.mark.parametrize("status", [200, 201, 204, 299, 304, 404, 418, 451, 500, 599, 800, 999])
def test_statuses(martlet, h2_recorder, status):
    caller = martlet(upstream=h2_recorder(responding(status)).url).connect_h2()
    call = caller.finish(caller.open(h2_peer.request(), end=True))
    assert (call.status, own(call.fields), call.body, call.reset) == (status, OWN, b"", None)


@pytest.mark.parametrize("status", [299, 800])
def test_odd_statuses_of_a_grpc_upstream(martlet, h2_recorder, status):
    caller = martlet(upstream=h2_recorder(responding(status)).url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (call.status, own(call.fields)) == (status, OWN)


def test_informational_responses(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, [(":status", "103"), ("link", "</style.css>")])
        peer.headers(stream.id, [(":status", "103"), ("link", "</more.css>")])
        responding(200)(peer, stream)

    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.finish(caller.open(h2_peer.request(), end=True))
    assert [dict(head)[b"link"] for head in call.informational] == [b"</style.css>", b"</more.css>"]
    assert call.status == 200


def test_trailers_only(martlet, h2_recorder):
    ends = [("content-type", "application/grpc"), ("grpc-status", "5"), ("grpc-message", "no%20such"), ("x-more", "1")]
    ends.append(("date", "Sat, 28 Nov 2026 12:00:00 GMT"))

    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, *ends), end=True)

    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert len(call.heads) == 1
    assert [(name.decode(), value.decode()) for name, value in call.fields if name != b":status"] == ends
    assert not [frame for frame in call.frames if type(frame).__name__ == "DataFrame"]


def test_trailers_after_nothing(martlet, h2_recorder):
    def response(peer, stream):
        peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
        peer.headers(stream.id, [("grpc-status", "0")], end=True)

    caller = martlet(upstream=h2_recorder(response).url).connect_h2()
    call = caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert (len(call.heads), call.trailers, call.body) == (2, [(b"grpc-status", b"0")], b"")


def test_hop_by_hop_fields_are_not_forwarded(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    caller.finish(caller.open(h2_peer.request("/", "POST", ("te", "trailers"), ("x-kept", "1")), end=True))
    assert upstream.streams[0].header("x-kept") == "1"
    assert upstream.streams[0].header("te") in (None, "trailers")
    caller.finish(caller.open(h2_peer.grpc_request("/a.B/C"), end=True))
    assert upstream.streams[1].header("te") == "trailers"
