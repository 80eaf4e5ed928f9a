"""Eliza: a real Connect server, and the client to call her with."""

import os
import socket
import sys
from pathlib import Path

from connectrpc.client import ConnectClientSync
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec

from support.eliza_messages import INTRODUCE, SAY, messages
from support.program import Program

CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}


class Eliza(Program):
    """The server, a program of its own on an ephemeral port of 127.0.0.1."""

    def __init__(self, name="Eliza"):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        descriptor = listener.fileno()
        command = [sys.executable, "-m", "support.eliza_service", descriptor, name]
        root = Path(__file__).parents[1]
        super().__init__(command, cwd=root, env={"PATH": os.environ["PATH"]}, pass_fds=[descriptor])
        listener.close()
        self.stderr.wait("Running on")


class Client:
    """The published Connect client with Eliza's methods."""

    def __init__(self, url, codec="proto", **options):
        self._client = ConnectClientSync(url, codec=CODECS[codec](), **options)

    def say(self, sentence, **options):
        request = messages.SayRequest(sentence=sentence)
        return self._client.execute_unary(request=request, method=SAY, **options).sentence

    def introduce(self, name, **options):
        """Yields each sentence as it arrives."""
        request = messages.IntroduceRequest(name=name)
        for response in self._client.execute_server_stream(request=request, method=INTRODUCE, **options):
            yield response.sentence
