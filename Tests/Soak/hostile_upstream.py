"""An upstream whose responses have no end, by the last segment of the path; a path without a meaning gets `{}`.

usage: python -m hostile_upstream PORT
"""

import asyncio
import os
import sys

LARGE = 8 << 20
PAUSE = 0.01  # seconds after each piece, so that a flood leaves the processor to others
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
FIELDS = b"".join(b"x-%d: %d\r\n" % (number, number) for number in range(100))
# The first piece of a response, and the piece that is sent again and again.
ENDLESS = {
    "informational": (b"", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 20),
    "head": (b"HTTP/1.1 200 OK\r\n", FIELDS),
    "field": (b"HTTP/1.1 200 OK\r\nx-long: ", b"x" * 4096),
    "trailers": (CHUNKED + b"2\r\nok\r\n0\r\n", FIELDS),
    "tiny": (CHUNKED, b"1\r\nx\r\n" * 200),
    "extension": (CHUNKED + b"1;", b"x" * 4096),
    "never": (b"", b""),
}


async def read_body(reader, head):
    """Reads and discards the body of a request."""
    fields = head.lower()
    if b"content-length: " in fields:
        left = int(fields.split(b"content-length: ")[1].split(b"\r\n")[0])
        while left:
            data = await reader.read(min(left, 1 << 16))
            if not data:
                raise ConnectionResetError
            left -= len(data)
    elif b"transfer-encoding: chunked" in fields:
        await reader.readuntil(b"0\r\n\r\n")


async def respond(reader, writer, name):
    if name == "large":
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % LARGE)
        for _ in range(0, LARGE, 1 << 16):
            writer.write(bytes(1 << 16))
            await writer.drain()
    elif name in ENDLESS:
        first, piece = ENDLESS[name]
        writer.write(first)
        while not (writer.is_closing() or reader.at_eof()):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(PAUSE if piece else 1)
    else:
        writer.write(OK)


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            await read_body(reader, head)
            await respond(reader, writer, head.split(maxsplit=2)[1].decode("latin-1").rpartition("/")[2])
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        pass
    finally:
        writer.close()


async def main(port):
    server = await asyncio.start_server(serve, "127.0.0.1", port, limit=1 << 22, backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    os.nice(19)
    asyncio.run(main(int(sys.argv[1])))
