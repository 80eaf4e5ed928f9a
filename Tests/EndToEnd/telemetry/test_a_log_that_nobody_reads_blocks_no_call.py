"""Calls continue and the daemon ends although nothing reads its log. Lines that cannot be written are counted."""

import os
import signal

from support.wait import eventually

CONFIGURATION = """
    listen: 127.0.0.1:0
    interceptors:
      - log: {{ to: {to} }}
      - respond: {{ body: ok }}
    """


def test_a_full_pipe(martlet, tmp_path):
    pipe = tmp_path / "log"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        proxy = martlet(CONFIGURATION.format(to=pipe))
        with proxy.http() as http:
            for _ in range(1000):
                assert http.get("/" + "x" * 200).status_code == 200
        proxy.signal(signal.SIGTERM)
        assert proxy.exit_code() == 0
    finally:
        os.close(reader)


def test_a_log_that_cannot_be_written(martlet, tmp_path):
    log = tmp_path / "log"
    log.symlink_to("/dev/full")
    proxy = martlet(CONFIGURATION.format(to=log))

    def is_counted():
        with proxy.http() as http:
            assert http.get("/").status_code == 200
        return proxy.metrics().total("martlet_log_lines_dropped_total") > 0

    eventually(is_counted, what="a dropped line in the metrics")
