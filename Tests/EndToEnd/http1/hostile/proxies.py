"""Martlet, nginx and HAProxy side by side, each before a server that keeps what it is sent."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from http1.hostile.haproxy import HAProxy
from http1.hostile.reader import Incomplete, Unread, next_request
from support.http1.peer import Peer
from support.martlet import Martlet
from support.servers.nginx import Nginx
from support.servers.threaded import ThreadedServer, listen_tcp
from support.wait import eventually

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
MARTLET = """
listen: 127.0.0.1:0
upstreams: {{ origin: {{ url: "http://127.0.0.1:{upstream}", host: caller }} }}
routes: [ {{ upstream: origin }} ]
workers: 1
drain: {{ max: 0s }}
"""
# What nginx needs to forward like a proxy of today, and limits like Martlet's: a limit is not leniency.
NGINX = """
    large_client_header_buffers 4 128k;
    lingering_close off;
    location / {{
        proxy_pass http://127.0.0.1:{upstream};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_request_buffering off;
        proxy_ignore_client_abort on;
        proxy_next_upstream off;
        proxy_buffer_size 128k;
        proxy_buffers 4 128k;
    }}
"""


class OriginPeer(Peer):
    """A connection of a proxy: `read` bytes were whole requests, `collected` were returned to the test."""

    def __init__(self, connection, **options):
        super().__init__(connection, **options)
        self.read = self.collected = 0
        self.has_ended = False

    @property
    def is_at_rest(self):
        return self.has_ended or self.read == len(self.received)


class Origin(ThreadedServer):
    """Responds to each request with `response`, a function of it that returns bytes and whether the connection ends.

    `requests` has the whole ones in their order, read without strictness; `collect` returns the bytes as well.
    """

    def __init__(self, response=lambda request: (OK, False)):
        self.response = response
        self.requests = []
        listener = listen_tcp()
        self.port = listener.getsockname()[1]
        super().__init__(listener)

    def accept(self, connection):
        return OriginPeer(connection, timeout=30.0)

    def serve(self, peer):
        try:
            while peer.receive():
                while peer.read < len(peer.received):
                    try:
                        request, peer.read = next_request(bytes(peer.received), peer.read, is_strict=False)
                    except Incomplete:
                        break
                    self.requests.append(request)
                    data, ends = self.response(request)
                    peer.send(data)
                    if ends:
                        return
        except Unread:
            pass  # it is in the bytes
        finally:
            peer.has_ended = True

    def collect(self):
        """The requests since the last time, and the bytes of each connection; for when the caller is through."""
        # Connections are accepted in order: when ours was, all before it are.
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as ours:
            ours.shutdown(socket.SHUT_WR)
            assert ours.recv(1) == b""
        # Longer than any proxy waits for the rest of one.
        eventually(lambda: all(peer.is_at_rest for peer in self.connections), 20.0, "the end of unfinished requests")
        found, self.requests = self.requests, []
        pieces = []
        for peer in self.connections:
            end = len(peer.received)
            if end > peer.collected:
                pieces.append(bytes(peer.received[peer.collected : end]))
            peer.collected = end
        self.connections = [peer for peer in self.connections if not peer.has_ended]
        return found, pieces


@dataclass
class Outcome:
    """What became of one input at one proxy: what was forwarded, and what the caller got."""

    requests: list
    pieces: list
    response: bytes

    @property
    def statuses(self):
        return [int(status) for status in re.findall(rb"HTTP/1\.1 ([2-9]\d\d) ", self.response)]


def in_one(data):
    return [data]


def in_bytes(data):
    """One by one, as far as makes a difference."""
    return [data[at : at + 1] for at in range(min(len(data), 2000))] + [data[2000:]]


def exchange(address, data, wait, last, pieces=in_one):
    """All that comes back for `data`, which is sent in `pieces`.

    After `wait` seconds the connection is closed for writing, and after `last` more it is abandoned.
    """
    response = b""
    with socket.create_connection(address, timeout=10) as connection:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
            for piece in pieces(data):
                connection.sendall(piece)
            connection.settimeout(wait)
            try:
                while more := connection.recv(1 << 16):
                    response += more
                return response
            except TimeoutError:
                connection.shutdown(socket.SHUT_WR)
            connection.settimeout(last)
            while more := connection.recv(1 << 16):
                response += more
        except OSError:
            pass  # rejected before all of it was sent, reset, or abandoned
    return response


class Proxy:
    """One proxy in front of its own origin, for one input at a time."""

    def __init__(self, kind, directory, response, running):
        directory.mkdir()
        self.origin = running(Origin(response))
        if kind == "martlet":
            self.address = running(Martlet(MARTLET.format(upstream=self.origin.port), directory)).address
        elif kind == "nginx":
            server = running(Nginx(directory, NGINX.format(upstream=self.origin.port)))
            self.address = ("127.0.0.1", server.port)
        else:
            self.address = running(HAProxy(directory, self.origin.port)).address

    def outcome(self, data, *options):
        response = exchange(self.address, data, *options)
        return Outcome(*self.origin.collect(), response)


class Proxies:
    """All three, some times over, so that inputs that are waited for do not hold up the others."""

    KINDS = ("martlet", "nginx", "haproxy")

    def __init__(self, running, directory, response=lambda request: (OK, False), width=4, kinds=KINDS):
        self.proxies = {
            kind: [Proxy(kind, directory / f"{kind}{number}", response, running) for number in range(width)]
            for kind in kinds
        }

    def outcomes(self, inputs, wait=0.3, last=5.0, pieces=in_one):
        """The outcome of each input, a dictionary by name, at each of the three: {name: {kind: outcome}}."""
        found = {name: {} for name in inputs}

        def drive(kind, proxy, names):
            for name in names:
                found[name][kind] = proxy.outcome(inputs[name], wait, last, pieces)

        names = list(inputs)
        jobs = [
            (kind, proxy, names[number :: len(proxies)])
            for kind, proxies in self.proxies.items()
            for number, proxy in enumerate(proxies)
        ]
        with ThreadPoolExecutor(len(jobs)) as pool:
            for done in [pool.submit(drive, *job) for job in jobs]:
                done.result()
        return found
