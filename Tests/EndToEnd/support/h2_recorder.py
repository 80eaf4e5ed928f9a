"""An HTTP/2 upstream that keeps every frame it is sent and answers what the test scripts."""

import socket
import threading
import traceback

from support.h2_peer import H2Peer, response
from support.patience import eventually


def answer_ok(peer, stream):
    """Answers 200 with `ok` once the request has ended."""
    peer.finish(stream)
    if stream.reset is None:
        peer.headers(stream.id, response())
        peer.data(stream.id, b"ok", end=True)


class H2Recorder:
    """Listens on loopback and answers one stream after the other with `answer`, a function of the peer and the stream.

    `script`, a function of the connected peer, replaces that loop. Each connection has a thread of its own.
    """

    def __init__(self, answer=answer_ok, script=None, path=None, **options):
        self.answer = answer
        self.script = script or self._answer_each
        self.options = options
        self.connections = []
        self.streams = []
        self.failures = []
        if path:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self._listener.listen(128)
            self.url = f"unix+h2c:{path}"
        else:
            self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
            self.url = f"h2c://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for_connections(self, count, within=5.0):
        eventually(lambda: len(self.connections) >= count, within, f"connection {count} at the upstream")
        return self.connections[count - 1]

    def wait_for_streams(self, count, within=5.0):
        """The `count`th stream that was answered, or is being answered, on any connection."""
        eventually(lambda: len(self.streams) >= count, within, f"stream {count} at the upstream")
        return self.streams[count - 1]

    def next_stream(self, peer):
        """For scripts: the next stream of a connection, noted as the others are."""
        if stream := peer.next_stream():
            self.streams.append(stream)
        return stream

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            peer = H2Peer(connection, client=False, timeout=30.0, **self.options)
            self.connections.append(peer)
            self.script(peer)
        except OSError:
            pass  # Martlet or the end of the test closed the connection.
        except Exception:
            self.failures.append(traceback.format_exc())
        finally:
            connection.close()

    def _answer_each(self, peer):
        while stream := self.next_stream(peer):
            self.answer(peer, stream)

    def stop(self):
        # Closing alone does not wake a thread that waits in accept or recv.
        for one in [self._listener, *(peer.socket for peer in self.connections)]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        print("\n".join(self.failures))
