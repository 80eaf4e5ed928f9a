"""HAProxy in front of one upstream, with nothing configured that it does not need."""

import os
import socket

from support.program import Program

# The buffer holds more than Martlet's largest head: a limit is not leniency.
FILE = """
global
    tune.bufsize 131072
    tune.maxrewrite 1024
    tune.http.maxhdr 256
defaults
    mode http
    retries 0
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend caller
    bind fd@{listener}
    default_backend upstream
backend upstream
    server upstream 127.0.0.1:{upstream}
"""


class HAProxy(Program):
    """Forwards to `upstream`, a port of loopback."""

    def __init__(self, directory, upstream):
        directory.mkdir(exist_ok=True)
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.address = listener.getsockname()
        file = directory / "haproxy.cfg"
        file.write_text(FILE.format(listener=listener.fileno(), upstream=upstream))
        path = os.environ["PATH"] + ":/usr/sbin"
        super().__init__(
            ["haproxy", "-db", "-q", "-f", file],
            env={"PATH": path},
            pass_fds=[listener.fileno()],
        )
        listener.close()
