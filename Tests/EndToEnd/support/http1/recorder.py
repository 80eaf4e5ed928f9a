"""An upstream that records every byte it is sent and responds as the test scripts."""

import ssl

from support.http1.peer import Peer
from support.servers.threaded import ThreadedServer, listen_tcp, listen_unix

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


class Recorder(ThreadedServer):
    """Listens on loopback and responds to each request with `response` (bytes, or a function of the request).

    `script`, a function of the connected peer, replaces that loop. Each connection has a thread of its own. With `tls`,
    an SSL context, what is recorded is what was decrypted; a handshake that fails is noted in `handshake_errors`.
    """

    def __init__(self, response=OK, script=None, host="127.0.0.1", path=None, tls=None):
        self.response = response
        self.script = script or self._response_each
        self.requests = []
        self.tls = tls
        self.handshake_errors = []
        if path:
            listener = listen_unix(path)
            self.url = f"unix:{path}"
        else:
            listener = listen_tcp(host)
            self.port = listener.getsockname()[1]
            scheme = "https" if tls else "http"
            self.url = f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
        super().__init__(listener)

    @property
    def bytes(self):
        """Everything any connection was sent."""
        return b"".join(bytes(peer.received) for peer in list(self.connections))

    def accept(self, connection):
        return Peer(connection, timeout=30.0)

    def serve(self, peer):
        try:
            if self.tls:
                peer.socket = self.tls.wrap_socket(peer.socket, server_side=True)
            self.script(peer)
        except ssl.SSLError as error:
            self.handshake_errors.append(error)

    def _response_each(self, peer):
        while request := peer.request():
            self.requests.append(request)
            peer.send(self.response(request) if callable(self.response) else self.response)
