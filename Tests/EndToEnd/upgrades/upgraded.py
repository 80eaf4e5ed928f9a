"""A daemon that is replaced by new processes of its program."""

import json
import os
import select
import signal

from support.martlet import Command, Martlet


class Upgraded(Martlet):
    """`pid` is that of the process that has taken over last; all of them write to the same log."""

    def __init__(self, *arguments, **options):
        self._main = None
        super().__init__(*arguments, **options)

    @property
    def pid(self):
        return self._main or self.process.pid

    def signal(self, number):
        os.kill(self.pid, number)

    def upgrade(self, *options):
        """Runs `martlet upgrade`; returns the command with its exit code in `code`."""
        command = Command("upgrade", "--admin", f"unix:{self.admin_socket}", *options)
        command.code = command.exit_code(40)
        command.stop()
        if command.code == 0:
            self._main = json.loads(command.stdout.text)["pid"]
        return command

    def wait_for_end(self, pid, within=10.0):
        """Waits until a process is gone."""
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        end = select.poll()
        end.register(handle, select.POLLIN)
        assert end.poll(within * 1000), f"process {pid} still runs"
        os.close(handle)

    def stop(self):
        if self._main:
            try:
                os.kill(self._main, signal.SIGTERM)
                self.wait_for_end(self._main)
            except ProcessLookupError:
                pass
        super().stop()
