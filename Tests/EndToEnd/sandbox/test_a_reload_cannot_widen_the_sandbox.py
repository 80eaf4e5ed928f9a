"""A reload has what its sandbox allows; one that needs more is rejected, says why, and changes nothing."""

import json
import re

import pytest

from support.wait import eventually

ADVICE = '; restart Martlet, run "martlet upgrade", or restart it with sandbox: off'


@pytest.fixture
def proxy(martlet, recorder, installed):
    """A daemon whose file needs nothing special."""
    return martlet(upstream=recorder().url, directory=installed)


def rejection(proxy, upstream, more=""):
    """Why a file with these lines is rejected."""
    proxy.reload(f"listen: 127.0.0.1:0\nupstream: {upstream}\n{more}", outcome="reload rejected")
    line = proxy.stderr.wait(r"error \S+martlet\.yaml:\d+:\d+: the sandbox [^\n]+")
    assert line[0].endswith(ADVICE), line[0]
    return line[0].partition(": the sandbox does not let Martlet ")[2].removesuffix(ADVICE)


def test_a_log_elsewhere(proxy, writable, recorder):
    found = rejection(proxy, "http://127.0.0.1:9", f"interceptors: [ log: {{ to: {writable}/calls.log }} ]")
    assert found == f"write to {writable}/calls.log"
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert not (writable / "calls.log").exists()


def test_the_advice_of_a_process_that_cannot_be_replaced(martlet, recorder, writable):
    proxy = martlet(upstream=recorder().url, command=["exec"], trailing=["--", "sleep", "60"])
    text = f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\ninterceptors: [ log: {{ to: {writable}/calls.log }} ]\n"
    proxy.reload(text, outcome="reload rejected")
    assert proxy.stderr.wait(r"error [^\n]*: the sandbox [^\n]+")[0].endswith("; restart Martlet, or restart it with sandbox: off")


def test_a_socket_elsewhere(proxy, writable):
    listeners = f"[127.0.0.1:0, 'unix:{writable}/rpc.sock']"
    proxy.reload(f"listen: {listeners}\nupstream: http://127.0.0.1:9", outcome="reload rejected")
    proxy.stderr.wait(f"does not let Martlet write to {writable}/rpc.sock")


def test_a_file_where_no_system_has_any(proxy, private):
    (private / "token").write_text("token")
    found = rejection(proxy, "http://127.0.0.1:9", f"interceptors: [ token: {{ file: {private}/token }} ]")
    assert found == f"read {private}/token"


def test_a_program(proxy):
    program = "interceptors: [ token: { exec: { command: [/bin/echo, a] } } ]"
    found = rejection(proxy, "http://127.0.0.1:9", program)
    assert found == "start /bin/echo, because the file at startup named no program"


def test_a_port(martlet, recorder, installed):
    proxy = martlet(upstream=recorder().url, more="sandbox: { ports: fixed }", directory=installed)
    found = rejection(proxy, "http://127.0.0.1:9", "sandbox: { ports: fixed }")
    assert found == "connect to port 9, which the file at startup did not name"


def test_any_other_port(proxy, recorder):
    """The default limits no ports."""
    upstream = recorder()
    proxy.reload(f"listen: [127.0.0.1:0, '[::1]:0']\nupstream: {upstream.url}\n")
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert len(upstream.requests) == 1


def test_unix_sockets(martlet, recorder, installed):
    """Those of the start stay, and no other can be made: neither to listen on nor to connect."""
    text = "listen: [ {} ]\nupstream: {}\n"
    first, second, abstract = f"unix:{installed}/a.sock", f"unix:{installed}/b.sock", f"unix:@{installed.name}"
    proxy = martlet(text.format(f"'{first}'", recorder().url), directory=installed)
    listeners = f"'{first}', '{second}', '{abstract}'"
    proxy.reload(text.format(listeners, f"unix:{installed}/up.sock"), outcome="reload rejected")
    problems = [
        f"connect to {installed}/up.sock, because the file at startup named no upstream on a Unix socket",
        f"listen on {second} after startup",
        f"listen on {abstract} after startup",
    ]
    for problem in problems:
        proxy.stderr.wait(f"{re.escape(f': the sandbox does not let Martlet {problem}{ADVICE}')}$")
    upstream = recorder()
    proxy.reload(text.format(f"'{first}', '127.0.0.1:0'", upstream.url))
    with proxy.http() as http:
        assert http.get("/").status_code == 200
    assert len(upstream.requests) == 1


def test_the_sandbox_itself(proxy):
    for _ in range(2):
        proxy.reload("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nsandbox: off\n")
        proxy.stderr.wait("a change of sandbox requires a restart")
    assert "requires a restart" in proxy.admin("/status").text


def test_a_file_that_is_renamed_over_one_of_the_start(martlet, recorder, private):
    """Its directory is allowed, not the file that was there."""
    token = private / "token"
    token.write_text("one")
    upstream = recorder()
    more = f"interceptors: [ token: {json.dumps({'file': str(token)})} ]"
    proxy = martlet(upstream=upstream.url, more=more)
    (private / "new").write_text("two")
    (private / "new").rename(token)
    proxy.stderr.wait("token changed")
    with proxy.http() as http:
        # The workers hear of it a moment later.
        eventually(lambda: http.get("/") and upstream.requests[-1].header("authorization") == "Bearer two")
