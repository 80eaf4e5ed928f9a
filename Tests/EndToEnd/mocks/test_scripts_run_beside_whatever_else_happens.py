"""Scripts of mocks keep their order, wait for slow callers, end with callers that leave, and stay through a reload."""

import concurrent.futures
import re
import socket
import time

import pytest
from connectrpc.compression.gzip import GzipCompression
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE
from support.wait import eventually

ECHO = "methods: { Converse: [ { script: [ { each: [ { send: { echo: true } } ] } ] } ] }"


def raw(proxy):
    host, port = proxy.addresses[0].split(":")
    return socket.create_connection((host, int(port)), 5)


def in_flight(proxy):
    return proxy.metrics().total("martlet_rpc_in_flight")


def test_many_messages_in_order(mocked, caller):
    sentences = [str(number) for number in range(1000)]
    assert list(caller(mocked(ECHO)).converse(sentences)) == sentences


def test_compressed_messages(mocked, caller):
    gzip = GzipCompression()
    client = caller(mocked(ECHO), send_compression=gzip, accept_compression=[gzip])
    sentences = ["hello " * 1000, "", "x"]
    assert list(client.converse(sentences)) == sentences


def test_many_scripts_at_once(mocked):
    proxy = mocked(ECHO)

    def converse(number):
        sentences = [f"{number} {index}" for index in range(20)]
        return list(Client(proxy.url, http=2).converse(sentences)) == sentences

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        assert all(pool.map(converse, range(200)))


def test_a_caller_that_leaves_ends_the_script(mocked):
    options = "methods: { Introduce: [ { outputs: [ { send: { text: x } }, { wait: 1h }, { send: { text: y } } ] } ] }"
    proxy = mocked(options, interceptors="[ metrics, { mock: eliza } ]")
    request = f"POST /{SERVICE}/Introduce HTTP/1.1\r\nhost: x\r\ncontent-type: application/connect+json\r\ncontent-length: 7\r\n\r\n"
    with raw(proxy) as caller:
        caller.sendall(request.encode() + b"\0\0\0\0\2{}")
        assert b"200 OK" in caller.recv(65536)
        assert in_flight(proxy) == 1
    eventually(lambda: in_flight(proxy) == 0, what="the end of the call")


def test_a_caller_that_does_not_read_holds_the_script_back(mocked):
    megabyte = "x" * (1 << 20)
    proxy = mocked(
        f"methods: {{ Introduce: [ {{ script: [ {{ each: [ {', '.join(['{ send: { text: ' + megabyte[: 1 << 16] + ' } }'] * 16)} ] }} ] }} ] }}"
    )
    before = proxy.own_memory()
    body = b"\0\0\0\0\2{}" * 200
    request = f"POST /{SERVICE}/Introduce HTTP/1.1\r\nhost: x\r\ncontent-type: application/connect+json\r\ncontent-length: {len(body)}\r\n\r\n"
    with raw(proxy) as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        caller.sendall(request.encode() + body)
        time.sleep(1)
        assert proxy.own_memory() - before < 16 << 20


def test_a_reload_leaves_scripts_as_they_are(mocked):
    proxy = mocked("methods: { Introduce: [ { outputs: [ { send: { json: { sentence: a } } }, { wait: 700ms }, { send: { json: { sentence: b } } } ] } ] }")
    stream = Client(proxy.url).introduce("Bob")
    assert next(stream) == "a"
    proxy.reload(proxy.file.read_text().replace("sentence: b", "sentence: c"))
    assert list(stream) == ["b"]
    assert list(Client(proxy.url).introduce("Bob")) == ["a", "c"]


def test_a_failure_is_retried_as_one_of_an_upstream(mocked):
    proxy = mocked(
        "methods: { Say: [ { times: 2, respond: { fail: connect } }, { respond: { json: { sentence: at last } } } ] }",
        interceptors="[ { validate: { max_retries: 3, retry: { methods: [connectrpc.eliza.v1.ElizaService/Say] }, rules: [ { when: { error: connect }, retry: { delayed: 1ms } } ] } }, { mock: eliza } ]",
    )
    with proxy.http() as client:
        response = client.post(f"/{SERVICE}/Say", json={})
    assert response.json() == {"sentence": "at last"}, response.text


def test_explain(command, tmp_path):
    file = tmp_path / "mock.yaml"
    file.write_text("listen: 127.0.0.1:0\nmocks: { eliza: {} }\ninterceptors: [ { mock: eliza }, { reject: { code: aborted } } ]\n")
    result = command("explain", "-c", file, "POST", f"/{SERVICE}/Say", "-H", "content-type: application/json", "-d", "{}")
    assert result.code == 0
    assert re.search(r"^  mock    request_head: respond", result.stdout.text, re.MULTILINE)
    assert "\n  reject  not reached\nupstream  served in this process by eliza" in result.stdout.text
