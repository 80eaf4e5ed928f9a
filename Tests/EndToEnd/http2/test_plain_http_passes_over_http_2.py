"""curl's HTTP/2 with prior knowledge: methods, statuses without a body, cookies, trailers, to both versions."""

import subprocess

import pytest

from support.http2 import h2_peer

VERSIONS = ["upstream-1", "upstream-2"]
RESPONSES = {
    "/": (200, b"hello"),
    "/none": (204, b""),
    "/same": (304, b""),
    "/gone": (404, b"no such thing"),
    "/trailers": (200, b"ok"),
    "/big": (200, b"0123456789abcdef" * 65536),
}


def over_http_1(request):
    status, body = RESPONSES[request.target]
    fields = b"x-saw: %s\r\n" % "|".join(request.values("cookie")).encode()
    if request.target == "/trailers":
        return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nx-sum: 5\r\n\r\n"
    if status in (204, 304):
        return b"HTTP/1.1 %d -\r\n%s\r\n" % (status, fields)
    body = request.body or body
    length = b"content-length: %d\r\n" % len(body)
    return b"HTTP/1.1 %d -\r\n%s%s\r\n%s" % (status, fields, length, b"" if request.method == "HEAD" else body)


def over_http_2(peer, stream):
    peer.finish(stream)
    status, body = RESPONSES[stream.path]
    body = bytes(stream.body) or body
    fields = [("x-saw", b"|".join(stream.values("cookie")))]
    if stream.path == "/trailers":
        peer.headers(stream.id, h2_peer.response(200))
        peer.data(stream.id, b"ok")
        peer.headers(stream.id, [("x-sum", "5")], end=True)
    elif status in (204, 304) or stream.header(":method") == "HEAD":
        length = [] if status in (204, 304) else [("content-length", str(len(body)))]
        peer.headers(stream.id, h2_peer.response(status, *fields, *length), end=True)
    else:
        peer.headers(stream.id, h2_peer.response(status, *fields, ("content-length", str(len(body)))))
        peer.data(stream.id, body, end=True)


@pytest.fixture(params=VERSIONS)
def upstream(request, recorder, h2_recorder):
    return recorder(over_http_1) if request.param == "upstream-1" else h2_recorder(over_http_2)


@pytest.fixture
def curl(martlet, upstream):
    proxy = martlet(upstream=upstream.url)

    def run(path, *arguments):
        command = ["curl", "-sS", "--noproxy", "*", "--http2-prior-knowledge", "--max-time", "10", *arguments]
        written = "\n%{http_version} %{http_code} %{size_download} %header{x-saw}"
        output = subprocess.check_output([*command, "-w", written, proxy.url + path], timeout=15)
        body, _, summary = output.rpartition(b"\n")
        version, code, size, *saw = summary.decode().split(" ", 3)
        assert version == "2"
        return int(code), body, int(size), "".join(saw)

    return run


@pytest.mark.parametrize("path", ["/", "/none", "/same", "/gone", "/big"])
def test_get(curl, path):
    status, body = RESPONSES[path]
    assert curl(path)[:2] == (status, body)


def test_head(curl):
    status, head, size, _ = curl("/big", "--head")
    assert (status, size) == (200, 0)
    assert b"content-length: %d\r\n" % len(RESPONSES["/big"][1]) in head


def test_post(curl, tmp_path):
    file = tmp_path / "body"
    file.write_bytes(bytes(range(256)) * 4096)
    assert curl("/", "--data-binary", f"@{file}")[:2] == (200, file.read_bytes())


def test_cookies(curl):
    # RFC 9113 section 8.2.3: where several fields are joined, it is by a semicolon.
    assert curl("/", "-H", "cookie: a=1; b=2", "-H", "cookie: c=3")[3].replace("|", "; ") == "a=1; b=2; c=3"


def test_trailers(curl):
    status, output, *_ = curl("/trailers", "-i")
    assert (status, output.split(b"\r\n\r\n", 1)[1]) == (200, b"okx-sum: 5\r\n")


def test_cookie_crumbs_become_one_field_toward_http_1(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect_h2()
    call = caller.open(h2_peer.request("/", "GET", ("cookie", "a=1"), ("x-other", "1"), ("cookie", "b=2")), end=True)
    caller.finish(call)
    assert upstream.requests[0].values("cookie") == ["a=1; b=2"]
