"""The schemas of `message_types/schemas`, as descriptor sets for the binary and as classes for the tests; and `martlet types`."""

import functools
import subprocess
import tempfile
from pathlib import Path

import grpc_tools
from google.api import http_pb2
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from grpc_tools import protoc

from support.martlet import BINARY, ENVIRONMENT

SOURCE = Path(__file__).parents[1] / "message_types" / "schemas"
WELL_KNOWN = Path(grpc_tools.__file__).parent / "_proto"
# The folder that has google/api and google/rpc.
GOOGLE = Path(http_pb2.__file__).parents[2]


def compiled(sources, *names, options=("--include_imports",)):
    """Compiles files of the folder `sources`; returns the descriptor set."""
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "set.binpb"
        command = ["protoc", f"-I{sources}", f"-I{WELL_KNOWN}", f"-I{GOOGLE}", f"--descriptor_set_out={output}", *options, *names]
        assert protoc.main(command) == 0, f"protoc failed for {names}"
        return output.read_bytes()


@functools.cache
def all_schemas():
    """The descriptor set of all schemas, made once in a process."""
    return compiled(SOURCE, *sorted(file.name for file in SOURCE.glob("*.proto")))


class Classes:
    """The classes of the messages in a descriptor set, made by the published library: the oracle."""

    def __init__(self, bytes_of_set):
        self.pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(bytes_of_set).file:
            self.pool.Add(file)

    def __getitem__(self, name):
        return message_factory.GetMessageClass(self.pool.FindMessageTypeByName(name))

    def extension(self, name):
        return self.pool.FindExtensionByName(name)

    def parse(self, name, text, **options):
        """The message that JSON means."""
        return json_format.Parse(text, self[name](), descriptor_pool=self.pool, **options)

    def json(self, message, **options):
        """The JSON of a message."""
        return json_format.MessageToJson(message, indent=None, descriptor_pool=self.pool, **options)


@functools.cache
def classes():
    """The classes of all schemas."""
    return Classes(all_schemas())


class Types:
    """`martlet types` with descriptor sets in a folder."""

    def __init__(self, directory, *sets, options=""):
        self.directory = Path(directory)
        self.directory.mkdir(exist_ok=True)
        names = [f"set{index}.binpb" for index in range(len(sets))]
        for name, content in zip(names, sets):
            (self.directory / name).write_bytes(content)
        files = ", ".join(str(self.directory / name) for name in names)
        self.file = self.directory / "martlet.yaml"
        types = f"types: {{ files: [{files}]{options} }}\n"
        self.file.write_text(f"listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\n{types}")

    def run(self, *arguments, stdin=b"", within=30.0, through=()):
        """Runs a command with the file to its end; all streams are bytes."""
        command = [*through, BINARY, arguments[0], "-c", self.file, *arguments[1:]]
        result = subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=within)
        assert result.returncode >= 0, f"signal {-result.returncode}: {result.stderr.decode(errors='replace')[-2000:]}"
        assert result.returncode < 128, f"exit code {result.returncode}"
        return result

    def run_into(self, path, *arguments, stdin=b'{"stringValue":"x"}'):
        """Runs a command whose output goes to a file."""
        options = [] if arguments[0] == "schema" else ["-c", self.file]
        command = [BINARY, arguments[0], *options, *arguments[1:]]
        with open(path, "wb") as output:
            return subprocess.run(command, input=stdin, stdout=output, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=30)

    def encode(self, name, text, **options):
        """The wire bytes of JSON that is valid."""
        result = self.run("types", "encode", name, stdin=_bytes(text), **options)
        assert (result.returncode, result.stderr) == (0, b"")
        return result.stdout

    def decode(self, name, wire, **options):
        """The JSON of a valid message: one line."""
        result = self.run("types", "decode", name, stdin=wire, **options)
        assert (result.returncode, result.stderr) == (0, b"")
        text = result.stdout.decode()
        assert text.endswith("\n") and text.count("\n") == 1
        return text[:-1]

    def error(self, action, name, given, **options):
        """The words of the error about a message that is not valid."""
        result = self.run("types", action, name, stdin=_bytes(given), **options)
        assert result.returncode == 1, f"accepted: {result.stdout[:500]!r}"
        assert result.stdout == b""
        words = result.stderr.decode()
        assert words.startswith("martlet: ") and words.count("\n") == 1
        return words.removeprefix("martlet: ").removesuffix("\n")


def _bytes(text):
    return text.encode() if isinstance(text, str) else text
