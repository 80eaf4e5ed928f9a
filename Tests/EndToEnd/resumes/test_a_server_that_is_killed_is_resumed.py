"""nginx is killed in the middle of a download and starts again: the file arrives whole."""

import os
import signal
import socket
import subprocess

from resumes.download import content, digest, results, start
from support.program import Program
from support.servers.nginx import Nginx
from support.wait import eventually

FILE = content(4 << 20)


def accepts(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_killed_and_started_again(martlet, running, tmp_path):
    server = running(Nginx(tmp_path / "nginx", "limit_rate 2m;"))
    (server.directory / "file").write_bytes(FILE)
    proxy = start(martlet, server, {"max": 5, "fibonacci": {}, "unit": "300ms"})
    out = tmp_path / "out"
    curl = subprocess.Popen(["curl", "--fail", "-sS", "-o", out, f"{proxy.url}/file"])
    eventually(lambda: out.exists() and out.stat().st_size > 100_000, what="the begin of the file")
    (worker,) = subprocess.check_output(["pgrep", "-P", str(server.pid)], text=True).split()
    server.signal(signal.SIGKILL)
    os.kill(int(worker), signal.SIGKILL)
    server.exit_code()
    eventually(lambda: not accepts(server.port), what="that nobody listens")
    command = ["nginx", "-p", server.directory, "-c", server.directory / "nginx.conf", "-e", "stderr"]
    running(Program(command, env={"PATH": os.environ["PATH"]}))
    assert curl.wait(30) == 0
    assert digest(out.read_bytes()) == digest(FILE)
    assert results(proxy)["resumed"] == 1
    assert " 206 " in server.access_log
