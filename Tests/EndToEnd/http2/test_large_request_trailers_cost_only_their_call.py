"""Request trailers over a limit, of Martlet or of the upstream, cost their call alone. The error has the limit's name."""

import pytest
from hyperframe.frame import SettingsFrame

from support.http2 import h2_peer
from support.http2.h2_recorder import response_ok

LIMIT = 8192
NAME = "SETTINGS_MAX_HEADER_LIST_SIZE"
# The content type, a body, and the status and code of an error.
PROTOCOLS = {
    "plain HTTP": ("text/plain", b"x", 431, None),
    "Connect": ("application/json", b"{}", 431, None),
    "Connect stream": ("application/connect+json", b"\0\0\0\0\x02{}", 200, None),
    "gRPC": ("application/grpc", b"\0\0\0\0\0", 200, "8"),
    "gRPC-Web": ("application/grpc-web+proto", b"\0\0\0\0\0", 200, None),
}
# The fields, the bytes of all of them, and the limit that they exceed.
TRAILERS = {
    "of the upstream": (1, 9000, NAME),
    "of the upstream, in many fields": (50, 9000, NAME),
    "of the size": (1, 70_000, "limits.head"),
    "of the size, by far": (1, 300_000, "limits.head"),
    "of the number": (300, 3000, "limits.fields"),
}


def trailers(count, size):
    return [(f"x-{number}", "v" * (size // count)) for number in range(count)]


def call_http2(daemon, content_type, body, fields):
    """Makes a call over HTTP/2; returns its status, its `grpc-status`, and all text of the response."""
    caller = daemon.connect_h2()
    call = caller.open(h2_peer.request("/a.B/C", "POST", ("content-type", content_type), ("te", "trailers")))
    caller.data(call.id, body)
    caller.headers(call.id, fields, end=True)
    caller.finish(call)
    assert caller.goaway is None and not caller.ended
    return call.status, call.grpc(), (call.grpc("grpc-message") or "") + call.body.decode(errors="replace")


def call_http1(daemon, content_type, body, fields):
    """Makes a call over HTTP/1.1; returns the same."""
    caller = daemon.connect()
    head = f"POST /a.B/C HTTP/1.1\r\nhost: a.example\r\ncontent-type: {content_type}\r\nte: trailers\r\n"
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    chunk = b"%x\r\n%b\r\n" % (len(body), body)
    caller.send(f"{head}transfer-encoding: chunked\r\n\r\n".encode() + chunk + f"0\r\n{lines}\r\n".encode())
    response = caller.response("POST")
    text = (response.header("grpc-message") or "") + response.body.decode(errors="replace")
    return response.status, response.header("grpc-status"), text


CALLS = [call_http2, call_http1]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_trailers_within_the_limits(martlet, h2_recorder, call, protocol):
    upstream = h2_recorder(settings={SettingsFrame.MAX_HEADER_LIST_SIZE: LIMIT})
    content_type, body, *_ = PROTOCOLS[protocol]
    fields = trailers(20, 7000)
    assert call(martlet(upstream=upstream.url), content_type, body, fields)[0] == 200
    assert [(name.decode(), value.decode()) for name, value in upstream.streams[0].heads[-1]] == fields


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("limit", TRAILERS)
def test_trailers_over_a_limit(martlet, h2_recorder, call, protocol, limit):
    upstream = h2_recorder(settings={SettingsFrame.MAX_HEADER_LIST_SIZE: LIMIT})
    daemon = martlet(upstream=upstream.url, more="workers: 1\n")
    one = daemon.connect_h2()
    other = one.open(h2_peer.request("/other", "POST"))
    upstream.wait_for_streams(1)
    content_type, body, *expected = PROTOCOLS[protocol]
    count, size, name = TRAILERS[limit]
    *found, text = call(daemon, content_type, body, trailers(count, size))
    assert found == expected
    assert name in text
    one.data(other.id, b"x", end=True)
    assert one.finish(other).status == 200
    assert len(upstream.connections) == 1
    assert all(len(stream.heads) == 1 for stream in upstream.streams)


@pytest.mark.parametrize("limit", TRAILERS)
def test_trailers_over_a_limit_after_the_response_head(martlet, h2_recorder, limit):
    def respond(peer):
        while stream := upstream.next_stream(peer):
            if stream.path != "/a.B/C":
                response_ok(peer, stream)
                continue
            peer.headers(stream.id, h2_peer.response(200, ("content-type", "application/grpc")))
            peer.data(stream.id, b"\0\0\0\0\0")

    upstream = h2_recorder(script=respond, settings={SettingsFrame.MAX_HEADER_LIST_SIZE: LIMIT})
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.grpc_request("/a.B/C"))
    caller.data(call.id, b"\0\0\0\0\0")
    caller.wait(lambda: len(call.body) == 5, "a message")
    count, size, name = TRAILERS[limit]
    caller.headers(call.id, trailers(count, size), end=True)
    caller.finish(call)
    assert (call.status, call.grpc(), bytes(call.body)) == (200, "8", b"\0\0\0\0\0")
    assert name in call.grpc("grpc-message")
    assert caller.finish(caller.open(h2_peer.request("/next"), end=True)).status == 200
