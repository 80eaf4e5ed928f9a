"""A caller that waits for 100 (Continue) gets the one that the upstream says, once, and its body goes on."""

import subprocess

HEAD = b"POST /p HTTP/1.1\r\nhost: a.example\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n"


def test_a_caller_that_waits(martlet, recorder):
    def script(peer):
        head = peer.head()
        assert b"expect: 100-continue" in head.lower()
        peer.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        assert peer.take(5) == b"hello"
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    upstream = recorder(script=script)
    caller = martlet(upstream=upstream.url).connect()
    caller.send(HEAD)
    assert caller.head().startswith(b"HTTP/1.1 100 ")
    caller.send(b"hello")
    assert caller.head().startswith(b"HTTP/1.1 200 ")
    assert not upstream.failures


def test_a_caller_that_does_not_wait(martlet, recorder):
    upstream = recorder()
    caller = martlet(upstream=upstream.url).connect()
    caller.send(HEAD + b"hello")
    assert caller.answer("POST").status == 200
    assert upstream.requests[0].body == b"hello"


def test_curl(martlet, nginx, tmp_path):
    upstream = nginx("location / { client_body_buffer_size 64k; proxy_pass http://127.0.0.1:1; }")
    (tmp_path / "body").write_bytes(b"x" * 2_000_000)
    proxy = martlet(upstream=upstream.url)
    command = ["curl", "-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Expect: 100-continue"]
    status = subprocess.check_output([*command, "-T", tmp_path / "body", proxy.url + "/p"], timeout=20)
    assert status == b"502"  # nginx read it all and found nobody to pass it to
