"""The services of the tests behind one guard: grpcio for gRPC, connectrpc for Connect and gRPC-Web, and plain HTTP.

Each call has its id in `x-call-id`. `x-rejection` selects a way to reject:

* `late`: a rejection comes in trailers (gRPC) or in the trailer frame (gRPC-Web) after a head of its own, even if unary;
* `after-one`: a stream whose token is good ends as unauthenticated nevertheless, after its first message.
"""

import asyncio
import json
import socket
import struct
import threading

import grpc
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from hypercorn.asyncio import serve
from hypercorn.config import Config

from support.servers.eliza_messages import messages
from support.servers.eliza_service import Application
from support.servers.grpc_service import SERVICE, GrpcService
from support.wait import eventually
from tokens.token_guard import Guard, Rejected

NO = "token is no good"


class GuardedBytes:
    """The functions of GrpcService, for callers with a token."""

    def __init__(self, guard):
        self._guard = guard

    def _admit(self, context):
        """Ends calls without a good token; else (id, whether to end it after its first message)."""
        metadata = dict(context.invocation_metadata())
        call, rejection = metadata.get("x-call-id", ""), metadata.get("x-rejection")
        try:
            self._guard.admit(call, metadata.get("authorization"))
        except Rejected as rejected:
            if rejection == "late":
                context.send_initial_metadata([("x-early", "1")])
            self._reject(context, f"{NO}: {rejected}")
        return call, rejection == "after-one"

    def _reject(self, context, message):
        context.set_trailing_metadata([("x-realm", "tests")])
        context.abort(grpc.StatusCode.UNAUTHENTICATED, message)

    def unary(self, request, context):
        call, _ = self._admit(context)
        self._guard.ledger.note(call, "processed")
        return request

    def upload(self, requests, context):
        call, _ = self._admit(context)
        response = b"".join(requests)
        self._guard.ledger.note(call, "processed")
        return response

    def download(self, request, context):
        yield from self.converse((b"%d" % number for number in range(int(request))), context)

    def converse(self, requests, context):
        call, ends_early = self._admit(context)
        for request in requests:
            yield request
            if ends_early:
                self._guard.ledger.note(call, "ended early")
                self._reject(context, NO)
        self._guard.ledger.note(call, "processed")

    @property
    def functions(self):
        return {"Unary": self.unary, "Upload": self.upload, "Download": self.download, "Converse": self.converse}


class GuardedEliza:
    """Eliza, for callers with a token."""

    def __init__(self, guard):
        self._guard = guard

    def _admit(self, ctx):
        call = ctx.request_headers.get("x-call-id", "")
        try:
            self._guard.admit(call, ctx.request_headers.get("authorization"))
        except Rejected as rejected:
            raise ConnectError(Code.UNAUTHENTICATED, f"{NO}: {rejected}") from rejected
        return call, ctx.request_headers.get("x-rejection") == "after-one"

    async def _admit_after(self, requests, ctx):
        """As `_admit`, and reads what a rejected caller sends; otherwise HTTP/1.1 would close the connection during the response."""
        try:
            return self._admit(ctx)
        except ConnectError:
            await self._read(requests)
            raise

    async def _read(self, requests):
        async for _ in requests:
            pass

    async def say(self, request, ctx):
        call, _ = self._admit(ctx)
        self._guard.ledger.note(call, "processed")
        return messages.SayResponse(sentence=request.sentence)

    async def listen(self, requests, ctx):
        call, _ = await self._admit_after(requests, ctx)
        response = "".join([request.sentence async for request in requests])
        self._guard.ledger.note(call, "processed")
        return messages.ListenResponse(sentence=response)

    async def introduce(self, request, ctx):
        call, ends_early = self._admit(ctx)
        for number in range(int(request.name)):
            yield messages.IntroduceResponse(sentence=str(number))
            self._end(call, ends_early)
        self._guard.ledger.note(call, "processed")

    async def converse(self, requests, ctx):
        call, ends_early = await self._admit_after(requests, ctx)
        async for request in requests:
            yield messages.ConverseResponse(sentence=request.sentence)
            if ends_early:
                await self._read(requests)
            self._end(call, ends_early)
        self._guard.ledger.note(call, "processed")

    def _end(self, call, ends_early):
        if ends_early:
            self._guard.ledger.note(call, "ended early")
            raise ConnectError(Code.UNAUTHENTICATED, NO)


class WebApplication:
    """Eliza, /plain for plain HTTP, and a form of rejection in gRPC-Web that the library does not use."""

    def __init__(self, guard):
        self._guard = guard
        self._rpc = Application(GuardedEliza(guard))

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self._rpc(scope, receive, send)
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        if scope["path"].startswith("/plain"):
            return await self._plain(fields, receive, send)
        is_web = fields.get("content-type", "").startswith("application/grpc-web")
        if is_web and fields.get("x-rejection") == "late" and not self._is_good(fields):
            await self._read(receive)
            trailers = f"grpc-status: 16\r\ngrpc-message: {NO}\r\n".encode()
            frame = struct.pack(">BI", 0x80, len(trailers)) + trailers
            return await self._response(send, 200, frame, fields["content-type"])
        return await self._rpc(scope, receive, send)

    def _is_good(self, fields):
        try:
            return self._guard.admit(fields.get("x-call-id", ""), fields.get("authorization"))
        except Rejected:
            return None

    async def _plain(self, fields, receive, send):
        body = await self._read(receive)
        if not self._is_good(fields):
            body = json.dumps({"error": NO}).encode()
            return await self._response(send, 401, body, "application/json", (b"www-authenticate", b"Bearer"))
        self._guard.ledger.note(fields.get("x-call-id", ""), "processed")
        await self._response(send, 200, body, "text/plain")

    async def _read(self, receive):
        """The whole request: what a server does with the rest of one is not the point here."""
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        return body

    async def _response(self, send, status, body, content_type, *more):
        headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(body)).encode()), *more]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class WebService:
    """Serves an ASGI application in a thread, over HTTP/1.1 and HTTP/2 on a free port of 127.0.0.1."""

    def __init__(self, application):
        listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.h2c_url = f"h2c://127.0.0.1:{self.port}"
        self._config = Config()
        self._config.bind = [f"fd://{listener.detach()}"]
        self._config.keep_alive_timeout = 60
        self._config.graceful_timeout = 0.2
        self._config.loglevel = "CRITICAL"
        self._stop = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(application)), daemon=True)
        self._thread.start()
        eventually(lambda: self._stop, what="the start of the server")

    async def _serve(self, application):
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        await serve(application, self._config, shutdown_trigger=self._stop.wait)

    def stop(self):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)


class TokenServices:
    """All of them, with one ledger; `settings` are those of the guard."""

    def __init__(self, provider, **settings):
        self.guard = Guard(provider, **settings)
        self.ledger = self.guard.ledger
        self.grpc = GrpcService(GuardedBytes(self.guard).functions)
        self.web = WebService(WebApplication(self.guard))

    def configuration(self, token, more="workers: 2", chain=""):
        """A file with `token`, a dictionary, as the interceptor `auth` before these services, and further items of the chain."""
        return f"""\
listen: 127.0.0.1:0
upstreams:
  grpc: {self.grpc.url}
  web: {self.web.url}
interceptors:
  - metrics: {{}}
  - log: {{}}
  - {{ name: auth, token: {json.dumps(token)} }}
{chain}
routes:
  - match: {{ service: {SERVICE} }}
    upstream: grpc
  - upstream: web
{more}
"""

    def stop(self):
        self.grpc.stop()
        self.web.stop()
