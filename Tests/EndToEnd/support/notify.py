"""A datagram socket in the place of a service manager's, which keeps what it receives."""

import os
import socket


class Notify:
    """Receives what a daemon reports through $NOTIFY_SOCKET.

    `store` has the descriptors that the daemon stored, by name, as a service manager does.
    """

    def __init__(self, address):
        self.address = str(address)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.address.replace("@", "\0", 1) if self.address.startswith("@") else self.address)
        self.seen = []
        self.store = {}
        self.environment = {"NOTIFY_SOCKET": self.address}

    def next(self, key, within=10.0):
        """The next datagram with a line for `key`, as a dictionary; others are passed over."""
        self._socket.settimeout(within)
        while True:
            text, descriptors, _, _ = socket.recv_fds(self._socket, 4096, 8)
            self.seen.append(dict(line.split("=", 1) for line in text.decode().splitlines()))
            self._hold(self.seen[-1], descriptors)
            if key in self.seen[-1]:
                return self.seen[-1]

    def fill(self):
        """Leaves no room for another datagram until the next one is read."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            try:
                while True:
                    sender.sendto(b"FILLED=1", self._socket.getsockname())
            except BlockingIOError:
                pass

    def wait_for_silence(self, key, seconds):
        """Waits until no datagram with a line for `key` has come for so many seconds."""
        while True:
            try:
                self.next(key, within=seconds)
            except TimeoutError:
                return

    def _hold(self, message, descriptors):
        if "FDSTOREREMOVE" in message and (old := self.store.pop(message["FDNAME"], None)) is not None:
            os.close(old)
        if "FDSTORE" in message:
            (descriptor,) = descriptors
            if message["FDNAME"] in self.store:
                os.close(descriptor)
            else:
                self.store[message["FDNAME"]] = descriptor

    def stop(self):
        self._socket.close()
        for descriptor in self.store.values():
            os.close(descriptor)
        self.store = {}
