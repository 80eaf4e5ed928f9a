"""A real gRPC server whose messages are defined, and which says by reflection how."""

import threading
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, timestamp_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

SERVICE = "shop.v1.OrderService"
Request = reflection_pb2.ServerReflectionRequest
Response = reflection_pb2.ServerReflectionResponse


def definition(*fields, service=SERVICE):
    """The files of a service that echoes orders with these text fields; one imports the other, and that a third."""
    types = descriptor_pb2.FileDescriptorProto(name="shop/order.proto", package="shop.v1", syntax="proto3")
    types.dependency.append("google/protobuf/timestamp.proto")
    order = types.message_type.add(name="Order")
    for number, name in enumerate(fields, 2):
        order.field.add(name=name, json_name=name, number=number, type="TYPE_STRING", label="LABEL_OPTIONAL")
    kind = {"type": "TYPE_MESSAGE", "label": "LABEL_OPTIONAL", "type_name": ".google.protobuf.Timestamp"}
    order.field.add(name="placed_at", json_name="placedAt", number=1, **kind)
    package, _, name = service.rpartition(".")
    shop = descriptor_pb2.FileDescriptorProto(name=f"shop/{name}.proto", package=package, syntax="proto3")
    shop.dependency.append(types.name)
    orders = {"input_type": ".shop.v1.Order", "output_type": ".shop.v1.Order"}
    defined = shop.service.add(name=name)
    defined.method.add(name="Get", **orders)
    defined.method.add(name="Watch", client_streaming=True, server_streaming=True, **orders)
    timestamp = descriptor_pb2.FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb)
    return [timestamp, types, shop]


def echo_each(requests, context):
    yield from requests


class ReflectingService:
    """Echoes orders with the text `fields`, on a free port of 127.0.0.1 or on the `port` given.

    The reflection service is the published one by both names, or has other `versions`, or is the function `reflect` from
    requests to responses, all of them messages or bytes. With an `identity` it speaks TLS.
    """

    def __init__(self, *fields, service=SERVICE, versions=("v1", "v1alpha"), reflect=None, port=0, identity=None):
        pool = descriptor_pool.DescriptorPool()
        for file in definition(*fields, service=service):
            pool.Add(file)
        names = [service, *(f"grpc.reflection.{version}.ServerReflection" for version in versions)]
        servicer = reflection.ReflectionServicer(names, pool=pool)
        self.fetches = 0
        self.orders = 0
        self._lock = threading.Lock()

        def info(requests, context):
            with self._lock:
                self.fetches += 1
            return (reflect or servicer.ServerReflectionInfo)(requests, context)

        def get(order, context):
            with self._lock:
                self.orders += 1
            return order

        self._threads = futures.ThreadPoolExecutor(32)
        self._server = grpc.server(self._threads, options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)])
        own = {"Get": grpc.unary_unary_rpc_method_handler(get), "Watch": grpc.stream_stream_rpc_method_handler(echo_each)}
        self._server.add_registered_method_handlers(service, own)
        handler = grpc.stream_stream_rpc_method_handler(info, Request.FromString, self._written)
        for version in versions:
            self._server.add_registered_method_handlers(
                f"grpc.reflection.{version}.ServerReflection", {"ServerReflectionInfo": handler}
            )
        if identity:
            pair = (identity.key.read_bytes(), identity.certificate.read_bytes())
            self.port = self._server.add_secure_port(f"127.0.0.1:{port}", grpc.ssl_server_credentials([pair]))
            self.url = f"https://127.0.0.1:{self.port}"
        else:
            self.port = self._server.add_insecure_port(f"127.0.0.1:{port}")
            self.url = f"h2c://127.0.0.1:{self.port}"
        self._server.start()

    @staticmethod
    def _written(response):
        return response if isinstance(response, bytes) else response.SerializeToString()

    def stop(self):
        self._server.stop(0).wait(10)
        self._threads.shutdown(wait=False, cancel_futures=True)
