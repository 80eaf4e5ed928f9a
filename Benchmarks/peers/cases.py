"""What is measured: the calls, how many at a time, and who makes them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One kind of calls; a row of the first table."""

    name: str
    title: str
    grpc: bool = False
    tls: bool = False
    size: int = 40  # bytes of the response's message
    connections: int = 64
    streams: int = 1  # calls at a time on each
    rate: int = 0  # calls per second; 0: as many as go
    messages: int = 1  # each way in a call
    speaks: str = ""  # what the caller speaks where the backend speaks gRPC: connect, grpc_web or json
    cached: bool = False  # a GET, whose response may be stored

    @property
    def path(self):
        return f"/cached/{self.size}" if self.cached else f"/bench.v1.Bench/Get{self.size}"

    @property
    def client(self):
        """Who makes the calls."""
        if self.rate or self.messages > 1:
            return "caller"
        return "h2load" if self.grpc or self.cached else "wrk"


LOAD = [
    Case("http1-small", "HTTP/1.1, 40 bytes of JSON each way, 64 connections"),
    Case("http1-64k", "HTTP/1.1, responses of 64 KiB, 64 connections", size=65536),
    Case("grpc-small", "gRPC in clear text, 40 bytes each way, 8 connections of 32 streams", grpc=True, connections=8, streams=32),
    Case("grpc-64k", "gRPC, responses of 64 KiB, 8 connections of 32 streams", grpc=True, size=65536, connections=8, streams=32),
    Case("grpc-stream", "gRPC, 100 messages each way in turn, 8 connections of 8 streams", grpc=True, connections=8, messages=100),
    Case("tls-upstream", "HTTP/1.1, 40 bytes, TLS 1.3 to the backend, 64 connections", tls=True),
    Case("http1-latency", "HTTP/1.1, one connection, 500 calls/s", connections=1, rate=500),
    Case("grpc-latency", "gRPC, one connection, 500 calls/s", grpc=True, connections=1, rate=500),
    Case("http1-5k", "HTTP/1.1, 64 connections, 5000 calls/s in all", rate=5000),
    Case("grpc-5k", "gRPC, 8 connections, 5000 calls/s in all", grpc=True, connections=8, rate=5000),
]
# Beside those who can: Envoy, with one filter for each.
TRANSLATED = [
    Case(f"{speaks.replace('_', '-')}-to-grpc", title, grpc=True, connections=8, streams=32, speaks=speaks)
    for speaks, title in (
        ("connect", "Connect with Protobuf to gRPC"),
        ("grpc_web", "gRPC-Web to gRPC"),
        ("json", "Connect with JSON to gRPC with Protobuf"),
    )
]
UNTRANSLATED = "untranslated"
# Beside those who have a cache: all that is timed comes from it.
CACHED = [Case("cache", "HTTP/1.1, hits of 1 KiB, 64 connections", size=1024, cached=True)]
IDLE = {
    f"idle-{count}-{'grpc' if grpc else 'http1'}": Case("idle", f"{count} idle connections", grpc=grpc, connections=count)
    for count in (1000, 10000)
    for grpc in (False, True)
}
SMALL = LOAD[0]
