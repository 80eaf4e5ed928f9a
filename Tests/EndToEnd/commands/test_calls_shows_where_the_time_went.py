"""`martlet calls` prints the calls that ended last, with a bar for each part of their time."""

import re
import time

from support.http1.recorder import OK
from support.wait import eventually

WIDTH = 40


def bars(text):
    """The name, the beginning, the length and the time of each bar."""
    found = re.findall(r"^  ([a-z ]{11}) ( *)(█*) * (\d+\.\d{3}) ms$", text, re.MULTILINE)
    return [(name.strip(), len(before), len(bar), float(time)) for name, before, bar, time in found]


def slow(peer):
    while peer.request():
        time.sleep(0.06)
        peer.send(OK)


def test_the_parts_of_a_call(martlet, recorder, command):
    proxy = martlet(upstream=recorder(script=slow).url, more="interceptors: [ { fault: { delay: 30ms } } ]")
    with proxy.http() as client:
        client.get("/orders?secret=1")
    result = command("calls", "-c", proxy.file)
    assert result.code == 0, result.stderr.text
    title = result.stdout.text.splitlines()[0]
    assert re.match(r"\d\d:\d\d:\d\d\.\d{3} [0-9a-f]{6} ok \d+\.\d{3} ms http GET /orders → default$", title), title
    parts = {name: (start, length, time) for name, start, length, time in bars(result.stdout.text)}
    total = float(re.search(r" ok (\S+) ms", title)[1])
    assert list(parts)[:1] == ["chain"] and parts["chain"][2] >= 30 and parts["first byte"][2] >= 60
    assert parts["first byte"][0] >= parts["chain"][1] - 1
    assert all(start + length <= WIDTH for start, length, _ in parts.values())
    assert sum(time for _, _, time in parts.values()) <= total + 0.01


def test_calls_that_have_failed(martlet, recorder, command):
    chain = 'interceptors: [ { when: { path: /no }, reject: { code: permission_denied, message: "not\\x1b[1m for you" } } ]'
    proxy = martlet(upstream=recorder().url, more=chain)
    with proxy.http() as client:
        for path in ("/yes", "/no", "/no"):
            client.get(path)
    result = command("calls", "-n", "1", "--code", "permission_denied", "-c", proxy.file)
    lines = result.stdout.text.splitlines()
    assert "GET /no → default, by interceptor:reject" in lines[0]
    # A terminal gets no commands.
    assert lines[1] == "  not\\x1b[1m for you"
    assert [name for name, *_ in bars(result.stdout.text)] == ["chain"]
    assert command("calls", "--code", "data_loss", "-c", proxy.file).stdout.text == ""


def test_the_last_call_comes_last(martlet, recorder, command):
    proxy = martlet(upstream=recorder().url, more="interceptors: [ { reject: { code: aborted } } ]")
    with proxy.http() as client:
        for number in range(3):
            client.get(f"/{number}")
    result = eventually(lambda: (found := command("calls", "-c", proxy.file)).stdout.text.count("GET") == 3 and found)
    assert re.findall(r"GET /(\d)", result.stdout.text) == ["0", "1", "2"]


def test_without_a_daemon(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\nadmin: unix:{tmp_path}/none.sock\n")
    result = command("calls", "-c", tmp_path / "martlet.yaml")
    assert result.code == 1 and "no daemon is listening" in result.stderr.text
    result = command("calls", "-n", "0", "-c", tmp_path / "martlet.yaml")
    assert result.code == 2 and "-n cannot be 0" in result.stderr.text
