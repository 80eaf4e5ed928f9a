"""A datagram socket that stands where a service manager listens."""

import socket


class Notify:
    """Receives what a daemon reports through $NOTIFY_SOCKET."""

    def __init__(self, address):
        self.address = str(address)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address.replace("@", "\0", 1) if self.address.startswith("@") else self.address)
        self.seen = []
        self.environment = {"NOTIFY_SOCKET": self.address}

    def next(self, key, within=10.0):
        """The next datagram with a line for `key`, as a dictionary; others are passed over."""
        self._socket.settimeout(within)
        while True:
            text = self._socket.recv(4096).decode()
            self.seen.append(dict(line.split("=", 1) for line in text.splitlines()))
            if key in self.seen[-1]:
                return self.seen[-1]

    def wait_for_silence(self, key, seconds):
        """Waits until no datagram with a line for `key` has come for so many seconds."""
        while True:
            try:
                self.next(key, within=seconds)
            except TimeoutError:
                return

    def stop(self):
        self._socket.close()
