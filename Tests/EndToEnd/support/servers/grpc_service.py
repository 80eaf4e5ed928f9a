"""A real gRPC server of plain functions on bytes, and channels to call it through."""

from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2

SERVICE = "martlet.test.Bytes"
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def path(method):
    return f"/{SERVICE}/{method}"


def descriptor_set():
    """The definition of the methods of `KINDS`, as if their messages had a sentence; a GET may call Unary."""
    package, _, name = SERVICE.rpartition(".")
    file = descriptor_pb2.FileDescriptorProto(name="bytes.proto", package=package, syntax="proto3")
    message = file.message_type.add(name="Message")
    message.field.add(name="sentence", json_name="sentence", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    kind = f".{package}.Message"
    methods = file.service.add(name=name).method
    unary = methods.add(name="Unary", input_type=kind, output_type=kind)
    unary.options.idempotency_level = descriptor_pb2.MethodOptions.NO_SIDE_EFFECTS
    methods.add(name="Upload", input_type=kind, output_type=kind, client_streaming=True)
    methods.add(name="Download", input_type=kind, output_type=kind, server_streaming=True)
    methods.add(name="Converse", input_type=kind, output_type=kind, client_streaming=True, server_streaming=True)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def echo(request, context):
    return request


def join(requests, context):
    return b"".join(requests)


def count(request, context):
    """As many messages as the request says, each its own number."""
    for number in range(int(request)):
        yield b"%d" % number


def echo_each(requests, context):
    yield from requests


KINDS = {
    "Unary": (grpc.unary_unary_rpc_method_handler, echo),
    "Upload": (grpc.stream_unary_rpc_method_handler, join),
    "Download": (grpc.unary_stream_rpc_method_handler, count),
    "Converse": (grpc.stream_stream_rpc_method_handler, echo_each),
}


class GrpcService:
    """Serves `functions` by the name of their method, those of `KINDS` for the rest.

    On a free port of 127.0.0.1, or on the `port` or Unix `path` given.
    """

    def __init__(self, functions=None, port=0, path=None, options=(), threads=64):
        unknown = set(functions or {}) - set(KINDS)
        assert not unknown, unknown
        handlers = {name: kind((functions or {}).get(name, own)) for name, (kind, own) in KINDS.items()}
        self._threads = futures.ThreadPoolExecutor(threads)
        self._server = grpc.server(self._threads, options=[*UNLIMITED, ("grpc.so_reuseport", 0), *options])
        self._server.add_registered_method_handlers(SERVICE, handlers)
        if path:
            self._server.add_insecure_port(f"unix:{path}")
            self.url = f"unix+h2c:{path}"
        else:
            self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
            self.url = f"h2c://127.0.0.1:{self.port}"
        self._server.start()

    def stop(self, grace=0.0):
        """Stops taking calls, and cuts off those that have not ended after `grace` seconds."""
        self._server.stop(grace).wait(10)
        self._threads.shutdown(wait=False, cancel_futures=True)


class GrpcChannel:
    """A connection of the published client to an address as the log has it; the methods send and return bytes."""

    def __init__(self, address, options=()):
        own = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        self._channel = grpc.insecure_channel(address, options=[*UNLIMITED, *own, *options])
        self.unary = self._channel.unary_unary(path("Unary"))
        # The message and the code, whatever comes of the call.
        self.unary_in_parts = self._channel.unary_stream(path("Unary"))
        self.upload = self._channel.stream_unary(path("Upload"))
        self.download = self._channel.unary_stream(path("Download"))
        self.converse = self._channel.stream_stream(path("Converse"))

    def stop(self):
        self._channel.close()
