"""Hostile parties over HTTP/1.1, over TLS, and at the admin socket."""

import itertools
import json
import os
import socket
import ssl

from hostile_upstream import ENDLESS
from party import QUIET, Party, abort, bombs, ending, tls_context
from support.http2.h2_peer import PREFACE

HOST = b"host: a.example\r\n"
JSON = b"content-type: application/json\r\nconnect-protocol-version: 1\r\n"
NARROW = 4096


def get(path):
    return b"GET %b HTTP/1.1\r\n%b\r\n" % (path.encode(), HOST)


class GzipBombs(Party):
    """Messages of 4 kB that are 4 MiB of JSON, which an interceptor reads."""

    def __init__(self, target):
        super().__init__(target)
        self._bombs = itertools.cycle(bombs())

    def act(self):
        body = next(self._bombs)
        head = b"POST /soak.v1.Json/Get HTTP/1.1\r\n%b%bcontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % (HOST, JSON, len(body))
        peer = self.connect()
        peer.send(head + body)
        self.count(str(peer.response().status))
        peer.close()
        return 1


class StalledUploads(Party):
    """Uploads that stop after three bytes."""

    def act(self):
        for _ in range(4):
            peer = self.connect()
            peer.send(b"POST /hostile/up HTTP/1.1\r\n%bcontent-length: 100000\r\n\r\nabc" % HOST)
            self.hold(peer.socket)
        return 4


class UnreadResponses(Party):
    """Responses of 8 MiB that are not read."""

    every = 2.0

    def act(self):
        for _ in range(3):
            connection = self.connect_tcp(self.target.plain, NARROW)
            connection.sendall(get("/hostile/large"))
            self.hold(connection)
        return 3


class UnfinishedHandshakes(Party):
    """TLS handshakes that stop after the ClientHello or within it."""

    def __init__(self, target):
        super().__init__(target)
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            tls_context().wrap_bio(received, sent).do_handshake()
        except ssl.SSLWantReadError:
            self._hello = sent.read()

    def act(self):
        for size in (len(self._hello), len(self._hello) // 2) * 3:
            connection = self.connect_tcp(self.target.tls)
            connection.sendall(self._hello[:size])
            self.hold(connection)
        return 6


class IdleTLS(Party):
    """TLS connections that send one request or none."""

    lasts = 30.0

    def act(self):
        for number in range(3):
            connection = self.connect_tls()
            if number == 0:
                connection.sendall(get("/hostile/ok"))
            self.hold(connection)
        return 3


class SlowHeads(Party):
    """Heads of which one byte a second is sent, without an end."""

    def act(self):
        sent = 0
        for connection in self.held:
            try:
                connection.send(b"x")
                sent += 1
            except OSError:
                pass  # closed by `timeouts.head`
        for _ in range(3):
            peer = self.connect()
            peer.send(get("/hostile/ok")[:-2] + b"x-slow: ")
            self.hold(peer.socket)
        return sent


class RandomBytes(Party):
    """Random bytes, alone or after a valid beginning."""

    def __init__(self, target):
        super().__init__(target)
        begin = [b"", PREFACE, b"POST /hostile/ok HTTP/1.1\r\n", b"\x16\x03\x01\x02\x00", get("/hostile/ok")]
        self._begin = itertools.cycle(itertools.product(begin, [target.plain, target.tls]))

    def act(self):
        for beginning, address in itertools.islice(self._begin, 2):
            connection = self.connect_tcp(address)
            connection.sendall(beginning + os.urandom(int.from_bytes(os.urandom(2)) % 8192))
            self.count(ending(connection, QUIET))
            abort(connection)
        return 2


class MultipartCounters(Party):
    """Values of a form that contain the boundaries which a counter would choose."""

    every = 5.0

    def __init__(self, target):
        super().__init__(target)
        text = "".join(f"\r\n--martlet-{number}" for number in range(25_000))
        body = json.dumps({"text": text}).encode()
        head = b"POST /soak.v1.Form/Send HTTP/1.1\r\n%b%bcontent-length: %d\r\n\r\n" % (HOST, JSON, len(body))
        self._request = head + body

    def act(self):
        peer = self.connect()
        peer.send(self._request)
        self.count(str(peer.response().status))
        peer.close()
        return 1


class EndlessResponses(Party):
    """Calls to an upstream whose responses have no end, and are not read."""

    every = 5.0
    lasts = 16.0

    def act(self):
        for kind in ENDLESS:
            connection = self.connect_tcp(self.target.plain, NARROW)
            connection.sendall(get(f"/hostile/{kind}"))
            self.hold(connection, lambda connection, kind=kind: f"{kind}: {ending(connection)}")
        return len(ENDLESS)


class SilentFollowers(Party):
    """Followers of the recent calls that read nothing."""

    every = 5.0
    lasts = 40.0

    def act(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(5.0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW)
        connection.connect(self.target.admin)
        connection.sendall(get("/calls/recent?follow=true").replace(b"a.example", b"localhost"))
        self.hold(connection)
        return 1


PARTIES = [
    GzipBombs,
    StalledUploads,
    UnreadResponses,
    UnfinishedHandshakes,
    IdleTLS,
    SlowHeads,
    RandomBytes,
    MultipartCounters,
    EndlessResponses,
    SilentFollowers,
]
