"""The line of `martlet curl` repeats each method with each kind of body: it ends, and the server gets the same request."""

import pytest
from support.http2 import h2_peer

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
BODIES = {
    "none": None,
    "empty": b"",
    "bytes": b"it's $HOME",
    "binary": bytes(range(256)),
    "large": b"0123456789abcde\n" * 900,
}
# A body of a known length, or one whose end is known when it comes.
FRAMINGS = [(name, framing) for name in BODIES for framing in (("length",) if name == "none" else ("length", "pieces"))]
VIEWS = ["caller", "upstream"]


@pytest.fixture
def upstream(recorder):
    """Responds to each request, and closes the connection when it is asked to."""

    def script(peer):
        while request := peer.request():
            recorded.requests.append(request)
            peer.send(ok(request))
            if request.header("connection") == "close":
                return

    recorded = recorder(script=script)
    return recorded


def ok(request):
    """A response to a HEAD has no body, whatever its head says."""
    if request.method != "HEAD":
        return b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    length = {"/chunks": "transfer-encoding: chunked\r\n", "/": ""}.get(request.target, "content-length: 5\r\n")
    return f"HTTP/1.1 200 OK\r\n{length}\r\n".encode()


def h2_ok(peer, stream):
    peer.finish(stream)
    if stream.header(":method") == "HEAD":
        peer.headers(stream.id, h2_peer.response(200, ("content-length", "5")), end=True)
    else:
        peer.headers(stream.id, h2_peer.response())
        peer.data(stream.id, b"ok", end=True)


def send(proxy, version, method, body, framing):
    """Sends a request to the end of its response."""
    length = [] if body is None or framing == "pieces" else [("content-length", str(len(body)))]
    if version == 2:
        peer = proxy.connect_h2()
        ends = body is None or body == b"" and framing == "length"
        stream = peer.open(h2_peer.request("/long?a=b", method, ("x-a", "it's"), *length), end=ends)
        if not ends:
            peer.data(stream.id, body, end=True)
        assert peer.finish(stream).status == 200
        return
    fields = [("host", "a.example"), ("x-a", "it's"), *length]
    content = body or b""
    if body is not None and framing == "pieces":
        fields.append(("transfer-encoding", "chunked"))
        content = (b"%x\r\n" % len(content) + content + b"\r\n" if content else b"") + b"0\r\n\r\n"
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    peer = proxy.connect()
    peer.send(f"{method} /long?a=b HTTP/1.1\r\n{head}\r\n".encode() + content)
    assert peer.response(method).status == 200
    peer.close()


def repeated(proxy, seen, shell, number):
    """Runs the lines of both views of a call."""
    call = seen.until("end", number + 1)[number]["call"]
    for view in VIEWS:
        line = proxy.admin(f"/calls/{call}/curl?view={view}").text
        result = shell(line)
        assert result.returncode == 0, (line[-500:], result.stdout, result.stderr)


def plain(request):
    """A request without what says that the connection ends, which curl has to be told with a HEAD."""
    headers = sorted((name, value) for name, value in request.headers if (name, value) != ("connection", "close"))
    return request.method, request.target, headers, request.body


@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name, framing", FRAMINGS)
def test_to_http_1(martlet, upstream, tap, shell, name, framing, version):
    proxy = martlet(upstream=upstream.url)
    seen = tap(proxy, rate="10000/s")
    for number, method in enumerate(METHODS):
        send(proxy, version, method, BODIES[name], framing)
        # Repeated calls are seen, too.
        repeated(proxy, seen, shell, 2 * number)
        first, *others = map(plain, upstream.requests[3 * number :])
        assert others == [first, first], (method, first, others)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name, framing", FRAMINGS)
def test_to_http_2(martlet, h2_recorder, tap, shell, name, framing, version):
    upstream = h2_recorder(h2_ok)
    proxy = martlet(upstream=upstream.url)
    seen = tap(proxy, rate="10000/s")
    for number, method in enumerate(METHODS):
        send(proxy, version, method, BODIES[name], framing)
        repeated(proxy, seen, shell, 2 * number)
        upstream.wait_for_streams(3 * number + 3)
        first, *others = [(sorted(one.fields), bytes(one.body)) for one in upstream.streams[3 * number :]]
        assert others == [first, first], (method, first, others)


@pytest.mark.parametrize("target", ["/long", "/chunks", "/"])
def test_a_line_for_a_head_with_a_body_ends_whatever_the_response_says(martlet, upstream, tap, shell, target):
    proxy = martlet(upstream=upstream.url)
    seen = tap(proxy)
    peer = proxy.connect()
    peer.send(f"HEAD {target} HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n\r\nx".encode())
    assert peer.response("HEAD").status == 200
    repeated(proxy, seen, shell, 0)
    assert [request.body for request in upstream.requests] == [b"x"] * 3
