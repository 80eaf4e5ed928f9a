"""A call without a response goes to another address as well, if it may be sent twice, and the first response counts."""

import json
import socket
import time
from concurrent import futures

import grpc
import pytest
from support.ports import free_port
from support.servers.eliza_messages import descriptor_set
from support.servers.replicas import METHOD, GRPCReplica, HTTPReplica, listed, states
from support.wait import eventually, settled

LISTED = ", hedge: {{ after: {}, methods: [shop.v1.OrderService/Get] }}"
HEDGE = LISTED.format("50ms")
# Where it counts which calls are hedged: a good server responds before that, however busy the machine is.
LATE = "1s"


def hedges(proxy, result):
    return proxy.metrics().total("martlet_hedges_total", upstream="default", result=result)


def timed(call):
    start = time.monotonic()
    return call(), time.monotonic() - start


def until(server, calls, call):
    """Makes calls until a server has got so many of them, as chance decides which one gets a call; returns the results."""
    results = []
    while server.calls < calls:
        results.append(call())
    return results


def test_a_server_that_hangs_costs_a_moment(martlet, replicas, caller, tmp_path):
    servers = replicas(3)
    servers[0].mode = "hang"
    more = LISTED.format(LATE) + ", retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, more, f"{{ log: {{ to: {tmp_path}/access.log }} }}"))
    client = caller(proxy)
    took = until(servers[0], 3, lambda: timed(client.call))
    assert {name for name, _ in took} <= {server.name for server in servers[1:]}
    # Ten seconds are the time of a call.
    assert max(seconds for _, seconds in took) < 3, took
    # The server that has lost sees that nobody waits for it.
    eventually(lambda: servers[0].canceled == servers[0].calls)
    assert hedges(proxy, "won") == servers[0].calls
    assert hedges(proxy, "lost") == hedges(proxy, "failed") == 0
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="canceled") == servers[0].calls
    # That was no failure of anybody.
    assert proxy.metrics().total("martlet_upstream_addresses", state="in") == 3
    eventually(lambda: (tmp_path / "access.log").read_text().count("\n") >= len(took))
    lines = [json.loads(line) for line in (tmp_path / "access.log").read_text().splitlines()]
    hedged = [line for line in lines if "hedges" in line]
    assert len(hedged) == servers[0].calls
    assert all((line["hedges"], line["attempts"], line["code"]) == (1, 2, "ok") for line in hedged)
    assert all(line["upstream_address"] != servers[0].name for line in lines)


def test_a_method_that_is_not_listed_is_never_sent_twice(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "slow"
    proxy = martlet(listed(servers, ", hedge: { after: 10ms, methods: [shop.v1.OrderService/List, shop.v1.Other/*] }"))
    caller(proxy).spread(40)
    assert sum(server.calls for server in servers) == 40
    assert proxy.metrics().total("martlet_hedges_total") == 0


def test_a_method_that_says_so_may_be_sent_twice(martlet, tmp_path):
    """`Say` of Eliza has NO_SIDE_EFFECTS, and nobody lists it."""
    (tmp_path / "types").write_bytes(descriptor_set())
    method = "/connectrpc.eliza.v1.ElizaService/Say"
    hosts = ["127.0.0.11", "127.0.0.12"]
    port = free_port(hosts)
    servers = [GRPCReplica(host, port, method=method) for host in hosts]
    try:
        for server in servers:
            server.mode = "hang"
            server.outcome = lambda request, context, outcome=server.outcome: outcome(request, context) and b""
        proxy = martlet(listed(servers, ", hedge: { after: 10ms }", top=f"types: {{ files: [ {tmp_path}/types ] }}"))
        channel = grpc.insecure_channel(proxy.url.removeprefix("http://"))
        call = channel.unary_unary(method).future(b"", timeout=20)
        eventually(lambda: [server.calls for server in servers] == [1, 1])
        servers[0].gate.set()
        assert call.result() == b""
        channel.close()
    finally:
        for server in servers:
            server.stop()


def test_a_failure_is_not_waited_for(martlet, replicas, caller):
    servers = replicas(2)
    servers[0].mode = "unavailable"
    proxy = martlet(listed(servers, LISTED.format("20s") + ", retry_budget: { min_per_second: 100 }"))
    client = caller(proxy)
    assert {client.call(timeout=5) for _ in range(40)} == {servers[1].name}
    assert servers[0].calls > 0
    assert hedges(proxy, "won") == servers[0].calls
    # It says how often the call was sent before.
    assert servers[1].previous.count("1") == servers[0].calls
    assert set(servers[0].previous) == {None}


def test_what_every_server_would_say_is_no_failure(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "invalid"
    # Not the usual 50 ms, in which a busy machine may not respond.
    proxy = martlet(listed(servers, LISTED.format("20s")))
    assert caller(proxy).spread(20) == {"INVALID_ARGUMENT": 20}
    assert sum(server.calls for server in servers) == 20


def test_if_all_fail_the_caller_gets_the_last_failure(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers:
        server.mode = "unavailable"
    proxy = martlet(listed(servers, ", hedge: { after: 20s, max: 4, methods: [shop.v1.OrderService/Get] }"))
    with pytest.raises(grpc.RpcError) as error:
        caller(proxy).call(timeout=5)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.UNAVAILABLE, "sick")
    assert [server.calls for server in servers] == [1, 1, 1]
    assert (hedges(proxy, "failed"), hedges(proxy, "won"), hedges(proxy, "no_address")) == (1, 1, 1)


def test_a_server_may_forbid_it(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers:
        server.mode = "never again"
    proxy = martlet(listed(servers, LISTED.format("20s")))
    assert caller(proxy).outcome() == "UNAVAILABLE"
    assert sum(server.calls for server in servers) == 1


@pytest.mark.waits
def test_a_server_may_say_when(martlet, replicas, caller):
    servers = replicas(2)
    servers[0].mode = "later"
    proxy = martlet(listed(servers, LISTED.format("20s") + ", retry_budget: { min_per_second: 100 }"))
    client = caller(proxy)
    took = until(servers[0], 2, lambda: timed(client.call))
    assert {name for name, _ in took} == {servers[1].name}
    assert sum(1.9 < seconds < 5 for _, seconds in took) == hedges(proxy, "won") == servers[0].calls == 2
    servers[1].mode = "later"
    assert client.outcome() == "UNAVAILABLE"
    # Nothing is left of a call whose time is over meanwhile.
    before = sum(server.calls for server in servers)
    client.poke(timeout=1)
    eventually(lambda: sum(server.calls for server in servers) == before + 1)
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0)


def test_the_retry_budget_pays(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers:
        server.mode = "slow"
    more = LISTED.format("10ms") + ", retry_budget: { ratio: 0.1, min_per_second: 0 }"
    proxy = martlet(listed(servers, more, top="workers: 1"))
    caller(proxy).spread(200)
    extra = sum(server.calls for server in servers) - 200
    assert 0 < extra <= 22, extra
    assert hedges(proxy, "no_budget") == 200 - extra


def test_an_address_that_takes_no_connection_costs_a_moment(martlet, replicas, caller, hole, until_state):
    servers = replicas(2)
    proxy = martlet(listed([*servers, hole], HEDGE + ", timeouts: { connect: 3s }, retry_budget: { min_per_second: 100 }"))
    client = caller(proxy)
    took = [timed(client.call) for _ in range(40)]
    assert {name for name, _ in took} == {server.name for server in servers}
    assert max(seconds for _, seconds in took) < 2, took
    # The connection goes on although nobody waits for it, and says what the address is worth.
    until_state(proxy, hole.name, "out", within=10)


def test_failures_put_an_address_out_all_the_same(martlet, replicas, caller, until_state):
    servers = replicas(2)
    servers[0].mode = "unavailable"
    more = ", eject: { failures: 3, for: 300ms }, retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, LISTED.format("20s") + more))
    client = caller(proxy)
    assert set(client.spread(40, parallel=1)) == {servers[1].name}
    until_state(proxy, servers[0].name, "out")
    assert servers[0].calls <= 5
    servers[0].mode = "ok"
    eventually(lambda: servers[0].name in client.spread(10))


def test_an_address_that_never_responds_goes_out(martlet, replicas, caller, until_state):
    servers = replicas(3)
    servers[0].mode = "hang"
    more = ", eject: { failures: 3, for: 10s }, retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, LISTED.format("30ms") + more))
    client = caller(proxy)
    eventually(lambda: client.spread(10, parallel=1) and states(proxy)[servers[0].name]["state"] == "out")
    assert states(proxy)[servers[0].name]["reason"] == "3 failures in a row, the last: no response before another address"
    assert servers[0].calls <= 6


def test_an_attempt_that_began_later_has_not_failed(martlet, replicas, caller):
    servers = replicas(5)
    for server in servers:
        server.mode = "hang"
    hedge = ", hedge: { after: 50ms, max: 3, methods: [shop.v1.OrderService/Get] }, retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, hedge + ", eject: { failures: 1, for: 30s }"))
    with futures.ThreadPoolExecutor(1) as pool:
        call = pool.submit(caller(proxy).call)
        eventually(lambda: sum(server.calls for server in servers) == 3)
        first, second, third = (next(server for server in servers if server.previous == [count]) for count in (None, "1", "2"))
        second.gate.set()
        assert call.result() == second.name
    eventually(lambda: (first.canceled, third.canceled) == (1, 1))
    out = {name: state["reason"] for name, state in states(proxy).items() if state["state"] == "out"}
    assert out == {first.name: "1 failure: no response before another address"}


def test_an_address_that_is_slower_than_the_others_comes_back(martlet, replicas, caller, until_state):
    servers = replicas(2)
    servers[0].mode = "unavailable"
    more = ", eject: { failures: 3, for: 200ms }, retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, LISTED.format("30ms") + more))
    client = caller(proxy)
    client.spread(40, parallel=1)
    until_state(proxy, servers[0].name, "out")
    servers[0].mode = "slow"
    eventually(lambda: client.spread(5) and states(proxy)[servers[0].name]["state"] == "in")


def test_what_the_upstream_adds_is_added_once(martlet, replicas):
    servers = replicas(2, HTTPReplica)
    servers[0].gate.clear()
    more = ", hedge: { after: 30ms }, defaults: { query: { locale: en }, headers: { x-a: b } }, retry_budget: { min_per_second: 100 }"
    proxy = martlet(listed(servers, more, "{ token: { value: s3cret } }", "http").replace("orders.test", "127.0.0.1"))
    with proxy.http() as client:
        for _ in range(12):
            assert client.get("/x?a=1").status_code == 200
    assert hedges(proxy, "won") > 0
    assert servers[0].seen == servers[1].seen == {("/x?a=1&locale=en", "b", "Bearer s3cret")}


def test_a_request_that_fails_before_it_is_whole_is_sent_once(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "unavailable"
    proxy = martlet(listed(servers, LISTED.format("20s") + ", speaks: [grpc]"))
    with socket.create_connection(proxy.address) as connection:
        head = f"POST {METHOD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc-web+proto\r\ntransfer-encoding: chunked\r\n\r\n"
        # A whole message, after which more could come.
        connection.sendall(head.encode() + b"9\r\n\0\0\0\0\4abcd\r\n")
        settled(lambda: sum(server.calls for server in servers), during=0.3)
        assert sum(server.calls for server in servers) <= 1
        connection.sendall(b"0\r\n\r\n")
        assert b" 200 " in connection.recv(65536)


@pytest.mark.waits
@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize(
    ("content_type", "body"),
    [("application/grpc-web+proto", b"\0\0\0\0\0"), ("application/proto", b""), ("application/connect+proto", b"\0\0\0\0\0")],
)
def test_callers_of_other_protocols(martlet, replicas, content_type, body, http2):
    """gRPC servers, and callers to whom their responses are translated."""
    servers = replicas(2)
    servers[0].mode = "hang"
    proxy = martlet(listed(servers, LISTED.format(LATE) + ", speaks: [grpc], retry_budget: { min_per_second: 100 }"))
    with proxy.http(http2=http2, http1=not http2) as client:
        headers = {"content-type": content_type, "connect-protocol-version": "1"}
        for response in until(servers[0], 2, lambda: client.post(METHOD, content=body, headers=headers)):
            assert response.status_code == 200 and servers[1].name.encode() in response.content
    assert hedges(proxy, "won") == servers[0].calls == 2


@pytest.mark.parametrize("mode", ["hang", "unavailable", "trailers"])
@pytest.mark.parametrize("content_type", ["application/proto", "application/grpc-web+proto"])
def test_failures_of_translated_calls(martlet, replicas, mode, content_type):
    servers = replicas(2)
    servers[0].mode = mode
    # What fails is not waited for.
    hedge = HEDGE if mode == "hang" else LISTED.format("20s")
    proxy = martlet(listed(servers, hedge + ", speaks: [grpc], retry_budget: { min_per_second: 100 }"))
    body = b"" if content_type == "application/proto" else b"\0\0\0\0\0"
    headers = {"content-type": content_type, "connect-protocol-version": "1"}
    with proxy.http() as client:
        contents = until(servers[0], 5, lambda: client.post(METHOD, content=body, headers=headers).content)
    # With a head of its own a response counts, whatever comes then, unless that is held until its end.
    failed = sum(servers[1].name.encode() not in content for content in contents)
    assert failed == (servers[0].calls if (mode, content_type) == ("trailers", "application/grpc-web+proto") else 0)


@pytest.mark.waits
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_plain_http(martlet, replicas, method):
    servers = replicas(2, HTTPReplica)
    servers[0].gate.clear()
    more = f", hedge: {{ after: {LATE} }}, timeouts: {{ attempt: 3s }}, retry_budget: {{ min_per_second: 100 }}"
    proxy = martlet(listed(servers, more, scheme="http"))
    with proxy.http() as client:
        results = until(servers[0], 2, lambda: client.request(method, "/").status_code)
    if method == "GET":
        assert set(results) == {200} and hedges(proxy, "won") == servers[0].calls == 2
    else:
        assert results.count(504) == servers[0].calls == 2 and proxy.metrics().total("martlet_hedges_total") == 0


@pytest.mark.parametrize("spools", [False, True])
def test_a_request_that_is_too_large_to_keep_is_sent_once(martlet, replicas, caller, spools, tmp_path):
    servers = replicas(2)
    for server in servers:
        server.mode = "slow"
    spool = f", spool: {tmp_path}" if spools else ""
    proxy = martlet(listed(servers, LISTED.format("10ms") + f", limits: {{ retry_buffer: 1KiB{spool} }}"))
    method = caller(proxy).channel.unary_unary(METHOD)
    for _ in range(4):
        method(b"x" * 2000, timeout=5)
    assert sum(server.calls for server in servers) == 4
    for server in servers:
        server.mode = "hang"
    call = method.future(b"x" * 500, timeout=20)
    eventually(lambda: sum(server.calls for server in servers) == 6)
    servers[0].gate.set()
    assert call.result().decode() == servers[0].name


def test_a_request_is_sent_again_only_when_it_is_whole(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "hang"
    proxy = martlet(listed(servers, LISTED.format("10ms") + ", speaks: [grpc]"))
    with socket.create_connection(proxy.address) as connection:
        head = f"POST {METHOD} HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc-web+proto\r\ncontent-length: 9\r\n\r\n"
        connection.sendall(head.encode() + b"\0\0\0\0\4")
        eventually(lambda: proxy.metrics().total("martlet_upstream_connections", state="active") == 1)
        assert settled(lambda: proxy.metrics().total("martlet_upstream_connections", state="active")) == 1
        connection.sendall(b"abcd")
        eventually(lambda: sum(server.calls for server in servers) == 2)
        servers[0].gate.set()
        assert b" 200 " in connection.recv(65536)


def test_a_hedged_call_is_not_retried_by_rules(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers:
        server.mode = "unavailable"
    rule = "{ validate: { rules: [ { when: { code: unavailable }, retry: { immediate: {} } } ], max_retries: 3 } }"
    proxy = martlet(listed(servers, HEDGE, rule))
    assert caller(proxy).outcome() == "UNAVAILABLE"
    assert sum(server.calls for server in servers) == 2
    assert proxy.metrics().total("martlet_retries_total", reason="rule", result="hedged") == 1


def test_the_deadline_ends_all_attempts(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "hang"
    proxy = martlet(listed(servers, HEDGE))
    with pytest.raises(grpc.RpcError) as error:
        caller(proxy).call(timeout=0.3)
    assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    eventually(lambda: [server.canceled for server in servers] == [1, 1])
    # A server that knows the deadline may respond first.
    eventually(lambda: hedges(proxy, "lost") + hedges(proxy, "won") == 1)
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0)


def test_a_slow_replica_beside_reloads(martlet, replicas, caller):
    servers = replicas(3)
    servers[0].mode = "slow"
    text = listed(servers, LISTED.format("20ms") + ", retry_budget: { min_per_second: 1000 }")
    proxy = martlet(text)
    client = caller(proxy)
    with futures.ThreadPoolExecutor(1) as pool:
        calls = pool.submit(client.spread, 600)
        for number in range(6):
            proxy.reload(text.replace("after: 20ms", f"after: 2{number}ms"))
        spread = calls.result()
    assert set(spread) <= {server.name for server in servers}, spread


MISTAKES = {
    "hedge: {}": '"after"',
    "hedge: { after: 1s, max: 5 }": '"max" cannot be "5"',
    "hedge: { after: 1s, methods: [Get] }": 'a method cannot be "Get"; write a service and a method',
    "addresses: first, hedge: { after: 1s }": '"hedge" has no effect with one address',
}


@pytest.mark.parametrize("settings", MISTAKES)
def test_what_is_wrong_is_told(command, tmp_path, settings):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'http://orders.test', {settings} }} }}\n")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, MISTAKES[settings] in result.stderr.text) == (78, True), result.stderr.text
