"""Eliza: a real Connect server, and the client to call her with."""

import os
import socket
import sys
from pathlib import Path

from connectrpc.client import ConnectClientSync
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport

from support.program import Program
from support.servers.eliza_messages import CONVERSE, INTRODUCE, LISTEN, SAY, messages

CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}


class Eliza(Program):
    """The server, a separate program on an ephemeral port of 127.0.0.1."""

    def __init__(self, name="Eliza"):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.h2c_url = f"h2c://127.0.0.1:{self.port}"
        descriptor = listener.fileno()
        command = [sys.executable, "-m", "support.servers.eliza_service", descriptor, name]
        root = Path(__file__).parents[2]
        super().__init__(command, cwd=root, env={"PATH": os.environ["PATH"]}, pass_fds=[descriptor])
        listener.close()
        self.stderr.wait("Running on")


class Client:
    """The published Connect client with Eliza's methods, over HTTP/1.1 by default."""

    def __init__(self, url, codec="proto", http=1, **options):
        version = {1: HTTPVersion.HTTP1, 2: HTTPVersion.HTTP2}[http]
        client = SyncClient(SyncHTTPTransport(http_version=version))
        self._client = ConnectClientSync(url, codec=CODECS[codec](), http_client=client, **options)

    def say(self, sentence, **options):
        request = messages.SayRequest(sentence=sentence)
        return self._client.execute_unary(request=request, method=SAY, **options).sentence

    def listen(self, sentences, **options):
        requests = (messages.ListenRequest(sentence=sentence) for sentence in sentences)
        return self._client.execute_client_stream(request=requests, method=LISTEN, **options).sentence

    def converse(self, sentences, **options):
        """Yields each response as it arrives."""
        requests = (messages.ConverseRequest(sentence=sentence) for sentence in sentences)
        for response in self._client.execute_bidi_stream(request=requests, method=CONVERSE, **options):
            yield response.sentence

    def introduce(self, name, **options):
        """Yields each sentence as it arrives."""
        request = messages.IntroduceRequest(name=name)
        for response in self._client.execute_server_stream(request=request, method=INTRODUCE, **options):
            yield response.sentence
