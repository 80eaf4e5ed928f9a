"""An HTTP/2 upstream that keeps every frame it is sent and responds as the test scripts."""

from support.http2.h2_peer import H2Peer, response
from support.servers.threaded import ThreadedServer, listen_tcp, listen_unix
from support.wait import eventually


def response_ok(peer, stream):
    """Responds with 200 and `ok` once the request has ended."""
    peer.finish(stream)
    if stream.reset is None:
        peer.headers(stream.id, response())
        peer.data(stream.id, b"ok", end=True)


class H2Recorder(ThreadedServer):
    """Listens on loopback and responds to one stream after the other with `response`, a function of the peer and the stream.

    `script`, a function of the connected peer, replaces that loop. Each connection has a thread of its own.
    """

    def __init__(self, response=response_ok, script=None, path=None, **options):
        self.response = response
        self.script = script or self._response_each
        self.options = options
        self.streams = []
        listener = listen_unix(path) if path else listen_tcp()
        self.url = f"unix+h2c:{path}" if path else f"h2c://127.0.0.1:{listener.getsockname()[1]}"
        super().__init__(listener)

    def wait_for_streams(self, count, within=5.0):
        """The `count`th stream that got, or is getting, a response, on any connection."""
        eventually(lambda: len(self.streams) >= count, within, f"stream {count} at the upstream")
        return self.streams[count - 1]

    def next_stream(self, peer):
        """For scripts: the next stream of a connection, noted as the others are."""
        if stream := peer.next_stream():
            self.streams.append(stream)
        return stream

    def accept(self, connection):
        return H2Peer(connection, client=False, timeout=30.0, **self.options)

    def serve(self, peer):
        self.script(peer)

    def _response_each(self, peer):
        while stream := self.next_stream(peer):
            self.response(peer, stream)
