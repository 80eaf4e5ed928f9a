"""The program behind the proxy: HTTP/1.1 in every protocol on one port, gRPC on another; it is killed and started again.

usage: python -m upstream HTTP-PORT GRPC-PORT
"""

import asyncio
import base64
import sys

from support.protocol import envelope
from support.servers.grpc_service import GrpcService

MESSAGES = 20
ENDS = {"application/connect": envelope(0x02, b"{}"), "application/grpc-web": envelope(0x80, b"grpc-status: 0\r\n")}


async def body_of(reader, fields):
    """The body of a request."""
    if "chunked" not in fields.get("transfer-encoding", ""):
        return await reader.readexactly(int(fields.get("content-length", 0)))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    return body


def response(path, fields, body):
    """The pieces of a response to a call: what has come, then the end as the protocol has it."""
    kind = fields.get("content-type", "application/proto")
    if not fields.get("authorization", "").startswith("Bearer token-"):
        return ("401 Unauthorized", "text/plain", [b"no token"])
    if path.endswith("/Many"):
        return ("200 OK", kind, [body] * MESSAGES + [ENDS["application/connect"]])
    end = ENDS.get(kind.split("+")[0])
    if kind.startswith("application/grpc-web-text"):
        return ("200 OK", kind, [body, base64.b64encode(ENDS["application/grpc-web"])])
    return ("200 OK", kind, [body, end] if end else [body])


async def serve(reader, writer):
    try:
        while True:
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:-2])}
            status, kind, pieces = response(lines[0].split()[1], fields, await body_of(reader, fields))
            head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n"
            if len(pieces) == 1:
                writer.write(f"{head}content-length: {len(pieces[0])}\r\n\r\n".encode() + pieces[0])
                continue
            writer.write(f"{head}transfer-encoding: chunked\r\n\r\n".encode())
            for piece in pieces:
                writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                if len(pieces) > 2:
                    await asyncio.sleep(0.002)
            writer.write(b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(http, grpc):
    service = GrpcService(port=grpc, threads=32)
    server = await asyncio.start_server(serve, "127.0.0.1", http, backlog=128)
    print("ready", flush=True)
    await server.serve_forever()
    service.stop()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
