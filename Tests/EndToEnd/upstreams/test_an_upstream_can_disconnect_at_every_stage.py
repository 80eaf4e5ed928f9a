"""Wherever an upstream disconnects, the caller gets an error in its protocol, or a truncated response if it had begun."""

import threading

import pytest
from hyperframe.frame import DataFrame, HeadersFrame

from support.health import Health
from support.http2 import h2_peer
from support.raw_call import GRPC, WAYS, RawCall, response_parts

pytestmark = pytest.mark.waits

# What an upstream has sent when it breaks off.
STAGES = ["nothing", "half a head", "a head", "half a message", "a message", "no end", "all"]
CONFIGURATION = """
listen: 127.0.0.1:0
upstreams: {{ default: {{ url: "{url}", timeouts: {{ idle: 100ms }} }} }}
interceptors: [ metrics ]
workers: 1
"""


class Breaking:
    """What an upstream does that breaks off in a `stage`, in either version of HTTP; `go_on` lets it break off."""

    def __init__(self, how):
        self.stage, self.how = 0, how
        self.resume = threading.Event()

    def part(self, kind):
        """What the caller gets of the body before the end, None if not even a head."""
        _, message, _ = response_parts(kind)
        return [None, None, b"", message[: len(message) // 2], message, message, message][self.stage]

    def http_1(self, peer):
        while request := peer.request():
            kind, message, end = response_parts(request.header("content-type"))
            head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
            size = b"%x\r\n" % len(message)
            last = b"%x\r\n%b\r\n0\r\n" % (len(end), end) if end else b"0\r\n"
            half = len(message) // 2
            pieces = [b"", head[:20], head[20:], size + message[:half], message[half:] + b"\r\n", last, b"x-end: 1\r\n\r\n"]
            is_fine = request.target.startswith("/fine")
            peer.send(b"".join(pieces if is_fine else pieces[: self.stage + 1]))
            if not is_fine:
                return self._break_off(peer, peer.reset, peer.rest)

    def http_2(self, peer):
        while stream := peer.next_stream():
            peer.finish(stream)
            kind, message, end = response_parts(stream.header("content-type"))
            trailers = HeadersFrame(stream.id, flags=["END_STREAM", "END_HEADERS"])
            head = HeadersFrame(stream.id, peer.encoder.encode(h2_peer.response(200, ("content-type", kind))))
            head.flags.add("END_HEADERS")
            trailers.data = peer.encoder.encode([("grpc-status" if kind == GRPC.content_type else "x-end", "0")])
            head, body = head.serialize(), DataFrame(stream.id, message).serialize()
            half = 9 + len(message) // 2
            pieces = [b"", head[:12], head[12:], body[:half], body[half:], DataFrame(stream.id, end).serialize()]
            sent = len(STAGES) if stream.path.startswith("/fine") else self.stage + 1
            peer.write(b"".join([*pieces, trailers.serialize()][:sent]))
            if not stream.path.startswith("/fine"):
                return self._break_off(peer, peer.abort, peer.wait_for_end)

    def _break_off(self, peer, reset, rest):
        assert self.resume.wait(10)
        self.resume.clear()
        if self.how == "reset":
            reset()
        elif self.how == "half_close":
            peer.socket.shutdown(1)
            rest()  # which comes to an end when Martlet closes its side


def expected(stage, caller):
    """What may become of a call."""
    is_stream = caller.response_type != "application/json"
    match stage:
        case "nothing" | "half a head":
            return {"unavailable"}
        case "a head" | "a message":
            return {"unavailable"} if is_stream else {"cut off"}
        case "no end":
            # The body is whole, and nothing may be put behind it; gRPC has its status in what has not come.
            return {"unavailable"} if caller is GRPC else {"cut off"}
        case "half a message":
            return {"cut off"}
    return {"ok"}


@pytest.mark.parametrize("upstream", [1, 2], ids=["from http 1", "from http 2"])
@pytest.mark.parametrize("how", ["close", "reset", "half_close"])
def test_disconnects(martlet, recorder, h2_recorder, how, upstream):
    breaking = Breaking(how)
    server = recorder(script=breaking.http_1) if upstream == 1 else h2_recorder(script=breaking.http_2)
    proxy = martlet(CONFIGURATION.format(url=server.url))
    health = Health(proxy)
    ways = [way for way in WAYS if way[0] is not GRPC or upstream == 2]
    for breaking.stage, stage in enumerate(STAGES):
        for caller, version in ways:
            outcome = one_call(breaking, RawCall(proxy, caller, version), health)
            assert outcome in expected(stage, caller), f"{caller} over HTTP/{version} after {stage}: {outcome}"
    metrics = proxy.metrics()
    assert metrics.total("martlet_upstream_attempts_total", result="reset") == len(ways) * (len(STAGES) - 1)
    assert metrics.total("martlet_upstream_attempts_total", result="ok") == len(ways)
    assert metrics.total("martlet_upstream_retries_total") == 0
    health.check()
    for caller, version in ways:
        assert RawCall(proxy, caller, version, "/fine").outcome() == "ok"


def one_call(breaking, call, health):
    """The upstream breaks off when the caller has what was sent before; returns the outcome."""
    part = breaking.part(call.caller.content_type)
    if breaking.stage == len(STAGES) - 1:
        outcome = call.outcome()
        breaking.resume.set()
        health.wait_for_descriptors()  # so that the next call gets another connection
        return outcome
    if part is not None:
        call.wait_for(part)
    breaking.resume.set()
    return call.outcome()
