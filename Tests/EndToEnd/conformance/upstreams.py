"""The servers: a published one of gRPC, a published one of Connect, and one of gRPC-Web on sockets."""

import asyncio
import base64
import gzip
import socket
import struct
import threading
from concurrent import futures
from urllib.parse import quote

import grpc
import h11
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_codecs
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.rpc import status_pb2
from hypercorn.asyncio import serve
from hypercorn.config import Config
from protobuf.wkt import Any
from support.http1.peer import MAX_HEAD, Peer
from support.protocol import envelope
from support.servers.grpc_service import UNLIMITED
from support.servers.threaded import ThreadedServer, listen_tcp

from conformance.service import CODES, HANG, METHODS, PREFIX, READ, SERVICE, Base64Pieces, Failed, Head, Request, Response
from conformance.service import advance, behave, data, text

SERVED = [method for method in METHODS if method != "Missing"]


class Calls:
    """What a server tells of its calls, by the `x-call` of their requests: when one hangs, and when it is over after that."""

    def __init__(self):
        self._hanging = {}
        self._over = {}

    def hanging(self, name):
        return self._hanging.setdefault(name, threading.Event())

    def over(self, name):
        return self._over.setdefault(name, threading.Event())


def details(status, code, message, pairs):
    """The bytes of a google.rpc.Status."""
    status.code, status.message = code, message
    for name, value in pairs:
        status.details.add(type_url=PREFIX + name, value=value)
    return status.SerializeToString()


class GrpcUpstream(Calls):
    """grpcio, which knows Protobuf only."""

    settings = "speaks: grpc, codecs: [proto]"
    http = 2

    def __init__(self):
        super().__init__()
        self._threads = futures.ThreadPoolExecutor(32)
        self._server = grpc.server(self._threads, options=[*UNLIMITED, ("grpc.so_reuseport", 0)])
        self._server.add_registered_method_handlers(SERVICE, {method: self._handler(method) for method in SERVED})
        self.url = f"h2c://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def _handler(self, method):
        streams_requests, streams_responses = METHODS[method]

        def stream(requests, context):
            return self._serve(method, requests if streams_requests else iter([requests]), context)

        def single(requests, context):
            (response,) = stream(requests, context)
            return response

        kind = f"{'stream' if streams_requests else 'unary'}_{'stream' if streams_responses else 'unary'}_rpc_method_handler"
        return getattr(grpc, kind)(stream if streams_responses else single, Request.FromString, Response.SerializeToString)

    def _serve(self, method, requests, context):
        is_over = threading.Event()
        context.add_callback(is_over.set)
        metadata = context.invocation_metadata()
        fields = [(name, text(value) if name.endswith("-bin") else value) for name, value in metadata]
        call, left = dict(fields).get("x-call"), context.time_remaining()
        # Without a deadline this library has centuries left.
        script = behave(method, fields, int(left * 1000) if left and left < 1e9 else None)
        step, trailers = next(script), []
        while step is not None:
            given = None
            match step:
                case Head():
                    context.send_initial_metadata(_metadata(step.headers))
                    trailers = _metadata(step.trailers)
                    context.set_trailing_metadata(trailers)
                case Failed():
                    if step.details:
                        status = details(status_pb2.Status(), step.code, step.text, step.details)
                        context.set_trailing_metadata([*trailers, ("grpc-status-details-bin", status)])
                    context.abort(next(code for code in grpc.StatusCode if code.value[0] == step.code), step.text)
                case Response():
                    yield step
                case _ if step == READ:
                    given = next(requests, None)
                case _ if step == HANG:
                    self.hanging(call).set()
                    is_over.wait(10)
                    self.over(call).set()
            step = advance(script, given)

    def stop(self):
        self._server.stop(0).wait(10)
        self._threads.shutdown(wait=False, cancel_futures=True)


def _metadata(pairs):
    return [(name, data(value) if name.endswith("-bin") else value) for name, value in pairs]


KINDS = {
    (False, False): StreamType.UNARY,
    (False, True): StreamType.SERVER_STREAM,
    (True, False): StreamType.CLIENT_STREAM,
    (True, True): StreamType.BIDI_STREAM,
}


def method_info(method):
    """A method as connectrpc has it."""
    level = IdempotencyLevel.NO_SIDE_EFFECTS if method == "Idempotent" else IdempotencyLevel.UNKNOWN
    kind = KINDS[METHODS[method]]
    return MethodInfo(
        name=method, service_name=SERVICE, input=Request, output=Response, idempotency_level=level, stream_type=kind
    )


class ConnectUpstream(Calls):
    """connectrpc under hypercorn, in a thread with its own event loop."""

    settings = "speaks: connect, codecs: [json]"
    codec = "json"
    http = 1

    def __init__(self):
        super().__init__()
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        scheme = "http" if self.http == 1 else "h2c"
        self.url = f"{scheme}://127.0.0.1:{listener.getsockname()[1]}"
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        config = Config()
        config.bind = [f"fd://{listener.detach()}"]
        config.keep_alive_timeout = 60
        config.errorlog = None
        running = serve(Application(self), config, shutdown_trigger=self._stopping.wait)
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(running,), daemon=True)
        self._thread.start()

    async def steps(self, method, requests, context):
        """Yields each response."""
        fields = list(context.request_headers.allitems())
        timeout = context.request_headers.get("connect-timeout-ms")
        script = behave(method, fields, timeout and int(timeout), context.http_method)
        step = next(script)
        while step is not None:
            given = None
            match step:
                case Head():
                    for own, given_pairs in ((context.response_headers, step.headers), (context.response_trailers, step.trailers)):
                        for name, value in given_pairs:
                            own.add(name, value)
                case Failed():
                    found = [Any(type_url=PREFIX + name, value=value) for name, value in step.details]
                    raise ConnectError(Code(CODES[step.code]), step.text, found)
                case Response():
                    yield step
                case _ if step == READ:
                    given = await anext(requests, None)
                case _ if step == HANG:
                    await self._hang(context.request_headers.get("x-call"), requests)
            step = advance(script, given)

    async def _hang(self, call, requests):
        self.hanging(call).set()
        try:
            # This library notices that a caller is gone only behind the end of the request, or while it reads it.
            await anext(requests, None)
            await asyncio.sleep(10)
        finally:
            self.over(call).set()

    def stop(self):
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)


class ConnectUpstream2(ConnectUpstream):
    """The same over HTTP/2."""

    settings = "speaks: connect, codecs: [proto]"
    codec = "proto"
    http = 2


class Application(ConnectASGIApplication):
    path = f"/{SERVICE}"

    def __init__(self, upstream):
        endpoints = {f"{self.path}/{method}": self._endpoint(upstream, method) for method in SERVED}
        super().__init__(service=upstream, endpoints=lambda _: endpoints, codecs=google_protobuf_codecs())

    @staticmethod
    def _endpoint(upstream, method):
        streams_requests, streams_responses = METHODS[method]

        async def one(request):
            yield request

        def stream(requests, context):
            return upstream.steps(method, requests if streams_requests else one(requests), context)

        async def single(requests, context):
            (response,) = [response async for response in stream(requests, context)]
            return response

        make = getattr(Endpoint, KINDS[METHODS[method]].name.lower())
        return make(method=method_info(method), function=stream if streams_responses else single)


class GrpcWebUpstream(Calls, ThreadedServer):
    """gRPC-Web over HTTP/1.1, binary and text, which knows Protobuf only."""

    settings = "speaks: grpc_web, codecs: [proto]"
    http = 1

    def __init__(self):
        Calls.__init__(self)
        listener = listen_tcp()
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        ThreadedServer.__init__(self, listener)

    def accept(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return Peer(connection, timeout=60)

    def serve(self, peer):
        parser = h11.Connection(h11.SERVER, MAX_HEAD)
        while GrpcWebExchange(self, peer, parser).serve():
            parser.start_next_cycle()


class GrpcWebExchange:
    """One call of the gRPC-Web server."""

    def __init__(self, upstream, peer, parser):
        self._upstream = upstream
        self._peer = peer
        self._parser = parser
        self._received = bytearray()
        self._kind = "application/grpc-web+proto"
        self._decode = self._encode = bytes

    def _event(self):
        while (event := self._parser.next_event()) is h11.NEED_DATA:
            self._parser.receive_data(self._peer.receive())
        return event

    def _send(self, *events):
        self._peer.send(b"".join(self._parser.send(event) for event in events))

    def _read(self):
        """The next request message, or None at the end."""
        while len(self._received) < 5 or len(self._received) < 5 + struct.unpack_from(">I", self._received, 1)[0]:
            event = self._event()
            if isinstance(event, h11.EndOfMessage):
                assert not self._received, bytes(self._received[:100])
                return None
            assert isinstance(event, h11.Data), event
            self._received += self._decode(event.data)
        flags, length = struct.unpack_from(">BI", self._received)
        payload = bytes(self._received[5 : 5 + length])
        del self._received[: 5 + length]
        return Request.FromString(gzip.decompress(payload) if flags & 1 else payload)

    def serve(self):
        """Whether another call may follow on the connection."""
        request = self._event()
        if not isinstance(request, h11.Request):
            return False
        fields = [(name.decode(), value.decode("latin-1")) for name, value in request.headers]
        path, _, method = request.target.decode().rpartition("/")
        kind = dict(fields)["content-type"]
        assert kind in ("application/grpc-web+proto", "application/grpc-web-text+proto"), kind
        assert path == f"/{SERVICE}", path
        if "-text" in kind:
            self._kind, self._decode, self._encode = kind, Base64Pieces(), base64.b64encode
        timeout = dict(fields).get("grpc-timeout")
        script = behave(method, fields, timeout and milliseconds(timeout))
        step, trailers, status, started = next(script), [], (0, "", []), False
        if method not in SERVED:
            step, status = None, (12, "no such method", [])
        while step is not None:
            given = None
            match step:
                case Head():
                    self._head(step.headers)
                    trailers, started = step.trailers, True
                case Failed():
                    status = (step.code, step.text, step.details)
                case Response():
                    self._send(h11.Data(self._encode(envelope(0, step.SerializeToString()))))
                case _ if step == READ:
                    given = self._read()
                case _ if step == HANG:
                    call = dict(fields).get("x-call")
                    self._upstream.hanging(call).set()
                    self._peer.rest()
                    self._upstream.over(call).set()
                    return False
            step = advance(script, given)
        return self._end(trailers, *status, started)

    def _head(self, fields):
        own = [("content-type", self._kind), ("transfer-encoding", "chunked")]
        self._send(h11.Response(status_code=200, headers=[*own, *fields]))

    def _end(self, trailers, code, message, given, started):
        if not started:
            self._head([])
        end = [*trailers, ("grpc-status", str(code)), ("grpc-message", quote(message, safe=""))]
        if given:
            status = details(status_pb2.Status(), code, message, given)
            end.append(("grpc-status-details-bin", text(status)))
        block = "".join(f"{name}: {value}\r\n" for name, value in end)
        self._send(h11.Data(self._encode(envelope(0x80, block.encode()))), h11.EndOfMessage())
        while self._parser.their_state is h11.SEND_BODY:
            self._event()
        return self._parser.their_state is h11.DONE


UNITS = {"H": 3600000, "M": 60000, "S": 1000, "m": 1, "u": 1e-3, "n": 1e-6}


def milliseconds(timeout):
    return int(int(timeout[:-1]) * UNITS[timeout[-1]])


UPSTREAMS = {"grpc": GrpcUpstream, "connect-1": ConnectUpstream, "connect-2": ConnectUpstream2, "grpc-web": GrpcWebUpstream}
