"""What all cases share: a directory with certificates and bodies, the programs in C, and the backends."""

import json
import struct
import subprocess
import tempfile
from pathlib import Path

import trustme
from google.protobuf import descriptor_pb2

from cases import CACHED
from peers import AUTHORIZATION, HERE, NAME, TOKEN, render
from process import REST, Process, free_port
from quiet import Quiet

JSON = b'{"sentence":"Hello, how are you today?"}'
ENVELOPE = b"\0" + struct.pack(">I", len(JSON)) + JSON
PROTOBUF = b"\x0a\x19Hello, how are you today?"
# What callers send, by what they speak: the content type, further fields, and the body.
REQUESTS = {
    "": ("application/grpc", {"te": "trailers"}, ENVELOPE),
    "connect": ("application/proto", {"connect-protocol-version": "1"}, PROTOBUF),
    "grpc_web": ("application/grpc-web+proto", {}, b"\0" + struct.pack(">I", len(PROTOBUF)) + PROTOBUF),
    "json": ("application/json", {"connect-protocol-version": "1"}, JSON),
}
SHARED_MEMORY = Path("/dev/shm")
SIZES = [40, 64, 1024, 4096, 16384, 65536, 262144, 1 << 20]


def descriptors():
    """The types of the backend, as `protoc --descriptor_set_out` has them."""
    service, field = descriptor_pb2.ServiceDescriptorProto(name="Bench"), descriptor_pb2.FieldDescriptorProto
    service.method.add(name="Get40", input_type=".bench.v1.Sentence", output_type=".bench.v1.Sentence")
    message = descriptor_pb2.DescriptorProto(name="Sentence")
    message.field.add(name="sentence", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    file = {"name": "bench.proto", "package": "bench.v1", "syntax": "proto3"}
    file = descriptor_pb2.FileDescriptorProto(**file, message_type=[message], service=[service])
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


def locations():
    """nginx's responses: a text of so many bytes, from a KiB in a variable where that is too long for its parser."""
    for size in SIZES:
        text = "${kib}" * (size // 1024) if size >= 1024 else "m" * size
        if len(text) > 3000:  # a token has at most 4096 bytes
            text = "${big}" * (size // 65536)
        yield f'location = /bench.v1.Bench/Get{size} {{ return 200 "{text}"; }}'
    for size in {case.size for case in CACHED}:
        fields = "add_header cache-control max-age=86400; add_header x-number $request_id;"
        yield f'location = /cached/{size} {{ {fields} return 200 "{"${kib}" * (size // 1024)}"; }}'


class Stage:
    """Stands until `close`: backends on the processor of the load."""

    def __init__(self, directory, patience=0):
        self.directory = Path(directory)
        # For files that shall be in memory, where the system has a place for them.
        self._memory = tempfile.TemporaryDirectory(prefix="bench-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else directory)
        self.memory = self._memory.name
        self.quiet = Quiet(patience)
        self.backends = []
        authority = trustme.CA(key_type=trustme.KeyType.ECDSA)
        certificate = authority.issue_cert(NAME, key_type=trustme.KeyType.ECDSA)
        authority.cert_pem.write_to_path(self.directory / "ca.pem")
        for each in ("proxy", "backend"):
            (self.directory / each).mkdir()
        certificate.cert_chain_pems[0].write_to_path(self.directory / "backend/backend.pem")
        certificate.private_key_pem.write_to_path(self.directory / "backend/backend.key")
        (self.directory / "token").write_text(TOKEN)
        for speaks, (_, _, body) in REQUESTS.items():
            (self.directory / f"body.{speaks or 'grpc'}").write_bytes(body)
        (self.directory / "bench.binpb").write_bytes(descriptors())
        script = f'wrk.method = "POST"\nwrk.body = {json.dumps(JSON.decode())}\nwrk.headers["content-type"] = "application/json"\n'
        (self.directory / "wrk.lua").write_text(script)
        for name, library in (("backend", "-lnghttp2"), ("caller", None), ("copier", None)):
            target = self.directory / f"{name}.program"
            command = ["cc", "-O2", "-o", target, HERE / f"{name}.c", *([library] if library else [])]
            subprocess.run(command, check=True)
        self._ports = {kind: free_port() for kind in ("http1", "tls", "grpc")}
        self._start()

    def _start(self):
        directory = self.directory / "backend"
        marks = {"port": self._ports["http1"], "tls_port": self._ports["tls"], "locations": "\n        ".join(locations())}
        (directory / "backend.conf").write_text(render("backend.conf", kib="0123456789abcdef" * 64, big="${kib}" * 64, **marks))
        command = ["nginx", "-p", directory, "-c", directory / "backend.conf", "-e", "stderr"]
        self.backends.append(Process(command, directory, {REST}, "nginx.log"))
        command = [self.directory / "backend.program", self._ports["grpc"], AUTHORIZATION]
        self.backends.append(Process(command, directory, {REST}, "grpc.log"))
        for backend, port in zip(self.backends, (self._ports["http1"], self._ports["grpc"])):
            backend.wait_for_port(port)

    def port(self, case):
        """Where the backend of a case listens."""
        return self._ports["grpc" if case.grpc else "tls" if case.tls else "http1"]

    def close(self):
        for backend in self.backends:
            backend.stop()
        self._memory.cleanup()
