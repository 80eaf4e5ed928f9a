"""Replicas of one service on addresses of their own, and a name server that tests change while it is asked."""

import errno
import json
import signal
import socket
import struct
import subprocess
import threading
from collections import Counter
from concurrent import futures
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
from dnslib import QTYPE, RR, SRV, A, DNSRecord
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from support.wait import eventually

METHOD = "/shop.v1.OrderService/Get"


def listed(replicas, more="", chain="", scheme="h2c", top=""):
    """A configuration whose upstream has the addresses of replicas."""
    addresses = ", ".join(f'"{replica.name}"' for replica in replicas)
    return (
        f"listen: 127.0.0.1:0\n{top}\nupstreams: {{ default: {{ url: '{scheme}://orders.test:1', addresses: [ {addresses} ]{more} }} }}\n"
        f"interceptors: [ {chain} ]\n"
    )


class GRPCReplica:
    """A gRPC server of one method that responds with its own address."""

    def __init__(self, host, port, identity=None, method=METHOD):
        self.name = f"{host}:{port}"
        self.credentials = identity and grpc.ssl_server_credentials([(identity.key.read_bytes(), identity.certificate.read_bytes())])
        self.service, self.method = method[1:].split("/")
        self.calls = self.canceled = 0
        self.metadata = {}
        self.previous = []
        self.mode = "ok"
        self.gate = threading.Event()
        self.server = self.health = None
        self.start()

    def start(self):
        self.server = grpc.server(futures.ThreadPoolExecutor(16), options=[("grpc.so_reuseport", 0)])
        handler = grpc.unary_unary_rpc_method_handler(self.respond)
        self.server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(self.service, {self.method: handler}),))
        if self.health:
            health_pb2_grpc.add_HealthServicer_to_server(self.health, self.server)
        if self.credentials:
            assert self.server.add_secure_port(self.name, self.credentials)
        else:
            assert self.server.add_insecure_port(self.name)
        self.server.start()

    def serve_health(self, **services):
        """Has a health service from the next start on; `True` is serving, and the key `all` is the whole server."""
        self.health = health.HealthServicer()
        for name, serves in services.items():
            self.set_health(serves, "" if name == "all" else name.replace("_", "."))
        self.stop()
        self.gate.clear()
        self.start()

    def set_health(self, serves, service=""):
        status = health_pb2.HealthCheckResponse
        self.health.set(service, status.SERVING if serves else status.NOT_SERVING)

    def respond(self, request, context):
        self.calls += 1
        self.metadata = dict(context.invocation_metadata())
        self.previous.append(self.metadata.get("grpc-previous-rpc-attempts"))
        ended = threading.Event()

        def over():
            self.canceled += not ended.is_set()

        context.add_callback(over)
        try:
            return self.outcome(request, context)
        finally:
            ended.set()

    def outcome(self, request, context):
        match self.mode:
            case "slow":
                threading.Event().wait(0.1)
            case "hang":
                while context.is_active() and not self.gate.wait(0.02):
                    pass
            case "trailers":
                context.send_initial_metadata([("x-head", "1")])
                context.abort(grpc.StatusCode.UNAVAILABLE, "sick")
            case "unavailable":
                context.abort(grpc.StatusCode.UNAVAILABLE, "sick")
            case "invalid":
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, "wrong")
            case "later":
                context.set_trailing_metadata([("grpc-retry-pushback-ms", "2000")])
                context.abort(grpc.StatusCode.UNAVAILABLE, "sick")
            case "never again":
                context.set_trailing_metadata([("grpc-retry-pushback-ms", "-1")])
                context.abort(grpc.StatusCode.UNAVAILABLE, "sick")
        return self.name.encode()

    def stop(self, grace=None):
        self.gate.set()
        if self.server:
            self.server.stop(grace).wait()
            self.server = None


class HTTPReplica:
    """An HTTP/1.1 server that responds with its own address, or with another status."""

    def __init__(self, host, port):
        replica = self
        self.name = f"{host}:{port}"
        self.calls = self.checks = 0
        self.gate = threading.Event()
        self.gate.set()
        self.status = self.health = 200
        self.check_headers = {}
        self.seen = set()
        self.stalls = False

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                replica.calls += 1
                replica.seen.add((self.path, self.headers.get("x-a"), self.headers.get("authorization")))
                replica.gate.wait(30)
                body = replica.name.encode()
                self.send_response(replica.status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path != "/healthz":
                    return self.do_POST()
                replica.checks += 1
                replica.check_headers = dict(self.headers)
                self.send_response(replica.health)
                self.send_header("content-length", "2")
                self.end_headers()
                if not replica.stalls:
                    self.wfile.write(b"ok")

            def log_message(self, *arguments):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self.server = Server((host, port), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self, grace=None):
        self.gate.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None


class NginxReplica:
    """nginx on an address of its own, which ends in order: it takes no more calls, and ends those that it has."""

    def __init__(self, directory, host, port, version):
        self.name = f"{host}:{port}"
        directory.mkdir()
        self.file = directory / "nginx.conf"
        # At its end nginx would wait a minute for the first request of a connection that was opened ahead.
        self.file.write_text(
            f"daemon off; worker_processes 1; worker_shutdown_timeout 1s; pid {directory}/pid; error_log stderr warn;\n"
            f"events {{ worker_connections 256; }}\n"
            f"http {{ access_log off; keepalive_requests 1000000; client_body_temp_path {directory}/body;\n"
            f"server {{ listen {self.name}{' http2' if version == 2 else ''}; location / {{ return 200 ok; }} }} }}\n"
        )
        self.process = None

    def start(self):
        self.process = subprocess.Popen(["nginx", "-c", self.file, "-e", "stderr"])
        host, port = self.name.split(":")
        eventually(lambda: socket.socket().connect_ex((host, int(port))) == 0, what=f"nginx at {self.name}")

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(20)
            self.process = None


class Resetter:
    """Takes connections, reads something, and resets them."""

    def __init__(self, host, port):
        self.name = f"{host}:{port}"
        self.listener = socket.create_server((host, port))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
                connection.recv(4096)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            except OSError:
                return

    def stop(self, grace=None):
        self.listener.close()


class Hole:
    """An address that takes no connection and refuses none: its queue is full."""

    def __init__(self, host):
        self.socket = socket.socket()
        self.socket.bind((host, 0))
        self.socket.listen(0)
        self.name = "{}:{}".format(*self.socket.getsockname())
        self.fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self.socket.getsockname())
            self.fillers.append(filler)

    def stop(self, grace=None):
        for one in (self.socket, *self.fillers):
            one.close()


class Caller:
    """Calls through the proxy, all on one connection."""

    def __init__(self, proxy):
        self.channel = grpc.insecure_channel(proxy.url.removeprefix("http://"))
        self.method = self.channel.unary_unary(METHOD)

    def call(self, timeout=10, **metadata):
        return self.method(b"", timeout=timeout, metadata=[(name.replace("_", "-"), value) for name, value in metadata.items()]).decode()

    def spread(self, count, parallel=16):
        """Makes calls; how many each replica has had, and how many failed."""
        names = Counter()
        with futures.ThreadPoolExecutor(parallel) as pool:
            for result in pool.map(lambda _: self.outcome(), range(count)):
                names[result] += 1
        return names

    def outcome(self):
        try:
            return self.call()
        except grpc.RpcError as error:
            return error.code().name

    def poke(self, timeout=0.2):
        """Makes a call, whatever becomes of it."""
        try:
            self.call(timeout=timeout)
        except grpc.RpcError:
            pass

    def close(self):
        self.channel.close()


def states(proxy, upstream="default"):
    """The addresses of an upstream by their names."""
    upstreams = json.loads(proxy.admin("/upstreams").text)["upstreams"]
    found = next(one for one in upstreams if one["name"] == upstream)
    return {address["address"]: address for address in found["addresses"]}


class NameServer:
    """A DNS server on an address of its own, whose records change as tests like."""

    def __init__(self):
        self.records = {}
        self.is_silent = False
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Tests that run side by side have a server each.
        for number in range(1, 250):
            self.host = f"127.0.53.{number}"
            try:
                self.socket.bind((self.host, 53))
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        self.questions = Counter()
        threading.Thread(target=self.serve, daemon=True).start()

    def addresses(self, name, *addresses, ttl=1):
        self.records[(name, "A")] = [RR(name, QTYPE.A, ttl=ttl, rdata=A(address)) for address in addresses]

    def services(self, name, *records, ttl=1):
        self.records[(name, "SRV")] = [RR(name, QTYPE.SRV, ttl=ttl, rdata=SRV(*record)) for record in records]

    def serve(self):
        while True:
            try:
                data, peer = self.socket.recvfrom(4096)
            except OSError:
                return
            question = DNSRecord.parse(data)
            name, kind = str(question.q.qname).rstrip("."), QTYPE[question.q.qtype]
            self.questions[(name, kind)] += 1
            if self.is_silent:
                continue
            reply = question.reply()
            for record in self.records.get((name, kind), []):
                reply.rr.append(record)
            if not any(known == name for known, _ in self.records):
                reply.header.rcode = 3
            self.socket.sendto(reply.pack(), peer)

    def close(self):
        self.socket.close()
