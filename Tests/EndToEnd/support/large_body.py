"""Bodies too large to be kept: made and checked piece by piece, in no more memory than a piece."""

import hashlib
import os
import socket
import struct
import subprocess
import threading
from dataclasses import dataclass

from support.servers.threaded import ThreadedServer, listen_tcp

MIB = 1 << 20
PIECE = 64 << 10
NOISE = os.urandom(PIECE - 8)


def pieces(size):
    """Bytes of which no two pieces are the same: one that is lost, doubled or out of place changes the hash."""
    for number in range(0, size, PIECE):
        yield (number.to_bytes(8, "big") + NOISE)[: size - number]


def envelopes(size):
    """Each piece as a message of its own."""
    for piece in pieces(size):
        yield struct.pack(">BI", 0, len(piece)) + piece


def digest(size, make=pieces):
    own = hashlib.sha1()
    for piece in make(size):
        own.update(piece)
    return own.hexdigest()


@dataclass
class Received:
    """What has come of a request's body."""

    head: bytes
    count: int = 0
    digest: str = ""
    is_whole: bool = False


class BodyServer(ThreadedServer):
    """An upstream of HTTP/1.1 that counts and hashes bodies, and responds to the nth request as the nth of `steps` says.

    A step is `status`, the response to a whole body, `(count, status)`, that to one of which so much has come, or
    `(count, "reset")`, which ends the connection then, or `(count, "wait")`, which reads no more. The last step is that of all further requests. A response of 200
    has the hash. With `rejected`, the value of a field, requests that have it get 401.
    """

    def __init__(self, *steps, rejected=None):
        self.steps = steps
        self.rejected = rejected
        self.requests = []
        self.stopped = threading.Event()
        listener = listen_tcp()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        super().__init__(listener)

    def stop(self):
        self.stopped.set()
        super().stop()

    def accept(self, connection):
        connection.settimeout(60)
        return Connection(connection)

    def serve(self, peer):
        while head := peer.read_head():
            received = Received(head)
            self.requests.append(received)
            step = self.steps[min(len(self.requests), len(self.steps)) - 1]
            limit, action = step if isinstance(step, tuple) else (None, step)
            if self.rejected and self.rejected in head:
                action = 401
            own = hashlib.sha1()
            for piece in peer.body(head):
                own.update(piece)
                received.count += len(piece)
                if limit is not None and received.count >= limit:
                    break
            else:
                received.is_whole = True
            received.digest = own.hexdigest()
            if action == "wait":
                return self.stopped.wait(60)
            if action == "reset":
                return peer.reset()
            body = received.digest.encode() if action == 200 else b"again"
            closes = b"" if received.is_whole else b"connection: close\r\n"
            peer.socket.sendall(
                b"HTTP/1.1 %d Any\r\n%scontent-length: %d\r\n\r\n%s" % (action, closes, len(body), body)
            )
            if not received.is_whole:
                return peer.linger()


class Connection:
    """A connection of a server, read piece by piece."""

    def __init__(self, connection):
        self.socket = connection
        self.rest = b""

    def close(self):
        self.socket.close()

    def linger(self):
        """Reads on until the peer has seen the response."""
        self.socket.shutdown(socket.SHUT_WR)
        while self.socket.recv(PIECE):
            pass

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise ConnectionResetError
        return data

    def read_head(self):
        try:
            return self._until(b"\r\n\r\n")
        except ConnectionResetError:
            return None

    def _until(self, end):
        while end not in self.rest:
            self.rest += self._more()
        line, _, self.rest = self.rest.partition(end)
        return line

    def _exactly(self, count):
        while count:
            data = self.rest or self._more()
            yield data[:count]
            count, self.rest = count - min(count, len(data)), data[count:]

    def body(self, head):
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if fields.get(b"transfer-encoding") != b"chunked":
            yield from self._exactly(int(fields.get(b"content-length", b"0")))
            return
        while count := int(self._until(b"\r\n"), 16):
            yield from self._exactly(count)
            self._until(b"\r\n")
        self._until(b"\r\n")


class Upload:
    """A request of curl with a large body, from its begin; behind `pause_at` bytes it waits for `go`."""

    def __init__(self, url, size, *arguments, http2=False, has_length=False, pause_at=None, make=pieces):
        self.go = threading.Event()
        version = "--http2-prior-knowledge" if http2 else "--http1.1"
        length = ["-H", f"content-length: {size}", "-H", "transfer-encoding:"] if has_length else []
        self._curl = subprocess.Popen(
            ["curl", "-sS", "--noproxy", "*", version, "-H", "expect:", *length, "-T", "-", *arguments]
            + ["-w", "\n%{http_code}", url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=False,
        )
        threading.Thread(target=self._feed, args=(make(size), pause_at), daemon=True).start()

    def _feed(self, body, pause_at):
        sent = 0
        try:
            for piece in body:
                if pause_at is not None and sent >= pause_at:
                    self._curl.stdin.flush()
                    self.go.wait(60)
                self._curl.stdin.write(piece)
                sent += len(piece)
            self._curl.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def result(self, within=50):
        """The body and the status of the response."""
        # Not `communicate`, which would close what the other thread writes to.
        timer = threading.Timer(within, self._curl.kill)
        timer.start()
        output = self._curl.stdout.read()
        print(self._curl.stderr.read().decode())
        self._curl.wait()
        timer.cancel()
        body, _, status = output.decode().rpartition("\n")
        return body, int(status or 0)

    def stop(self):
        self.go.set()
        self._curl.kill()
        self._curl.wait()
