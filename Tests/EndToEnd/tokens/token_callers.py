"""Callers of the token services: published clients of each protocol, with one form of outcome."""

import itertools
from dataclasses import dataclass, field

import grpc
import httpx
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support.martlet import CLEAR_TEXT
from support.servers.eliza import Client
from support.servers.grpc_service import GrpcChannel

KINDS = ["unary", "upload", "download", "converse"]
STATUSES = {200: "ok", 401: "unauthenticated", 429: "resource_exhausted", 503: "unavailable", 504: "deadline_exceeded"}
_numbers = itertools.count(1)


@dataclass
class Outcome:
    """How a call ended: its id at the services, its code, the messages it received and, in `text`, the message of an error."""

    call: str
    code: str
    received: list = field(default_factory=list)
    text: str = ""
    headers: dict = field(default_factory=dict)


class Caller:
    """`call` makes a call of one of `kinds` and never raises; two messages if a kind has many."""

    kinds = KINDS

    def call(self, kind="unary", text="hello", timeout=20.0, token=None, headers=None):
        outcome = Outcome(f"{self.name}-{next(_numbers)}", "ok")
        fields = {"x-call-id": outcome.call} | (headers or {})
        if token:
            fields["authorization"] = f"Bearer {token}"
        self._make(outcome, kind, text, timeout, fields)
        return outcome

    def __str__(self):
        return self.name


class GrpcCaller(Caller):
    name = "grpc"

    def __init__(self, services_or_proxy):
        self._channel = GrpcChannel(services_or_proxy)

    def _make(self, outcome, kind, text, timeout, fields):
        options = {"metadata": list(fields.items()), "timeout": timeout}
        message = text.encode()
        try:
            match kind:
                case "unary":
                    call = [self._channel.unary(message, **options)]
                case "upload":
                    call = [self._channel.upload(iter([message] * 2), **options)]
                case "download":
                    call = self._channel.download(b"2", **options)
                case "converse":
                    call = self._channel.converse(iter([message] * 2), **options)
            for response in call:
                outcome.received.append(response.decode())
        except grpc.RpcError as error:
            outcome.code, outcome.text = error.code().name.lower(), error.details()
            outcome.headers = dict(error.initial_metadata() or ())

    def stop(self):
        self._channel.stop()


class ElizaCaller(Caller):
    """The published Connect client, in Connect or gRPC-Web."""

    def __init__(self, url, protocol, http=1):
        self.name = protocol.name.lower()
        self._client = Client(url, http=http, protocol=protocol, send_compression=None)

    def _make(self, outcome, kind, text, timeout, fields):
        options = {"headers": fields, "timeout_ms": int(timeout * 1000)}
        try:
            match kind:
                case "unary":
                    call = [self._client.say(text, **options)]
                case "upload":
                    call = [self._client.listen([text] * 2, **options)]
                case "download":
                    call = self._client.introduce("2", **options)
                case "converse":
                    call = self._client.converse([text] * 2, **options)
            for response in call:
                outcome.received.append(response)
        except ConnectError as error:
            outcome.code, outcome.text = error.code.value, error.message

    def stop(self):
        pass


class PlainCaller(Caller):
    name = "http"
    kinds = ["unary"]

    def __init__(self, url):
        self._client = httpx.Client(base_url=url, **CLEAR_TEXT)

    def _make(self, outcome, kind, text, timeout, fields):
        try:
            response = self._client.post("/plain", content=text.encode(), headers=fields, timeout=timeout)
        except httpx.HTTPError as error:
            outcome.code, outcome.text = "unknown", repr(error)
            return
        outcome.code = STATUSES.get(response.status_code, str(response.status_code))
        outcome.headers = dict(response.headers)
        if outcome.code == "ok":
            outcome.received.append(response.text)
        else:
            outcome.text = response.text

    def stop(self):
        self._client.close()


class Callers:
    """One caller of each protocol: through a daemon, or straight to the services."""

    def __init__(self, grpc_address, url):
        connect, web = ProtocolType.CONNECT, ProtocolType.GRPC_WEB
        each = [GrpcCaller(grpc_address), ElizaCaller(url, connect), ElizaCaller(url, web), PlainCaller(url)]
        self._by_name = {caller.name: caller for caller in each}

    @classmethod
    def through(cls, proxy):
        return cls(proxy.addresses[0], proxy.url)

    @classmethod
    def straight_to(cls, services):
        return cls(f"127.0.0.1:{services.grpc.port}", services.web.url)

    def __getitem__(self, name):
        return self._by_name[name]

    def __iter__(self):
        return iter(self._by_name.values())

    def stop(self):
        for caller in self:
            caller.stop()


PROTOCOLS = ["grpc", "connect", "grpc_web", "http"]
# Every protocol with every kind of call that it has.
WAYS = [(name, kind) for name in PROTOCOLS for kind in (KINDS if name != "http" else ["unary"])]


def expected(kind, text="hello"):
    """The messages that a successful call receives."""
    return {"unary": [text], "upload": [text * 2], "download": ["0", "1"], "converse": [text] * 2}[kind]
