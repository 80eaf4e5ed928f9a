"""A server of one file whose responses break off where the test says."""

import hashlib
import json
import random
import re
import socket

from support.http1.recorder import Recorder

KIB = 1 << 10
TAG = '"v1"'


def content(size, seed=1):
    return random.Random(seed).randbytes(size)


class Download(Recorder):
    """Serves `body` with `tag`, as a server with ranges does; the responses break off after the bytes in `cuts`, in turn.

    `end` is how a response breaks off: `reset`, `close`, or `stall`. `respond`, a function of the request, the number of
    the response from 0, and the head and the body that are due, may return others.
    """

    def __init__(self, body, tag=TAG, cuts=(), end="close", respond=None, **options):
        self.body, self.tag, self.end = body, tag, end
        self.cuts = list(cuts)
        self.respond = respond or (lambda request, number, head, body: (head, body))
        super().__init__(script=self._download, **options)

    @property
    def ranges(self):
        """What each request has asked for, and under which condition."""
        return [(request.header("range"), request.header("if-range")) for request in self.requests]

    def close_listener(self):
        """Has nobody listen here any more; open connections stay."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def head(self, request):
        """The fields of the response, and its body."""
        fields = {"etag": self.tag, "content-type": "application/octet-stream"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", request.header("range") or "")
        if not asked or request.header("if-range") not in (None, self.tag):
            return 200, fields, self.body
        first, last = int(asked[1]), int(asked[2] or len(self.body) - 1)
        fields["content-range"] = f"bytes {first}-{last}/{len(self.body)}"
        return 206, fields, self.body[first : last + 1]

    def _download(self, peer):
        while request := peer.request():
            number = len(self.requests)
            self.requests.append(request)
            status, fields, body = self.head(request)
            fields["content-length"] = str(len(body))
            (status, fields), body = self.respond(request, number, (status, fields), body)
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
            peer.send(f"HTTP/1.1 {status} Any\r\n{lines}\r\n".encode())
            cut = self.cuts.pop(0) if self.cuts else None
            peer.send(body if cut is None else body[:cut])
            if cut is None:
                continue
            if self.end == "stall":
                return peer.rest()
            return peer.reset() if self.end == "reset" else None


def start(martlet, upstream, resume=None, before=(), after=(), settings=None, **more):
    """A daemon of one worker that resumes the responses of an upstream."""
    text = {
        "listen": "127.0.0.1:0",
        "workers": 1,
        "upstreams": {"default": {"url": upstream.url} | (settings or {})},
        "interceptors": [{"log": {}}, *before, {"resume": {"max": 3} if resume is None else resume}, *after],
    } | more
    return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()))


def get(proxy, *fields, path="/file"):
    """A raw response to a GET, and whether the connection ended before it was complete."""
    caller = proxy.connect(timeout=30)
    lines = "".join(f"{field}\r\n" for field in fields)
    caller.send(f"GET {path} HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n{lines}\r\n".encode())
    head, _, body = caller.rest().partition(b"\r\n\r\n")
    caller.close()
    return head, body


def length(head):
    return int(re.search(rb"content-length: (\d+)", head)[1])


def results(proxy):
    """The results of the responses that broke off, each with its number."""
    samples = proxy.metrics().select("martlet_resumes_total")
    return {labels["result"]: value for labels, value in samples if value}


def digest(data):
    return hashlib.sha256(data).hexdigest()
