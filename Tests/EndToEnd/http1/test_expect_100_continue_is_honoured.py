"""A caller that waits for 100 (Continue) gets the upstream's, once, and then sends its body."""

import subprocess

HEAD = b"POST /p HTTP/1.1\r\nhost: a.example\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n"

REFUSAL = b"HTTP/1.1 417 Expectation Failed\r\ncontent-length: 0\r\n\r\n"


def test_a_caller_that_waits(martlet, recorder):
    def script(peer):
        heads.append(peer.head().lower())
        peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        bodies.append(peer.read_exactly(5))
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    heads, bodies = [], []
    upstream = recorder(script=script)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(HEAD)
    assert caller.head().startswith(b"HTTP/1.1 100 ")
    caller.send(b"hello")
    response = caller.response("POST")
    assert (response.status, response.informational) == (200, [])
    assert b"\r\nexpect: 100-continue\r\n" in heads[0]
    assert bodies == [b"hello"]


def test_an_error_instead(martlet, recorder):
    upstream = recorder(script=lambda peer: (peer.head(), peer.send(REFUSAL), peer.rest()))
    caller = martlet(upstream=upstream.url).connect()
    caller.send(HEAD)
    assert caller.response("POST").status == 417
    # Whether the body still follows is not known, so the connection is of no more use.
    assert caller.has_ended()


def test_a_caller_that_does_not_wait(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(HEAD + b"hello")
    assert caller.response("POST").status == 200
    assert upstream.requests[0].body == b"hello"


def test_curl(martlet, nginx, tmp_path):
    upstream = nginx("location / { client_body_buffer_size 64k; proxy_pass http://127.0.0.1:1; }")
    (tmp_path / "body").write_bytes(b"x" * 2_000_000)
    proxy = martlet(upstream=upstream.url)
    command = ["curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect: 100-continue"]
    status = subprocess.check_output([*command, "-T", tmp_path / "body", proxy.url + "/p"], timeout=20)
    assert status == b"502"  # nginx read it all and had no upstream for it
