"""A server with a thread for each connection, the base of every scripted upstream."""

import socket
import threading
import traceback

from support.wait import eventually


class ThreadedServer:
    """Listens on a socket; a subclass makes a peer of a connection in `accept`, and serves it in `serve`.

    `connections` has them in the order in which they were accepted, `failures` what went wrong in `serve`.
    """

    def __init__(self, listener):
        self.connections = []
        self.failures = []
        self._listener = listener
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for_connections(self, count, within=5.0):
        eventually(lambda: len(self.connections) >= count, within, f"connection {count} at the upstream")
        return self.connections[count - 1]

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            try:
                peer = self.accept(connection)
            except OSError:
                connection.close()
                continue
            self.connections.append(peer)
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        try:
            self.serve(peer)
        except OSError:
            pass  # Martlet or the end of the test closed the connection.
        except Exception:
            self.failures.append(traceback.format_exc())
        finally:
            peer.close()

    def stop(self):
        # Closing alone does not wake a thread that waits in accept or recv.
        for one in [self._listener, *(peer.socket for peer in self.connections)]:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()
        print("\n".join(self.failures))


def listen_unix(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(4096)
    return listener


def listen_tcp(host="127.0.0.1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 0), family=family, backlog=4096)
