"""A daemon whose listening sockets a service manager holds: passed from outside, or stored by the daemon."""

import signal

from support.martlet import Martlet
from support.notify import Notify
from support.passed_sockets import passing
from support.wait import eventually


class Service:
    """Starts and stops one daemon after the other on the sockets in `passed`, {name: socket}, and on those in the store."""

    def __init__(self, directory, configuration, passed=None):
        self.directory = directory
        self.configuration = configuration
        self.passed = passed or {}
        self.manager = Notify(directory / "manager.sock")
        self.daemons = []

    @property
    def store(self):
        return self.manager.store

    @property
    def daemon(self):
        return self.daemons[-1]

    def start(self, wait=True):
        """Starts a daemon, and waits until it is ready."""
        descriptors = [(name, socket.fileno()) for name, socket in self.passed.items()] + list(self.store.items())
        with passing(descriptors) as options:
            options["environment"] |= self.manager.environment
            directory = self.directory / f"run{len(self.daemons)}"
            self.daemons.append(Martlet(self.configuration, directory, wait=False, **options))
        if wait:
            self.manager.next("READY")
        return self.daemon

    def begin_stop(self):
        self.daemon.signal(signal.SIGTERM)
        self.manager.next("STOPPING")

    def restart(self, within=20.0):
        """Stops the daemon, waits for its end, and starts the next one; returns the exit code of the first."""
        self.begin_stop()
        code = self.daemon.exit_code(within)
        self.start()
        return code

    def wait_for_removal(self, count):
        """Waits until the store holds `count` descriptors."""
        while len(self.store) > count:
            self.manager.next("FDSTOREREMOVE")
        eventually(lambda: len(self.store) == count, what=f"{count} descriptors in the store")

    def stop(self):
        for daemon in self.daemons:
            daemon.stop()
            print(f"--- martlet {daemon.pid}\n{daemon.stderr.text}\n{daemon.stdout.text}")
        self.manager.stop()
        for socket in self.passed.values():
            socket.close()
