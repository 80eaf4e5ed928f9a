"""The messages and methods of Eliza, made from eliza.proto when first imported, in a directory that is not kept."""

import importlib.util
import tempfile
from pathlib import Path

from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

SERVICE = "connectrpc.eliza.v1.ElizaService"


def _generate():
    source = Path(__file__).parent
    with tempfile.TemporaryDirectory() as directory:
        failed = protoc.main(["protoc", f"-I{source}", f"--python_out={directory}", "eliza.proto"])
        assert not failed, "protoc failed"
        spec = importlib.util.spec_from_file_location("eliza_pb2", Path(directory) / "eliza_pb2.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


messages = _generate()


def descriptor_set():
    """The definition of the service, as `protoc --descriptor_set_out` writes it."""
    file = descriptor_pb2.FileDescriptorProto()
    messages.DESCRIPTOR.CopyToProto(file)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def _method(name, stream_type, idempotency=IdempotencyLevel.UNKNOWN):
    return MethodInfo(
        name=name,
        service_name=SERVICE,
        input=getattr(messages, f"{name}Request"),
        output=getattr(messages, f"{name}Response"),
        idempotency_level=idempotency,
        stream_type=stream_type,
    )


SAY = _method("Say", StreamType.UNARY, IdempotencyLevel.NO_SIDE_EFFECTS)
CONVERSE = _method("Converse", StreamType.BIDI_STREAM)
LISTEN = _method("Listen", StreamType.CLIENT_STREAM)
INTRODUCE = _method("Introduce", StreamType.SERVER_STREAM)
