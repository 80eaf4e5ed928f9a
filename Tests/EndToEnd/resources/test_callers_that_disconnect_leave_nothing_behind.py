"""Callers close or reset their connection at every point of a call. Nothing is left behind, and other callers are served."""

import pytest
from hyperframe.frame import HeadersFrame

from support.health import Health
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok
from support.wait import eventually

pytestmark = pytest.mark.alone

ROUNDS = 30
HEAD = b"POST /%b HTTP/1.1\r\nhost: a.example\r\ncontent-length: 100\r\n\r\n"
WHOLE = b"GET /%b HTTP/1.1\r\nhost: a.example\r\n\r\n"
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 200ms }} }} }}
interceptors: [ metrics ]
workers: 1
"""
HTTP_1 = {
    "nothing": b"",
    "half a request line": b"POST /nev",
    "half a head": HEAD[:30],
    "a head": HEAD % b"never",
    "half a body": HEAD % b"never" + b"half",
    "a request": WHOLE % b"never",
    "two requests": WHOLE % b"ok" + WHOLE % b"never",
    "half a response": WHOLE % b"half",
    "a response": WHOLE % b"ok",
}
HTTP_2 = ["nothing", "half a preface", "a preface", "half a frame", "a head without its end", "a head", "half a body"]
HTTP_2 += ["a request", "half a response", "a response", "a reset"]


def http_1(peer):
    while request := peer.request():
        match request.target:
            case "/half":
                peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
                return peer.rest()
            case "/never":
                return peer.rest()
        peer.send(OK)


def http_2(peer, stream):
    if stream.path == "/half":
        peer.headers(stream.id, h2_peer.response())
        return peer.data(stream.id, b"half")
    if stream.path == "/ok":
        response_ok(peer, stream)


def begin_1(proxy, stage):
    peer = proxy.connect()
    peer.send(HTTP_1[stage])
    while stage.endswith("a response") and b"half" not in peer.received and b"ok" not in peer.received:
        assert peer.receive()
    return peer


def begin_2(proxy, stage):
    if stage in ("nothing", "half a preface"):
        peer = proxy.connect()
        peer.send(h2_peer.PREFACE[:10] if stage == "half a preface" else b"")
        return peer
    peer = proxy.connect_h2()
    path = {"half a response": "/half", "a response": "/ok"}.get(stage, "/never")
    fields = h2_peer.request(path, "POST")
    match stage:
        case "half a frame" | "a head without its end":
            frame = HeadersFrame(1, peer.encoder.encode(fields))
            peer.write(frame.serialize()[: 15 if stage == "half a frame" else None])
        case "a head":
            peer.open(fields)
        case "half a body":
            peer.data(peer.open(fields + [("content-length", "100")]).id, b"half")
        case "a request" | "a response" | "half a response":
            call = peer.open(fields, end=True)
            if stage != "a request":
                peer.wait(lambda: call.body, "the beginning of the response")
        case "a reset":
            peer.reset(peer.open(fields).id)
    return peer


@pytest.mark.parametrize("how", ["FIN", "RST"])
@pytest.mark.parametrize("version", [1, 2], ids=["http 1", "http 2"])
@pytest.mark.parametrize("upstream", [1, 2], ids=["to http 1", "to http 2"])
def test_disconnects(martlet, recorder, h2_recorder, version, upstream, how):
    server = recorder(script=http_1) if upstream == 1 else h2_recorder(http_2)
    proxy = martlet(CONFIGURATION.format(url=server.url))
    stages, begin = (HTTP_1, begin_1) if version == 1 else (HTTP_2, begin_2)

    def one_round():
        for stage in stages:
            peer = begin(proxy, stage)
            end = {"FIN": "close", "RST": "abort" if hasattr(peer, "abort") else "reset"}[how]
            getattr(peer, end)()

    one_round()
    proxy.wait_for_rest()
    health = Health(proxy)
    for _ in range(ROUNDS):
        one_round()
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0, what="the end of all calls")
    health.check()
    metrics = proxy.metrics()
    assert metrics.total("martlet_rpc_handled_total", code="canceled") >= 3 * ROUNDS
    assert metrics.total("martlet_rpc_started_total") == metrics.total("martlet_rpc_handled_total")
    with proxy.http() as http:
        assert http.get("/ok").text == "ok"
