"""The callers: published ones of Connect and gRPC, and one of gRPC-Web on sockets.

`open` begins a call: send requests, end, receive responses. At the end `receive` returns None, and `outcome` has the rest.
"""

import base64
import queue
import socket
import struct
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import unquote

import grpc
import h11
from connectrpc.client import ConnectClientSync, ResponseMetadata
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.request import Headers
from google.rpc import status_pb2
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport
from support.http1.peer import MAX_HEAD
from support.http2 import h2_peer
from support.protocol import envelope
from support.servers.grpc_service import UNLIMITED

from conformance.service import CODES, METHODS, PREFIX, SERVICE, Base64Pieces, Request, Response, data, text
from conformance.upstreams import KINDS, method_info

CODECS = {"proto": google_protobuf_binary_codec, "json": google_protobuf_json_codec}


def grouped(pairs):
    """The values of each name, in order."""
    result = defaultdict(list)
    for name, value in pairs:
        result[name.lower()].append(value)
    return dict(result)


@dataclass
class Outcome:
    """How a call ended: details are pairs of type and bytes, headers and trailers have lists of values."""

    code: str = "ok"
    text: str = ""
    details: list = field(default_factory=list)
    headers: dict = field(default_factory=dict)
    trailers: dict = field(default_factory=dict)
    # In gRPC, an error without messages can have all its fields in trailers, and no headers.
    is_trailers_only: bool = False


def grpc_outcome(code, message, headers, trailers):
    """The outcome of a gRPC call, whose details are in its trailers."""
    headers, trailers = grouped(headers), grouped(trailers)
    is_trailers_only = "grpc-status" in headers or not headers
    status = status_pb2.Status()
    if binary := trailers.pop("grpc-status-details-bin", None):
        (value,) = binary
        status.ParseFromString(data(value))
        assert (status.code, status.message) == (CODES.index(code), message)
    found = [(detail.type_url.removeprefix(PREFIX), detail.value) for detail in status.details]
    return Outcome(code, message, found, headers, trailers, is_trailers_only)


class ConnectCaller:
    """The published Connect client. It sends Idempotent as GET."""

    def __init__(self, url, http, codec):
        version = {1: HTTPVersion.HTTP1, 2: HTTPVersion.HTTP2}[http]
        client = SyncClient(SyncHTTPTransport(http_version=version))
        self._client = ConnectClientSync(url, codec=CODECS[codec](), http_client=client)

    def open(self, method, fields=(), timeout=None):
        return ConnectCall(self._client, method, fields, timeout)

    def stop(self):
        self._client.close()


class ConnectCall:
    def __init__(self, client, method, fields, timeout):
        self._requests = queue.SimpleQueue()
        self._metadata = ResponseMetadata()
        self._error = None
        options = {"method": method_info(method), "headers": Headers(list(fields)), "timeout_ms": timeout}
        if method == "Idempotent":
            options["use_get"] = True
        self._responses = self._call(getattr(client, f"execute_{KINDS[METHODS[method]].name.lower()}"), method, options)

    def _call(self, execute, method, options):
        streams_requests, streams_responses = METHODS[method]
        request = iter(self._requests.get, None) if streams_requests else self._requests.get()
        if streams_responses:
            yield from execute(request=request, **options)
        else:
            yield execute(request=request, **options)

    def send(self, request):
        self._requests.put(request)

    def end(self):
        self._requests.put(None)

    def receive(self):
        with self._metadata:
            try:
                return next(self._responses)
            except StopIteration:
                return None
            except ConnectError as error:
                self._error = error
                return None

    def outcome(self):
        own = grouped(self._metadata.headers.allitems()), grouped(self._metadata.trailers.allitems())
        if not self._error:
            return Outcome("ok", "", [], *own)
        details = [(detail.type_name, detail.message_bytes) for detail in self._error.details]
        return Outcome(self._error.code.value, self._error.message, details, *own)

    def cancel(self):
        self._responses.close()
        self.end()


class GrpcCaller:
    """The published gRPC client."""

    def __init__(self, url):
        own = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        self._channel = grpc.insecure_channel(url.removeprefix("http://"), options=[*UNLIMITED, *own])

    def open(self, method, fields=(), timeout=None):
        return GrpcCall(self._channel, method, fields, timeout)

    def stop(self):
        self._channel.close()


class GrpcCall:
    def __init__(self, channel, method, fields, timeout):
        kind = "_".join("stream" if streams else "unary" for streams in METHODS[method])
        stub = getattr(channel, kind)(f"/{SERVICE}/{method}", Request.SerializeToString, Response.FromString)
        self._begin = stub if METHODS[method][1] else stub.future
        self._streams_requests, self._streams_responses = METHODS[method]
        metadata = [(name, data(value) if name.endswith("-bin") else value) for name, value in fields]
        self._options = {"metadata": metadata, "timeout": timeout and timeout / 1000}
        self._requests = queue.SimpleQueue()
        self._is_received = False
        self._call = self._begin(iter(self._requests.get, None), **self._options) if self._streams_requests else None

    def send(self, request):
        if self._streams_requests:
            self._requests.put(request)
        else:
            self._call = self._begin(request, **self._options)

    def end(self):
        self._requests.put(None)

    def receive(self):
        try:
            if self._streams_responses:
                return next(self._call, None)
            if self._is_received:
                return None
            self._is_received = True
            return self._call.result()
        except grpc.RpcError:
            return None

    def outcome(self):
        code = CODES[self._call.code().value[0]]
        own = self._call.initial_metadata(), self._call.trailing_metadata()
        own = [[(name, text(value) if name.endswith("-bin") else value) for name, value in pairs] for pairs in own]
        return grpc_outcome(code, self._call.details() or "", *own)

    def cancel(self):
        self._call.cancel()
        self.end()


class GrpcWebCaller:
    """gRPC-Web on sockets, each call on its own connection."""

    def __init__(self, url, http, is_text):
        host, _, port = url.removeprefix("http://").rpartition(":")
        self._address = host, int(port)
        self._exchange = {1: Http1Exchange, 2: Http2Exchange}[http]
        self._is_text = is_text

    def open(self, method, fields=(), timeout=None):
        kind = f"application/grpc-web{'-text' if self._is_text else ''}+proto"
        own = [("content-type", kind), ("accept", kind), ("x-grpc-web", "1")]
        if timeout:
            own.append(("grpc-timeout", f"{timeout}m"))
        return GrpcWebCall(self._exchange(self._address, f"/{SERVICE}/{method}", [*own, *fields]), self._is_text)

    def stop(self):
        pass


class GrpcWebCall:
    def __init__(self, exchange, is_text):
        self._exchange = exchange
        self._is_text = is_text
        self._decode = Base64Pieces() if is_text else bytes
        self._received = bytearray()
        self._end = None
        self._is_over = False

    def send(self, request):
        frame = envelope(0, request.SerializeToString())
        self._exchange.send(base64.b64encode(frame) if self._is_text else frame)

    def end(self):
        self._exchange.end()

    def receive(self):
        while len(self._received) < 5 or len(self._received) < 5 + struct.unpack_from(">I", self._received, 1)[0]:
            received = self._exchange.receive()
            if not received:
                assert not self._received and not getattr(self._decode, "rest", b""), "cut off"
                self._is_over = True
                self._exchange.close()
                return None
            self._received += self._decode(received)
        flags, length = struct.unpack_from(">BI", self._received)
        payload = bytes(self._received[5 : 5 + length])
        del self._received[: 5 + length]
        assert self._end is None, "a message behind the end"
        if flags == 0:
            return Response.FromString(payload)
        if flags == 1:  # which is no message of this caller's, since it accepts no compression
            return Response(data=b"compressed")
        assert flags == 0x80, flags
        self._end = [tuple(line.split(": ", 1)) for line in payload.decode().split("\r\n") if line]
        return self.receive()

    def outcome(self):
        fields = self._exchange.fields()
        # A response without messages may have its status in the head.
        end = self._end if self._end is not None else fields
        status = dict(end)
        assert (status.get("grpc-status") or "none").isdigit(), (fields, self._end)
        trailers = [pair for pair in end if pair[0] not in ("grpc-status", "grpc-message")]
        return grpc_outcome(CODES[int(status["grpc-status"])], unquote(status.get("grpc-message", "")), fields, trailers)

    def cancel(self):
        if not self._is_over:
            self._exchange.cancel()


class Http1Exchange:
    """A request and its response on a connection of HTTP/1.1."""

    def __init__(self, address, path, fields):
        self._parser = h11.Connection(h11.CLIENT, MAX_HEAD)
        self._socket = socket.create_connection(address, 10)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._fields = []
        head = [("host", "a.example"), ("transfer-encoding", "chunked"), *fields]
        self._write(h11.Request(method="POST", target=path, headers=head))

    def _write(self, event):
        self._socket.sendall(self._parser.send(event))

    def send(self, content):
        self._write(h11.Data(content))

    def end(self):
        self._write(h11.EndOfMessage())

    def receive(self):
        """The next bytes of the body, nothing at its end."""
        while not isinstance(event := self._parser.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                self._parser.receive_data(self._socket.recv(1 << 16))
            elif isinstance(event, h11.Response):
                assert event.status_code == 200, event
                self._fields = [(name.decode(), value.decode()) for name, value in event.headers]
            elif isinstance(event, h11.Data):
                return bytes(event.data)
        return b""

    def fields(self):
        return self._fields

    def cancel(self):
        self.close()

    def close(self):
        self._socket.close()


class Http2Exchange:
    """A request and its response on a connection of HTTP/2."""

    def __init__(self, address, path, fields):
        self._peer = h2_peer.connect(address)
        self._stream = self._peer.open(h2_peer.request(path, "POST", *fields))

    def send(self, content):
        self._peer.data(self._stream.id, content)

    def end(self):
        self._peer.data(self._stream.id, end=True)

    def receive(self):
        """The next bytes of the body, nothing at its end."""
        stream = self._stream
        self._peer.wait(lambda: stream.body or stream.is_over, "the end of the response")
        assert stream.ended or stream.reset is None, f"reset with {stream.reset}"
        received = bytes(stream.body)
        stream.body.clear()
        stream.frames.clear()
        return received

    def fields(self):
        return [(name.decode(), value.decode()) for name, value in self._stream.fields]

    def cancel(self):
        self._peer.reset(self._stream.id)

    def close(self):
        self._peer.close()


# How each is made, and its HTTP version.
CALLERS = {f"connect-{http}-{codec}": (ConnectCaller, http, codec) for http in (1, 2) for codec in ("proto", "json")}
CALLERS |= {"grpc": (GrpcCaller,), "grpc-web-1": (GrpcWebCaller, 1, False), "grpc-web-2": (GrpcWebCaller, 2, False)}
CALLERS |= {"grpc-web-text-1": (GrpcWebCaller, 1, True), "grpc-web-text-2": (GrpcWebCaller, 2, True)}
