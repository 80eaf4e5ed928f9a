"""The base of hostile parties, which act at a bounded rate and count the results."""

import gzip
import os
import socket
import ssl
import struct
import threading
import time
from collections import Counter, deque

from reports import Reports
from support.http1.peer import connect

QUIET = 0.3  # seconds without a byte after which a connection has sent everything
MAX_READ = 1 << 20
PLAIN_SIZE = (4 << 20) - 64  # a little less than `held_message`
PARTS = (b"1", b"[]", b'{"":0}')


def bombs():
    """Returns JSON arrays of 4 MiB, compressed to about 4 kB each."""
    return [gzip.compress(b"[" + b",".join([part] * (PLAIN_SIZE // (len(part) + 1))) + b"]", 9) for part in PARTS]


class Party:
    """A party that acts every `every` seconds, and holds connections open for `lasts` seconds."""

    every = 1.0
    lasts = 14.0

    def __init__(self, target):
        self.target = target
        self.counts = Counter()
        self._held = deque()

    def act(self):
        """Acts once; returns the number of attacks that this was."""
        raise NotImplementedError

    def count(self, what, number=1):
        self.counts[what] += number

    def connect(self, **options):
        return connect(self.target.plain, timeout=5.0, **options)

    def connect_tls(self):
        """Returns a socket whose TLS handshake has finished."""
        return tls_context().wrap_socket(self.connect_tcp(self.target.tls))

    def connect_tcp(self, address, receive_buffer=None):
        """Returns a socket; with a small `receive_buffer` the kernel buffers little of an unread response."""
        connection = socket.socket()
        connection.settimeout(5.0)
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.connect(address)
        return connection

    def hold(self, connection, end=None):
        """Holds a connection open; afterwards `end(connection)` returns the result to count."""
        self._held.append((time.monotonic(), connection, end or ending))

    def settle(self):
        """Closes the connections that have been held for `lasts` seconds."""
        while self._held and self._held[0][0] < time.monotonic() - self.lasts:
            _, connection, end = self._held.popleft()
            try:
                self.count(end(connection))
            except Exception as error:
                self.count(type(error).__name__)
            finally:
                connection.close()

    @property
    def held(self):
        """The connections that are open."""
        return [connection for _, connection, _ in self._held]


def tls_context():
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def ending(connection, quiet=0.0):
    """Returns the status received on a connection of HTTP/1.1, and whether the connection is open."""
    connection.settimeout(quiet)
    data, state = b"", "open"
    try:
        while len(data) < MAX_READ and state == "open":
            piece = connection.recv(1 << 16)
            data += piece
            state = state if piece else "closed"
    except ConnectionError:
        state = "reset"
    except (BlockingIOError, TimeoutError, ssl.SSLError):
        pass
    status = data.split(maxsplit=2)[1].decode("latin-1") if data.startswith(b"HTTP/1.1 ") else "bytes" if data else "nothing"
    return f"{status}, {state}"


def abort(connection):
    """Closes a socket with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def repeat(party, reports):
    """Acts at the rate of the party. A round that is late delays those after it."""
    name = type(party).__name__
    while True:
        began = time.monotonic()
        try:
            party.settle()
            party.count("did", party.act())
        except Exception as error:  # Martlet may end any connection at any time
            party.count(type(error).__name__)
        counts, party.counts = party.counts, Counter()
        for what, number in counts.items():
            reports.add(name, what, number)
        time.sleep(max(0.05, began + party.every - time.monotonic()))


def run(kinds, target, go, queue):
    """Runs parties of these kinds until the process is ended."""
    os.nice(19)
    parties = [kind(target) for kind in kinds]
    go.wait()
    reports = Reports(queue)
    for party in parties:
        threading.Thread(target=repeat, args=(party, reports), daemon=True).start()
        time.sleep(0.1)
    threading.Event().wait()
