"""A real gRPC server whose unary method sends its message before it fails."""

from concurrent import futures

import grpc

from support.servers.grpc_service import SERVICE


def message(sentence):
    """A message of the service, serialized."""
    length, prefix = len(sentence), b"\x0a"
    while length > 0x7F:
        prefix += bytes([length & 0x7F | 0x80])
        length >>= 7
    return prefix + bytes([length]) + sentence


BUSY, GOOD = message(b"busy"), message(b"good")


class EarlyMessages:
    """Sends a message in every case; the first time with an error or a trailer behind it."""

    def __init__(self, first="code", message=BUSY):
        self.attempts = 0
        self._first = first
        self._message = message
        self._server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
        handler = grpc.unary_stream_rpc_method_handler(self._respond)
        self._server.add_registered_method_handlers(SERVICE, {"Unary": handler, "Download": handler})
        self.url = f"h2c://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _respond(self, request, context):
        self.attempts += 1
        if self.attempts > 1:
            yield GOOD
            return
        if self._first == "trailer":
            context.set_trailing_metadata([("x-bad", "1")])
        yield self._message
        if self._first == "code":
            context.abort(grpc.StatusCode.UNAVAILABLE, "busy")

    def stop(self):
        self._server.stop(0).wait(10)
