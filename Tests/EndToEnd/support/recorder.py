"""An upstream that records every byte it is sent and answers what the test scripts."""

import socket
import ssl
import threading
import traceback

from support.patience import eventually
from support.peer import Peer

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


class Recorder:
    """Listens on loopback and answers each request with `answer` (bytes, or a function of the request).

    `script`, a function of the connected peer, replaces that loop. Each connection has a thread of its own. With `tls`,
    an SSL context, what is recorded is what was decrypted; a handshake that fails is noted in `refusals`.
    """

    def __init__(self, answer=OK, script=None, host="127.0.0.1", path=None, tls=None):
        self.answer = answer
        self.script = script or self._answer_each
        self.connections = []
        self.requests = []
        self.failures = []
        self.tls = tls
        self.refusals = []
        if path:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self._listener.listen(128)
            self.url = f"unix:{path}"
        else:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            self._listener = socket.create_server((host, 0), family=family, backlog=128)
            self.port = self._listener.getsockname()[1]
            scheme = "https" if tls else "http"
            self.url = f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def bytes(self):
        """Everything any connection was sent."""
        return b"".join(bytes(peer.received) for peer in list(self.connections))

    def wait_for_requests(self, count, within=5.0):
        eventually(lambda: len(self.requests) >= count, within, f"request {count} at the upstream")
        return self.requests[count - 1]

    def wait_for_connections(self, count, within=5.0):
        eventually(lambda: len(self.connections) >= count, within, f"connection {count} at the upstream")
        return self.connections[count - 1]

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            peer = Peer(connection, timeout=30.0)
            self.connections.append(peer)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        try:
            if self.tls:
                peer.socket = self.tls.wrap_socket(peer.socket, server_side=True)
            self.script(peer)
        except ssl.SSLError as error:
            self.refusals.append(error)
        except OSError:
            pass  # Martlet or the end of the test closed the connection.
        except Exception:
            self.failures.append(traceback.format_exc())
        finally:
            peer.close()

    def _answer_each(self, peer):
        while request := peer.request():
            self.requests.append(request)
            peer.send(self.answer(request) if callable(self.answer) else self.answer)

    def stop(self):
        # Closing alone does not wake a thread that waits in accept or recv.
        for one in [self._listener, *(peer.socket for peer in self.connections)]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        print("\n".join(self.failures))
