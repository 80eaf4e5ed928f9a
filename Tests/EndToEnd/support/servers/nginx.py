"""nginx as an upstream, with a configuration the test writes."""

import grp
import os
import pwd
import socket

from support.program import Program
from support.wait import eventually

FILE = """
daemon off;
user {user} {group};
worker_processes 1;
pid {directory}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log {directory}/access.log;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    client_max_body_size 0;
    server {{
        listen 127.0.0.1:{port};
        root {directory};
        {server}
    }}
}}
"""


class Nginx(Program):
    """Serves `server`, the directives of one server block; files come from `directory`."""

    def __init__(self, directory, server=""):
        directory.mkdir(exist_ok=True)
        self.directory = directory
        # nginx inherits the listening socket that NGINX names, so that the port is ours from the first moment.
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        file = directory / "nginx.conf"
        # As ourselves, so that its workers may read the directory of the test.
        user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
        file.write_text(FILE.format(directory=directory, port=self.port, server=server, user=user, group=group))
        environment = {"PATH": os.environ["PATH"], "NGINX": f"{listener.fileno()};"}
        command = ["nginx", "-p", directory, "-c", file, "-e", "stderr"]
        super().__init__(command, env=environment, pass_fds=[listener.fileno()])
        listener.close()
        eventually(lambda: (directory / "nginx.pid").exists(), what="nginx")

    @property
    def access_log(self):
        return (self.directory / "access.log").read_text()
