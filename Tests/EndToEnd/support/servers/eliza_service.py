"""The program behind Eliza: a Connect server on a listening socket it is handed.

usage: python -m support.servers.eliza_service DESCRIPTOR NAME
"""

import asyncio
import sys

from connectrpc.code import Code
from connectrpc.compat import google_protobuf_codecs
from connectrpc.errors import ConnectError
from connectrpc.server import ConnectASGIApplication, Endpoint
from hypercorn.asyncio import serve
from hypercorn.config import Config
from protobuf.wkt import Duration

from support.servers.eliza_messages import CONVERSE, INTRODUCE, LISTEN, SAY, SERVICE, messages


class Eliza:
    """Responds with a name and the sentence of the request; shows each request's metadata to the test."""

    def __init__(self, name):
        self.name = name
        self.resume = asyncio.Event()

    def _show_metadata(self, ctx):
        ctx.response_headers.add("seen-authorization", ctx.request_headers.get("authorization", "none"))
        ctx.response_headers.add("seen-type", ctx.request_headers.get("content-type", "none"))
        ctx.response_trailers.add("x-cost", "237")

    async def say(self, request, ctx):
        self._show_metadata(ctx)
        if request.sentence == "fail":
            raise ConnectError(Code.FAILED_PRECONDITION, "not today: 100%", [Duration(seconds=60)])
        if request.sentence == "go on":
            self.resume.set()
        return messages.SayResponse(sentence=f"{self.name} heard {request.sentence}")

    async def converse(self, requests, ctx):
        self._show_metadata(ctx)
        async for request in requests:
            yield messages.ConverseResponse(sentence=f"{self.name} heard {request.sentence}")

    async def listen(self, requests, ctx):
        self._show_metadata(ctx)
        heard = [request.sentence async for request in requests]
        if "fail" in heard:
            raise ConnectError(Code.OUT_OF_RANGE, "too much", [Duration(seconds=60)])
        return messages.ListenResponse(sentence=f"{self.name} heard {', '.join(heard)}")

    async def introduce(self, request, ctx):
        """The first message comes at once, the second after a request for "go on"."""
        self._show_metadata(ctx)
        yield messages.IntroduceResponse(sentence=f"Hi {request.name}, I am {self.name}")
        if request.name == "fail":
            raise ConnectError(Code.DATA_LOSS, "forgot the rest", [Duration(seconds=60)])
        await self.resume.wait()
        self.resume.clear()
        yield messages.IntroduceResponse(sentence=f"{self.name} went on")


class Application(ConnectASGIApplication):
    """The endpoints as a generated stub would have them."""

    path = f"/{SERVICE}"

    def __init__(self, eliza):
        def endpoints(service):
            return {
                f"{self.path}/Say": Endpoint.unary(method=SAY, function=service.say),
                f"{self.path}/Converse": Endpoint.bidi_stream(method=CONVERSE, function=service.converse),
                f"{self.path}/Listen": Endpoint.client_stream(method=LISTEN, function=service.listen),
                f"{self.path}/Introduce": Endpoint.server_stream(method=INTRODUCE, function=service.introduce),
            }

        super().__init__(service=eliza, endpoints=endpoints, codecs=google_protobuf_codecs())


async def main(descriptor, name):
    config = Config()
    config.bind = [f"fd://{descriptor}"]
    config.keep_alive_timeout = 60
    await serve(Application(Eliza(name)), config)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
