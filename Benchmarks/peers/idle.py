"""Connections that have made one call and wait: what each takes of memory."""

import os
import socket
import struct
import time

import hpack

from measure import fields_for
from process import CPUS, REST, Failed
from stage import ENVELOPE, JSON


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def http1_request(case, fields):
    lines = [f"POST {case.path} HTTP/1.1", "host: bench", "content-type: application/json", f"content-length: {len(JSON)}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode() + JSON


def grpc_request(case, fields, stream):
    """A call that leaves nothing in the table of fields, so that it is the same each time."""
    names = {":method": "POST", ":scheme": "http", ":path": case.path, ":authority": "bench", "content-type": "application/grpc"}
    block = hpack.Encoder().encode([(name, value, True) for name, value in {**names, "te": "trailers", **fields}.items()])
    return frame(1, 4, stream, block) + frame(0, 1, stream, ENVELOPE)


def has_ended(data, stream):
    """Whether the frames in `data` end the stream."""
    at = 0
    while len(data) - at >= 9:
        size, kind, flags = int.from_bytes(data[at : at + 3], "big"), data[at + 3], data[at + 4]
        if kind in (3, 7):
            raise Failed("a reset or the end of a connection")
        if kind in (0, 1) and flags & 1 and int.from_bytes(data[at + 5 : at + 9], "big") == stream:
            return len(data) - at >= 9 + size
        at += 9 + size
    return False


def exchange(connection, case, request, stream):
    connection.sendall(request)
    data = b""
    while True:
        received = connection.recv(65536)
        if not received:
            raise Failed("an idle connection was closed")
        data += received
        if case.grpc and has_ended(data, stream):
            return
        if not case.grpc and (b"m" * case.size in data) and (data.endswith(b"\r\n0\r\n\r\n") or data.endswith(b"m")):
            if not data.startswith(b"HTTP/1.1 200"):
                raise Failed(data[:40].decode(errors="replace"))
            return


def measure_idle(case, peer, stage):
    """KiB of resident memory for each connection, and the processor time that all of them take in a second."""
    process, port = peer.start(case, stage)
    connections, fields = [], fields_for(peer)
    os.sched_setaffinity(0, {REST})
    try:
        requests = {stream: grpc_request(case, fields, stream) if case.grpc else http1_request(case, fields) for stream in (1, 3)}
        opening = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") if case.grpc else b""
        # Whoever never hears that its settings have come ends the connection.
        acknowledgement = frame(4, 1, 0, b"") if case.grpc else b""
        # The first few make what is made once.
        for count in range(-20, case.connections):
            if count == 0:
                before = process.rss_kib()
            connections.append(socket.create_connection(("127.0.0.1", port), 10))
            connections[-1].setsockopt(socket.SOL_TCP, socket.TCP_NODELAY, 1)
            exchange(connections[-1], case, opening + requests[1], 1)
            connections[-1].sendall(acknowledgement)
        time.sleep(0.5)
        after, used = process.rss_kib(), process.cpu_seconds()
        time.sleep(1)
        used = process.cpu_seconds() - used
        for connection in connections[:: max(1, case.connections // 500)]:
            exchange(connection, case, requests[3], 3)
        return {"kib": (after - before) / case.connections, "before": before / 1024, "after": after / 1024, "idle cpu": used * 1000}
    except OSError as error:
        raise Failed(repr(error)) from None
    finally:
        for connection in connections:
            connection.close()
        process.stop()
        os.sched_setaffinity(0, CPUS)
