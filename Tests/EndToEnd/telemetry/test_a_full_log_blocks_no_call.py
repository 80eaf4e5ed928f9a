"""The disk is full, or the log has reached its largest size. Calls continue, lost lines are counted, and one line says so."""

import json
import os
import resource
import signal

import pytest

from support.wait import eventually

pytestmark = pytest.mark.alone

CONFIGURATION = """
listen: 127.0.0.1:0
interceptors:
  - log: {{ to: {log} }}
  - respond: {{ body: ok }}
"""
MAX_LOG = 4096


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_LOG, MAX_LOG))


@pytest.mark.parametrize("kind, reason", [("full", "No space left on device"), ("limited", "File too large")])
def test_a_full_disk(martlet, tmp_path, kind, reason):
    log = "/dev/full" if kind == "full" else tmp_path / "log"
    options = {"preexec_fn": limit_files} if kind == "limited" else {}
    proxy = martlet(CONFIGURATION.format(log=log), **options)

    def lost():
        return proxy.metrics().total("martlet_log_lines_dropped_total")

    with proxy.http() as http:
        for _ in range(200):
            assert http.get("/").text == "ok"

        def is_counted():
            assert http.get("/").text == "ok"
            return lost() > 50

        eventually(is_counted, what="lines that are lost")
    reported = rf"^martlet: cannot write to the log {log}, lines are lost: {reason}$"
    proxy.stderr.wait(reported)
    proxy.signal(signal.SIGTERM)
    assert proxy.exit_code() == 0
    assert len(proxy.stderr.matches(reported)) == 1
    if kind == "limited":
        assert os.stat(log).st_size == MAX_LOG


def test_a_disk_with_free_space_again(martlet, tmp_path):
    """A log that is opened again, on a disk with space, has each line."""
    link = tmp_path / "log"
    link.symlink_to("/dev/full")
    proxy = martlet(CONFIGURATION.format(log=link))
    with proxy.http() as http:
        assert http.get("/lost").text == "ok"
        proxy.stderr.wait("No space left on device")
        link.unlink()
        proxy.signal(signal.SIGUSR1)
        eventually(link.exists, what="the new log")
        assert http.get("/kept").text == "ok"
        eventually(lambda: "/kept" in link.read_text(), what="a line in it")
        before = proxy.metrics().total("martlet_log_lines_dropped_total")
        for _ in range(20):
            assert http.get("/kept").text == "ok"
        eventually(lambda: link.read_text().count("/kept") == 21, what="all the lines")
        assert proxy.metrics().total("martlet_log_lines_dropped_total") <= before + 1


def test_a_missing_directory(martlet, tmp_path):
    """A log that cannot be opened again is opened as soon as possible; the old file is used meanwhile."""
    folder, aside = tmp_path / "logs", tmp_path / "aside"
    log = folder / "log"
    folder.mkdir()
    proxy = martlet(CONFIGURATION.format(log=log))
    with proxy.http() as http:

        def lost():
            return proxy.metrics().total("martlet_log_lines_dropped_total")

        def is_written(file, path):
            assert http.get(path).text == "ok"
            return file.exists() and path in file.read_text()

        eventually(lambda: is_written(log, "/first"), what="a line")
        folder.rename(aside)
        proxy.signal(signal.SIGUSR1)
        proxy.stderr.wait(f"cannot open the log {log}: No such file or directory")
        eventually(lambda: is_written(aside / "log", "/second"), what="a line in the old file")
        folder.mkdir()
        eventually(lambda: is_written(log, "/third"), what="a line in the new file")
        before = lost()
        assert http.get("/fourth").text == "ok"
        assert lost() == before


@pytest.mark.parametrize("remedy", ["room", "reopened", "restarted"])
def test_a_truncated_line_leaves_the_next_one_intact(martlet, tmp_path, remedy):
    log = tmp_path / "log"
    proxy = martlet(CONFIGURATION.format(log=log))
    with proxy.http() as http:
        assert http.get("/").text == "ok"
        eventually(lambda: log.exists() and log.stat().st_size, what="a line of the log")
        room = log.stat().st_size * 3 // 2
        resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        assert http.get("/").text == "ok"
        eventually(lambda: log.stat().st_size == room, what="half a line")
        cut = log.read_bytes()
        resource.prlimit(proxy.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if remedy == "reopened":
        proxy.signal(signal.SIGUSR1)
    if remedy == "restarted":
        proxy.stop()
        proxy = martlet(CONFIGURATION.format(log=log))
    with proxy.http() as http:
        assert http.get("/kept").text == "ok"
    eventually(lambda: b"/kept" in log.read_bytes(), what="a line of the log")
    first, *others = log.read_bytes()[len(cut) :].splitlines()
    assert first == b"" and others
    for line in others:
        json.loads(line)
