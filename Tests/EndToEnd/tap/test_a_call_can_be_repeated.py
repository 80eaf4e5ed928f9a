"""The line of `martlet curl` sends the same request again: run in `sh`, it gives the upstream the same bytes."""

import random
import re
import string

import pytest
from connectrpc.protocol import ProtocolType
from support import protocol
from support.http1.recorder import OK
from support.martlet import Command
from support.servers.eliza import Client
from support.servers.eliza_messages import descriptor_set
from support.wait import eventually

NASTY = "'\"$`\\!*?[]{}()<>|&;#~ \t=%@^-"
WORDS = ["'", "''", '"', "$HOME", "${X}", "$(id)", "`id`", "\\", "\\n", "!!", "*", "@/etc/hosts", "-H", "--", ";", "a b", "☃", "%41"]


def visible(bits):
    """Text that a header may have."""
    text = "".join(bits.choice(NASTY + string.ascii_letters) if bits.random() < 0.7 else bits.choice(WORDS) for _ in range(bits.randint(1, 30)))
    # Bytes that are no UTF-8 are allowed, too (RFC 9110, section 5.5).
    return text.strip().encode() + (b"caf\xe9" if bits.random() < 0.1 else b"")


def target(bits):
    safe = "'$!*();&~=@,-.[]"
    words = ["".join(bits.choice(safe + string.ascii_letters) for _ in range(bits.randint(1, 12))) for _ in range(3)]
    return f"/{words[0]}?{words[1]}={words[2]}".encode()


def body(bits):
    kind = bits.randrange(4)
    if kind == 0:
        return bits.randbytes(bits.randint(1, 200))
    if kind == 1:
        return ("\n".join(bits.choice(WORDS + ["", "MARTLET", "EOF"]) for _ in range(bits.randint(1, 9)))).encode() or b"x"
    if kind == 2:
        return bits.randbytes(9000)
    return "".join(bits.choice(NASTY + "\n\r\0\x1b\u202e") for _ in range(bits.randint(1, 60))).encode()


def request(bits):
    """A request in HTTP/1.1, and whether it has a length."""
    method = bits.choice([b"POST", b"PUT", b"PATCH", b"DELETE", b"GET", b"HEAD", b"OPTIONS"])
    lines = [b"host: " + bits.choice([b"a.example", b"127.0.0.1:1", b"[::1]:9"])]
    for number in range(bits.randint(0, 5)):
        lines.append(b"x-%d: " % number + visible(bits))
    if bits.random() < 0.2:
        lines.append(b"x-empty:")
    for name in (b"user-agent", b"accept"):
        if bits.random() < 0.5:
            lines.append(name + b": " + visible(bits))
    if method in (b"GET", b"HEAD"):
        return b"\r\n".join([method + b" " + target(bits) + b" HTTP/1.1", *lines, b"", b""])
    content = body(bits)
    if bits.random() < 0.5:
        lines.append(b"content-type: " + bits.choice([b"text/plain", b"application/octet-stream"]))
    if bits.random() < 0.7:
        return b"\r\n".join([method + b" " + target(bits) + b" HTTP/1.1", *lines, b"content-length: %d" % len(content), b"", content])
    chunk = b"%x\r\n" % len(content) + content + b"\r\n0\r\n\r\n"
    return b"\r\n".join([method + b" " + target(bits) + b" HTTP/1.1", *lines, b"transfer-encoding: chunked", b"", chunk])


def split(seen):
    """The head and the body of what an upstream has been sent; chunks are joined."""
    head, _, rest = bytes(seen).partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in head.lower():
        parts = []
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            parts.append(rest[: int(size, 16)])
            rest = rest[int(size, 16) + 2 :]
        rest = b"".join(parts)
    return head.split(b"\r\n"), rest


def plain(seen):
    """A request without what curl does in a way of its own: the order of what frames the body, and spaces."""
    head, content = seen
    return head[0], sorted(line.lower().rstrip() for line in head[1:]), content


@pytest.fixture
def upstream(recorder):
    """Closes each connection, so that each request is one of its own."""

    def script(peer):
        if peer.request():
            peer.send(OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n"))

    return recorder(script=script)


def received(upstream, number):
    return split(upstream.connections[number].received)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(6))
def test_random_requests(martlet, upstream, tap, shell, seed):
    bits = random.Random(seed)
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { headers: { request: { set: { x-added: \"it's $HOME\" } } } } ]")
    seen = tap(proxy, rate="10000/s")
    for number in range(25):
        raw = request(bits)
        peer = proxy.connect()
        peer.send(raw)
        response = peer.response(raw.split(b" ")[0].decode())
        assert response.status == 200, (raw, response.body)
        peer.close()
        # Repeated calls are seen, too.
        call = seen.until("end", 2 * number + 1)[2 * number]["call"]
        first = received(upstream, 3 * number)
        for view, offset in (("caller", 1), ("upstream", 2)):
            line = proxy.admin(f"/calls/{call}/curl?view={view}").text
            result = shell(line)
            assert result.returncode == 0, (line, raw, result.stderr)
            again = received(upstream, 3 * number + offset)
            if view == "upstream":
                assert plain(again) == plain(first), line
            else:
                assert again == first, (first[0], again[0], line[-300:])


@pytest.mark.parametrize("way", protocol.ALL, ids=str)
@pytest.mark.parametrize("version", [1, 2])
def test_every_protocol(martlet, recorder, h2_recorder, tap, shell, way, version):
    upstream = h2_recorder()
    proxy = martlet(upstream=upstream.url)
    seen = tap(proxy)
    with proxy.http(http1=version == 1, http2=version == 2) as http:
        way.call(http, headers={"x-quote": "it's \"$HOME\""})
    call = seen.until("end")[0]["call"]
    for number, view in enumerate(("caller", "upstream"), 2):
        line = proxy.admin(f"/calls/{call}/curl?view={view}").text
        result = shell(line)
        assert result.returncode == 0, (line, result.stderr)
        again = upstream.wait_for_streams(number)
        first = upstream.streams[0]
        assert sorted(again.fields) == sorted(first.fields), line
        assert bytes(again.body) == bytes(first.body)


def test_secrets_are_variables(martlet, upstream, tap, shell):
    proxy = martlet(upstream=upstream.url)
    seen = tap(proxy)
    with proxy.http() as http:
        http.get("/a?access_token=geheim&x=1", headers={"authorization": "Bearer geheim", "x-api-key": "geheim"})
    line = proxy.admin(f"/calls/{seen.until('end')[0]['call']}/curl").text
    assert "geheim" not in line
    first = line.splitlines()[0]
    assert re.fullmatch(r"# export MARTLET_AUTHORIZATION=… MARTLET_X_API_KEY=… MARTLET_ACCESS_TOKEN=…", first), first
    assert shell(line).returncode != 0  # a variable that is not set is an error with sh -u
    variables = {"MARTLET_AUTHORIZATION": "Bearer geheim", "MARTLET_X_API_KEY": "geheim", "MARTLET_ACCESS_TOKEN": "geheim"}
    assert shell(line, **variables).returncode == 0
    assert received(upstream, 1) == received(upstream, 0)


def test_over_tls_and_unix_sockets(martlet, recorder, authority, tap, shell, tmp_path):
    ours = authority()
    upstream = recorder(tls=ours.issue().server())
    proxy = martlet(
        f"""
        listen: "unix:{tmp_path}/it's.sock"
        upstreams: {{ default: {{ url: "{upstream.url}", tls: {{ ca: {ours.file} }} }} }}
        """
    )
    seen = tap(proxy)
    with proxy.http() as http:
        http.post("/a", content=b"it's")
    call = seen.until("end")[0]["call"]
    for view in ("caller", "upstream"):
        assert shell(proxy.admin(f"/calls/{call}/curl?view={view}").text).returncode == 0
    assert [request.body for request in upstream.requests] == [b"it's"] * 3


def test_calls_that_failed_are_kept_without_a_tap(martlet, upstream, command):
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { when: { path: /no }, reject: { code: aborted } } ]")
    with proxy.http() as http:
        http.get("/no", headers={"x-a": "b"})
        http.post("/no", content=b"body")
    by_body, by_get = proxy.admin("/calls/recent").json()["calls"]
    result = command("curl", "-c", proxy.file, by_get["call"][:8])
    assert result.code == 0 and "-H 'x-a: b'" in result.stdout.text
    result = command("curl", "-c", proxy.file, by_body["call"])
    assert result.code == 0 and "# the body of the request is not kept: no tap was open" in result.stdout.text
    assert "--data-binary @body" in result.stdout.text
    result = command("curl", "-c", proxy.file, by_get["call"], "--view", "upstream")
    assert result.code == 1 and "it did not go upstream" in result.stderr.text


def test_messages_for_programs_that_speak_rpc(martlet, eliza, tap, tmp_path):
    (tmp_path / "eliza.binpb").write_bytes(descriptor_set())
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {eliza.h2c_url}\ntypes: {{ files: {tmp_path}/eliza.binpb }}")
    seen = tap(proxy)
    client = Client(proxy.url, "proto", 2, protocol=ProtocolType.GRPC)
    list(client.converse(["it's", "b"], headers={"x-a": "1"}))
    call = seen.until("end")[0]["call"]
    path = "connectrpc.eliza.v1.ElizaService/Converse"
    address = proxy.url.removeprefix("http://")
    line = proxy.admin(f"/calls/{call}/curl?with=grpcurl").text
    assert line.split(" \\\n  ")[1:] == ["-plaintext", "-H 'x-a: 1'", "-d '{\"sentence\":\"it'\\''s\"}\n{\"sentence\":\"b\"}'", address, f"{path}\n"]
    line = proxy.admin(f"/calls/{call}/curl?with=buf").text
    assert "--protocol grpc" in line and "--http2-prior-knowledge" in line and line.endswith(f"http://{address}/{path}\n")


@pytest.mark.parametrize(
    "path, status, error",
    [
        ("/calls/abcdef/curl", 404, 'the call "abcdef" is not kept'),
        ("/calls/abc/curl", 400, '"abc" is too short'),
        ("/calls/abcdef/curl?view=server", 400, '"server" is not a view; write caller or upstream'),
        ("/calls/abcdef/curl?with=wget", 400, '"wget" is not a tool; write one of curl, grpcurl, buf'),
    ],
)
def test_what_cannot_be_repeated(martlet, recorder, path, status, error):
    response = martlet(upstream=recorder().url).admin(path)
    assert response.status_code == status and error in response.text


def test_plain_http_is_not_for_programs_that_speak_rpc(martlet, recorder, tap):
    proxy = martlet(upstream=recorder().url)
    seen = tap(proxy)
    with proxy.http() as http:
        http.get("/")
    call = seen.until("end")[0]["call"]
    for tool in ("grpcurl", "buf"):
        response = proxy.admin(f"/calls/{call}/curl?with={tool}")
        assert response.status_code == 422 and "with=curl" in response.text


def test_the_tap_prints_lines(martlet, upstream, running, shell):
    proxy = martlet(upstream=upstream.url)
    shown = running(Command("tap", "-c", proxy.file, "-o", "curl", "-n", "1"))

    def is_over():
        with proxy.http() as http:
            http.get("/a'b")
        return "path-as-is" in shown.stdout.text

    eventually(is_over, what="a line")
    assert shown.exit_code() == 0 and shell(shown.stdout.text).returncode == 0
