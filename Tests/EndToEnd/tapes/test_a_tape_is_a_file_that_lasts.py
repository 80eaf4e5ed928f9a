"""The file of a tape is bounded, whole after a crash, and never reached through a symbolic link."""

import os
import signal
import threading

import pytest
from ruamel.yaml import YAML
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE
from support.wait import eventually

MOCK = "mocks: { web: { rules: [ { respond: { body: hello } } ] } }"


def start(recorded, options="", **more):
    return recorded(options=options, after=", { mock: web }", more=MOCK, **more)


def post(proxy, *bodies):
    with proxy.http() as client:
        for body in bodies:
            client.post("/x", content=body)


def test_a_long_message_is_cut(recorded, tape):
    proxy = start(recorded, ", messages: 1KiB")
    post(proxy, "a" * 1025, "b" * 1024)
    first, second = tape.calls(2)
    assert first["incomplete"] == "a message of 1025 bytes"
    assert first["script"][0]["expect"] == {"cut": 1025}
    assert "incomplete" not in second and second["script"][0]["expect"] == {"text": "b" * 1024}
    assert proxy.metrics().total("martlet_limit_hits_total", limit="recording") == 1


def test_a_long_call_is_cut(recorded, eliza, tape):
    proxy = recorded(eliza.url, ", document: 4KiB")
    list(Client(proxy.url, http=2).converse(["x" * 100] * 50))
    call = tape.call()
    assert call["incomplete"] == "a call of more than 4096 bytes"
    assert "end" in call["script"][-1] and len(tape.text) < 5000


def test_a_full_tape_is_moved_aside(recorded, tape):
    proxy = start(recorded, ", limit: 64KiB")
    old = tape.path.with_name("tape.yaml.1")
    post(proxy, *["x" * 10_000] * 15, "the last one")
    eventually(lambda: tape.path.exists() and "the last one" in tape.text, what="the last call")
    assert tape.path.stat().st_size <= 64 * 1024 and old.stat().st_size <= 64 * 1024
    for file in (tape.path, old):
        calls = list(YAML(typ="safe").load_all(file.read_text()))
        assert calls and all(call["call"] == "POST /x" for call in calls)
    assert old.stat().st_mode & 0o777 == 0o600


def test_a_symbolic_link_is_an_error(recorded, tape, command, tmp_path):
    proxy = start(recorded)
    post(proxy, "a")
    tape.calls(1)
    target = tmp_path / "target"
    target.write_text("")
    tape.path.unlink()
    tape.path.symlink_to(target)
    proxy.reload(outcome="rejected")
    proxy.stderr.wait("is a symbolic link; write the path of the file itself")
    proxy.signal(signal.SIGUSR1)
    proxy.stderr.wait("cannot open the tape")
    post(proxy, "b")
    assert target.read_text() == ""
    assert command("check", "-c", proxy.file).code == 78


def test_the_file_is_opened_again(recorded, tape):
    proxy = start(recorded)
    post(proxy, "a")
    tape.calls(1)
    tape.path.rename(tape.path.with_name("moved"))
    proxy.signal(signal.SIGUSR1)
    eventually(tape.path.exists, what="the new tape")
    post(proxy, "b")
    assert tape.call()["script"][0]["expect"] == {"text": "b"}


def test_a_reload_changes_what_is_recorded(recorded, tape):
    proxy = start(recorded)
    post(proxy, "a" * 100)
    tape.calls(1)
    proxy.reload(proxy.file.read_text().replace("tape.yaml }", "tape.yaml, messages: 10B }"))
    post(proxy, "a" * 100)
    first, second = tape.calls(2)
    assert "incomplete" not in first and "incomplete" in second


@pytest.mark.timeout(120)
def test_a_killed_daemon_leaves_whole_calls(recorded, tape, command):
    for _ in range(3):
        proxy = start(recorded)
        stopping = threading.Event()

        def load():
            while not stopping.is_set():
                try:
                    post(proxy, *[os.urandom(20_000).hex()] * 20)
                except Exception:
                    return

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        size = tape.path.stat().st_size if tape.path.exists() else 0
        eventually(lambda: tape.path.exists() and tape.path.stat().st_size > size + 2_000_000, what="a long tape")
        proxy.signal(signal.SIGKILL)
        stopping.set()
        for thread in threads:
            thread.join()
        proxy.stop()
        text = tape.text
        whole = text[: text.rindex("\n...\n") + 5]
        count = whole.count("\n...\n")
        result = command("tape", "ls", tape.path)
        assert (result.code, len(result.stdout.text.splitlines())) == (0, count)


def test_a_torn_call_is_removed_before_the_next_one(recorded, tape, command):
    proxy = start(recorded)
    post(proxy, "a", "b")
    tape.calls(2)
    proxy.stop()
    tape.path.write_text(tape.text[:-20])
    result = command("tape", "ls", tape.path)
    assert (result.code, len(result.stdout.text.splitlines())) == (0, 1)
    assert "the last call of" in result.stderr.text and "is not whole" in result.stderr.text
    proxy = start(recorded)
    post(proxy, "c")
    assert [call["script"][0]["expect"]["text"] for call in tape.calls(2)] == ["a", "c"]


def test_a_disk_that_is_full_does_not_disturb_calls(recorded, tmp_path, tape):
    proxy = start(recorded)
    proxy.reload(proxy.file.read_text().replace(str(tape.path), "/dev/full"))
    with proxy.http() as client:
        assert [client.get("/x").status_code for _ in range(3)] == [200] * 3
    eventually(lambda: proxy.metrics().total("martlet_log_lines_dropped_total") > 0, what="lost calls")
    assert "the tape /dev/full" in proxy.stderr.text


def test_the_same_file_has_one_limit(command, tmp_path):
    (tmp_path / "martlet.yaml").write_text(
        "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\n"
        "interceptors: [ { record: { to: /tmp/x.yaml, limit: 1MiB } }, { record: /tmp/x.yaml }, { record: x }, { log: /tmp/y }, { record: /tmp/y } ]\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78
    assert "another interceptor sets the limit of /tmp/x.yaml to 1MiB; write the same limit" in result.stderr.text
    assert "write an absolute path" in result.stderr.text


def test_a_document_torn_at_the_end_of_a_line_is_removed(recorded, eliza, tape):
    """A machine that loses its power may keep any part of what was written."""
    proxy = recorded(eliza.url)
    Client(proxy.url).say("one")
    tape.calls(1)
    proxy.stop()
    whole = tape.text
    lines = whole.splitlines(keepends=True)
    for kept in range(2, len(lines)):
        tape.path.write_text(whole + "".join(lines[:kept]) if lines[0] == "---\n" else whole + "---\n" + "".join(lines[:kept]))
        if tape.text.endswith("\n...\n"):
            continue
        again = recorded(eliza.url)
        Client(again.url).say("two")
        assert [call["script"][0]["expect"]["json"][""]["equals"]["sentence"] for call in tape.calls(2)] == ["one", "two"]
        again.stop()
        if kept > 4:
            break
