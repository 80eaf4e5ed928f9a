"""Whatever goes wrong, and whatever the chain contains, published clients see the code that the log has."""

import json

import grpc
import httpx
import pytest
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType

from support import protocol
from support.http2 import h2_peer
from support.martlet import CLEAR_TEXT
from support.servers.eliza import Client
from support.wait import eventually

CONNECT, GRPC, GRPC_WEB = ProtocolType.CONNECT, ProtocolType.GRPC, ProtocolType.GRPC_WEB

# What changes responses, in front of what goes wrong.
FRONT = """
  - headers: { response: { set: { x-b: "1" } }, trailers: { add: { x-cost: "1" } } }
  - error: { metadata: { x-m: "1" } }
  - redact: { json: [ /secret ] }
  - validate: { rules: [ { when: { trailer: { x-none: present } }, fail: {} } ] }
"""


def rule(condition):
    return f"validate: {{ rules: [ {{ when: {{ {condition} }}, fail: {{ code: out_of_range, message: bad }} }} ] }}"


# What goes wrong, the code that callers see, and which part decided.
TROUBLES = {
    "nothing": ("metrics: {}", "ok", "upstream"),
    "fault": ("fault: { code: aborted }", "aborted", "interceptor:it"),
    "fault on the response": (
        "fault: { code: aborted, delay: { time: 1ms, on: response } }",
        "aborted",
        "interceptor:it",
    ),
    "status": (rule("status: 200"), "out_of_range", "interceptor:it"),
    "code": (rule("code: ok"), "out_of_range", "interceptor:it"),
    "trailer": (rule("trailer: { x-cost: present }"), "out_of_range", "interceptor:it"),
    "request": ("message: { on: request, require: { max: 1B } }", "invalid_argument", "interceptor:it"),
    "response": ("message: { on: response, require: { max: 1B } }", "internal", "interceptor:it"),
    "suspension": ("fault: { delay: 5s }", "deadline_exceeded", "martlet"),
    "deadline": ("deadline: { max: 100ms }\n  - fault: { delay: 5s }", "deadline_exceeded", "martlet"),
    "reject": ("reject: { code: permission_denied, metadata: { x-why: no } }", "permission_denied", "interceptor:it"),
    "unwind": ("reject: { code: aborted }\n    unwind: true", "aborted", "interceptor:it"),
    "limit": ("limit: { header: 1B }\n    unwind: true", "resource_exhausted", "interceptor:it"),
}


def configuration(trouble, upstream):
    return f"""
listeners: [ {{ address: "127.0.0.1:0", timeouts: {{ suspension: 300ms }} }} ]
upstream: {upstream}
interceptors:
  - log: {{}}{FRONT}  - name: it
    {trouble}
"""


def connect_code(call):
    try:
        call()
    except ConnectError as error:
        return error.code.value
    return "ok"


def grpc_code(call):
    return call.code().name.lower() if call.code() else "none"


class Callers:
    """Calls of published clients; each returns the code that its client reports."""

    def __init__(self, proxy):
        self.proxy = proxy

    def connect(self, protocol, http):
        client = Client(self.proxy.url, "proto", http, protocol=protocol)
        yield f"{protocol.name} unary {http}", lambda: connect_code(lambda: client.say("hello"))
        yield f"{protocol.name} stream {http}", lambda: connect_code(lambda: list(client.converse(["a", "b"])))

    def grpcio(self):
        channel = grpc.insecure_channel(
            self.proxy.addresses[0], [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0)]
        )
        unary = channel.unary_unary(protocol.SAY)
        stream = channel.unary_stream(protocol.SAY)

        def drain(call):
            try:
                list(call)
            except grpc.RpcError:
                pass
            return grpc_code(call)

        yield "grpcio unary", lambda: grpc_code(unary.future(protocol.HELLO_PROTO, timeout=10))
        yield "grpcio stream", lambda: drain(stream(protocol.HELLO_PROTO, timeout=10))

    def httpx(self):
        for http2 in (False, True):
            client = httpx.Client(base_url=self.proxy.url, http1=not http2, http2=http2, **CLEAR_TEXT)
            yield f"httpx {2 if http2 else 1}", lambda client=client: self.json_code(
                lambda: protocol.CONNECT_UNARY_JSON.call(client)
            )

    def json_code(self, call):
        response = call()
        return "ok" if response.status_code == 200 else response.json()["code"]

    def all(self):
        for kind, http in [(CONNECT, 1), (CONNECT, 2), (GRPC_WEB, 1), (GRPC_WEB, 2), (GRPC, 2)]:
            yield from self.connect(kind, http)
        yield from self.grpcio()
        yield from self.httpx()


def records(proxy):
    return [json.loads(line) for line in proxy.stdout.text.splitlines()]


def check(proxy, code, decider, callers):
    expected = 0
    for name, call in callers:
        reported = call()
        expected += 1
        eventually(lambda: len(records(proxy)) >= expected, what=f"the record of {name}")
        record = records(proxy)[-1]
        assert (reported, record["code"], record["decided_by"]) == (code, code, decider), name


@pytest.mark.parametrize("name", TROUBLES)
def test_published_clients_report_the_code_of_the_log(martlet, eliza, name):
    trouble, code, decider = TROUBLES[name]
    proxy = martlet(configuration(trouble, eliza.h2c_url))
    check(proxy, code, decider, Callers(proxy).all())


def test_an_unreachable_upstream(martlet):
    proxy = martlet(configuration("metrics: {}", "h2c://127.0.0.1:1"))
    check(proxy, "unavailable", "martlet", Callers(proxy).all())


def test_an_upstream_that_disconnects(martlet, h2_recorder):
    def reset(peer, stream):
        peer.finish(stream)
        peer.reset(stream.id, h2_peer.INTERNAL_ERROR)

    proxy = martlet(configuration("metrics: {}", h2_recorder(reset).url))
    for name, call in Callers(proxy).all():
        reported = call()
        assert reported != "ok", name
        eventually(lambda: records(proxy) and records(proxy)[-1]["code"] == reported, what=f"the record of {name}")


def test_an_error_of_a_connect_stream_stays_an_error_whatever_its_trailers(martlet):
    proxy = martlet(configuration("metrics: {}", "http://127.0.0.1:1"))
    with proxy.http() as http:
        response = http.post("/a.B/C", headers={"content-type": "application/connect+json"}, content=b"\0\0\0\0\2{}")
    end = json.loads(response.content[5:])
    assert end["error"]["code"] == "unavailable"
    assert end["metadata"] == {"x-m": ["1"], "x-cost": ["1"]}


# What `explain` says beforehand


def explained(command, tmp_path, text, *arguments):
    file = tmp_path / "explained.yaml"
    file.write_text(text)
    result = command("explain", "-c", file, *arguments)
    assert result.code == 0, result.stderr.text
    return [line.strip() for line in result.stdout.text.splitlines()]


@pytest.mark.parametrize("name", ["fault", "request", "reject", "unwind", "limit"])
def test_explain_log_and_caller_agree_on_an_error(martlet, command, tmp_path, recorder, name):
    trouble, code, decider = TROUBLES[name]
    upstream = recorder()
    text = configuration(trouble, upstream.url)
    lines = explained(command, tmp_path, text, "POST", protocol.SAY, "-d", '{"sentence":"hello!"}')
    proxy = martlet(text)
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_JSON.call(http)
    record = json.loads(proxy.stdout.wait("decided_by").string)
    assert f"response  by {decider.replace(':', ' ')}" in lines
    assert str(response.status_code) in lines and response.text in lines
    assert (response.json()["code"], record["code"], record["decided_by"]) == (code, code, decider)
    assert upstream.bytes == b""


HOPS = {
    "connection": "x-hop, keep-alive",
    "x-hop": "1",
    "keep-alive": "timeout=5",
    "proxy-connection": "keep-alive",
    "te": "gzip",
    "upgrade": "h2c",
    "x-kept": "2",
    "cookie": "a=1",
}
RULE = 'headers: { request: { set: { x-new: "{header:x-kept}" }, remove: [ x-kept ] } }'


@pytest.mark.parametrize("trailers", [False, True], ids=["plain", "trailers"])
def test_explain_shows_what_goes_upstream(martlet, command, tmp_path, recorder, trailers):
    upstream = recorder()
    text = configuration(RULE, upstream.url)
    said = HOPS | ({"te": "trailers"} if trailers else {}) | {"content-type": "text/plain"}
    headers = [part for name, value in said.items() for part in ("-H", f"{name}: {value}")]
    lines = explained(command, tmp_path, text, "POST", protocol.SAY, *headers, "-H", "content-length: 0")
    caller = martlet(text).connect()
    fields = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    caller.send(f"POST {protocol.SAY} HTTP/1.1\r\nhost: a\r\n{fields}content-length: 0\r\n\r\n".encode())
    assert caller.response().status == 200
    # A secret is shown by its name alone; how the message is framed is not shown.
    framing = [("content-length", "0"), ("connection", "te")]
    sent = [(name, "***" if name == "cookie" else value) for name, value in upstream.requests[0].headers]
    start = next(index for index, line in enumerate(lines) if line.startswith("POST "))
    shown = [tuple(line.split(": ", 1)) for line in lines[start + 1 :]]
    assert sorted(shown) == sorted(field for field in sent if field not in framing)
