"""A gRPC server whose methods return their requests, and Martlet before it, which lets callers use its REST paths."""

import threading
from concurrent import futures

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import status_pb2
from grpc_reflection.v1alpha import reflection
from support.schemas import Classes, compiled

from rest.things import SCHEMAS, SERVICE, options


@pytest.fixture(scope="session")
def schema():
    """The descriptor set of the service."""
    return compiled(SCHEMAS, "things.proto")


class Things:
    """The service, over a real gRPC server. `held` streams wait for `resume` behind their first message."""

    def __init__(self, classes):
        self.classes = classes
        self.thing, self.body = classes["rest.v1.Thing"], classes["google.api.HttpBody"]
        self.resume = threading.Event()
        self.size = 0
        self.metadata = {}
        self.timeouts = []
        unary, stream = grpc.unary_unary_rpc_method_handler, grpc.unary_stream_rpc_method_handler
        echoes = ("Get", "Special", "List", "Create", "Update", "Delete", "Cancel", "Files", "Part", "UploadFile")
        handlers = {name: self._handler(unary, self.echo, self.thing, self.thing) for name in echoes}
        text = classes["google.protobuf.StringValue"]
        handlers["Text"] = self._handler(unary, self.echo, text, text)
        handlers["Fail"] = self._handler(unary, self.fail, self.thing, self.thing)
        handlers["Watch"] = self._handler(stream, self.watch, self.thing, self.thing)
        handlers["Download"] = self._handler(unary, self.download, self.thing, self.body)
        handlers["Upload"] = self._handler(unary, self.upload, self.body, self.thing)
        handlers["Export"] = self._handler(stream, self.export, self.thing, self.body)
        self._threads = futures.ThreadPoolExecutor(16)
        self._server = grpc.server(self._threads, options=[("grpc.so_reuseport", 0)])
        self._server.add_registered_method_handlers(SERVICE, handlers)
        reflection.enable_server_reflection([SERVICE, reflection.SERVICE_NAME], self._server, classes.pool)
        self.url = f"h2c://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    @staticmethod
    def _handler(kind, function, request, response):
        return kind(function, request.FromString, response.SerializeToString)

    def _note(self, context):
        self.metadata = dict(context.invocation_metadata())
        self.timeouts.append(context.time_remaining())

    def echo(self, request, context):
        self._note(context)
        context.send_initial_metadata([("seen", "header")])
        context.set_trailing_metadata([("cost", "237")])
        return request

    def fail(self, request, context):
        """Ends with the code that the request counts, and three details, of which one has an unknown type."""
        status = status_pb2.Status(code=request.count, message="not today: 100% ☂")
        bad = self.classes["google.rpc.BadRequest"](field_violations=[{"field": "count", "description": "odd"}])
        status.details.add(type_url="type.googleapis.com/google.rpc.BadRequest", value=bad.SerializeToString())
        status.details.add().Pack(duration_pb2.Duration(seconds=90))
        status.details.add(type_url="type.googleapis.com/unknown.v1.Detail", value=b"\x08\x01")
        context.set_trailing_metadata([("grpc-status-details-bin", status.SerializeToString())])
        context.abort(next(code for code in grpc.StatusCode if code.value[0] == request.count), status.message)

    def watch(self, request, context):
        """As many messages as the request counts, one more held back if it has a name, and an error if that is `fail`."""
        for number in range(request.count):
            yield self.thing(count=number, name="two\nlines")
        if request.name:
            self.resume.wait(10)
        if request.name == "fail":
            context.abort(grpc.StatusCode.DATA_LOSS, "forgot the rest")
        if request.name:
            yield self.thing(name=request.name)

    def download(self, request, context):
        return self.body(content_type="image/x-test", data=request.name.encode() + b"\0\xff" + b"x" * self.size)

    def upload(self, request, context):
        return self.thing(name=request.content_type, data=request.data)

    def export(self, request, context):
        for number in range(request.count):
            yield self.body(content_type="text/csv", data=b"%d;\n" % number)

    def stop(self):
        self.resume.set()
        self._server.stop(0).wait(10)
        self._threads.shutdown(wait=False, cancel_futures=True)


@pytest.fixture
def things(schema, running):
    """The service."""
    return running(Things(Classes(schema)))


@pytest.fixture
def proxy(martlet, things, schema, tmp_path):
    """Starts Martlet before the service; the options of its types and more of its file can be given."""
    file = tmp_path / "things.binpb"
    file.write_bytes(schema)

    def start(more="", types="", upstream="speaks: grpc"):
        return martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{things.url}", {upstream} }} }}
            types: {options(file, types)}
            """
            + more
        )

    return start
