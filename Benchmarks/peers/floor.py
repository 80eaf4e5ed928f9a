"""What no proxy can cost less than: a program that copies bytes between two sockets, and looks at none of them."""

from process import PROXY, Process, free_port

NAME = "floor"


class Floor:
    """Stands where a proxy would, and does nothing of the job."""

    def start(self, case, stage):
        """A fresh process of it, in front of the backend of the case: (process, port)."""
        port = free_port()
        command = [stage.directory / "copier.program", port, stage.port(case)]
        process = Process(command, stage.directory / "proxy", {PROXY})
        process.wait_for_port(port)
        return process, port
