"""An address that cannot be connected to, or whose calls fail, gets no calls for a while, and is said to be out."""

import re
import threading
import time

import grpc
import pytest
from support.servers.replicas import METHOD, HTTPReplica, Resetter, listed, states
from support.wait import eventually


EJECT = ", eject: { failures: 5, for: 300ms, max: 2s }"


def test_a_server_that_is_stopped_costs_no_call_and_comes_back(martlet, replicas, caller, until_state):
    servers = replicas(3)
    proxy = martlet(listed(servers))
    client = caller(proxy)
    assert len(client.spread(60)) == 3
    servers[0].stop()
    spread = client.spread(300)
    assert set(spread) == {server.name for server in servers[1:]}, spread
    until_state(proxy, servers[0].name, "out")
    assert "cannot connect to" in states(proxy)[servers[0].name]["reason"]
    assert f"{servers[0].name}, out for" in proxy.admin("/status").text
    proxy.stderr.wait("upstream address is out")
    assert proxy.stderr.text.count("upstream address is out") == 1
    servers[0].start()
    # A second, and a fifth more.
    eventually(lambda: servers[0].name in client.spread(12))
    until_state(proxy, servers[0].name, "in")
    proxy.stderr.wait("upstream address is back")
    assert proxy.stderr.text.count("upstream address is back") == 1
    metrics = proxy.metrics()
    assert metrics.total("martlet_upstream_ejections_total", upstream="default", reason="connect") == 1
    assert metrics.total("martlet_upstream_addresses", upstream="default", state="in") == 3


@pytest.mark.parametrize("mode", ["unavailable", "trailers"])
def test_calls_that_fail_put_an_address_out(martlet, replicas, caller, until_state, mode):
    servers = replicas(3)
    servers[0].mode = mode
    proxy = martlet(listed(servers, EJECT))
    client = caller(proxy)
    spread = client.spread(300, parallel=1)
    # Five, and one for each probe.
    assert 5 <= spread["UNAVAILABLE"] <= 12, spread
    until_state(proxy, servers[0].name, "out")
    assert "code unavailable" in states(proxy)[servers[0].name]["reason"]
    before = servers[0].calls
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        client.spread(20)
    assert servers[0].calls - before <= 5
    servers[0].mode = "ok"
    eventually(lambda: servers[0].name in client.spread(20))
    until_state(proxy, servers[0].name, "in")


@pytest.mark.waits
def test_http_statuses_put_an_address_out(martlet, replicas, until_state):
    servers = replicas(3, HTTPReplica)
    servers[0].status = 503
    proxy = martlet(listed(servers, ", eject: { failures: 5, for: 30s }", scheme="http"))
    with proxy.http() as client:
        failed = [client.post("/").status_code for _ in range(200)].count(503)
    assert failed == 5
    until_state(proxy, servers[0].name, "out")
    assert states(proxy)[servers[0].name]["reason"] == "5 failures in a row, the last: HTTP status 503"


@pytest.mark.parametrize("scheme", ["http", "h2c"])
def test_a_server_that_resets_connections_is_put_out(martlet, replicas, until_state, scheme):
    (bad,) = replicas(1, Resetter)
    good = replicas(2, HTTPReplica, first=21) if scheme == "http" else replicas(2, first=21)
    speaks = "" if scheme == "http" else ", speaks: [grpc]"
    proxy = martlet(listed([bad, *good], ", eject: { failures: 3, for: 10s }" + speaks, scheme=scheme))
    with proxy.http() as client:
        for _ in range(60):
            client.post(METHOD, content=b"\0\0\0\0\0", headers={"content-type": "application/grpc-web+proto"})
    until_state(proxy, bad.name, "out")
    assert all(states(proxy)[one.name]["state"] == "in" for one in good)


def test_a_token_does_not_leave_the_machine_in_clear_text(command, tmp_path):
    upstream = "{ url: 'http://localhost:1', addresses: [ \"10.0.0.1:50051\" ] }"
    (tmp_path / "martlet.yaml").write_text(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {upstream} }}\ninterceptors: [ {{ token: {{ value: s3cret }} }} ]\n"
    )
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert result.code == 78 and "clear text" in result.stderr.text, result.stderr.text


def test_a_server_that_does_not_respond_is_put_out(martlet, replicas, caller, until_state):
    servers = replicas(3)
    servers[0].mode = "hang"
    proxy = martlet(listed(servers, ", eject: { failures: 3, for: 10s }, timeouts: { attempt: 200ms }"))
    client = caller(proxy)
    eventually(lambda: client.spread(20) and states(proxy)[servers[0].name]["state"] == "out", within=20)
    assert servers[0].calls <= 8
    assert "timeouts.attempt" in states(proxy)[servers[0].name]["reason"]


def test_the_deadline_of_callers_counts_too(martlet, replicas, caller, until_state):
    servers = replicas(3)
    servers[0].mode = "hang"
    proxy = martlet(listed(servers, ", eject: { failures: 3, for: 10s }"))
    client = caller(proxy)

    def is_out():
        try:
            client.call(timeout=0.1)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        return states(proxy)[servers[0].name]["state"] == "out"

    eventually(is_out, within=20)
    assert servers[0].calls <= 6


def test_no_more_than_a_share_is_out_because_of_calls(martlet, replicas, caller):
    servers = replicas(4)
    for server in servers[:3]:
        server.mode = "unavailable"
    proxy = martlet(listed(servers, ", eject: { failures: 2, for: 10s, share: 50 }"))
    client = caller(proxy)
    client.spread(300)
    assert sum(address["state"] == "out" for address in states(proxy).values()) == 2


def test_what_would_be_too_many_is_told(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers[:2]:
        server.mode = "unavailable"
    proxy = martlet(listed(servers, ", eject: { failures: 2, for: 10s }"))
    caller(proxy).spread(60)
    line = proxy.stderr.wait("upstream address fails and stays in, as eject.share is reached")
    assert 'reason="code unavailable"' in line.string
    assert proxy.metrics().total("martlet_limit_hits_total", limit="eject_share") > 0


@pytest.mark.waits
def test_no_call_waits_for_a_probe(martlet, replicas, caller, hole, until_state):
    servers = replicas(2)
    proxy = martlet(listed([*servers, hole], ", timeouts: { connect: 1500ms }"))
    client = caller(proxy)
    # Some of the first calls may wait for it.
    client.spread(60)
    until_state(proxy, hole.name, "out")

    def was_probed():
        # A probe begins after a second, and a fifth more.
        return states(proxy)[hole.name]["out_ms"] > 4000

    slow = 0
    while not was_probed():
        start = time.monotonic()
        client.call()
        slow += time.monotonic() - start > 1
    assert slow == 0
    assert "no connection within timeouts.connect" in states(proxy)[hole.name]["reason"]


def test_an_address_that_is_gone_is_not_shown(martlet, replicas, until_state, tmp_path):
    servers = replicas(2, HTTPReplica)
    file = tmp_path / "addresses"
    file.write_text("".join(f"{server.name}\n" for server in servers))
    proxy = martlet(f"listen: 127.0.0.1:0\nworkers: 4\nupstreams: {{ default: {{ url: 'http://orders.test:1', addresses: {{ file: {file} }} }} }}\n")
    # Known before the first call.
    assert set(states(proxy)) == {server.name for server in servers}
    for _ in range(20):
        with proxy.http() as client:
            client.get("/")
    new = tmp_path / "new"
    new.write_text(f"{servers[0].name}\n")
    new.rename(file)

    def is_gone():
        # One connection, which only one worker has.
        with proxy.http() as client:
            client.get("/")
        return set(states(proxy)) == {servers[0].name}

    eventually(is_gone)


def test_what_failed_before_is_in_the_log(martlet, replicas, caller, tmp_path):
    servers = replicas(3)
    servers[0].stop()
    proxy = martlet(listed(servers, chain=f"{{ log: {{ to: {tmp_path}/access.log }} }}"))
    caller(proxy).spread(30)
    eventually(lambda: f'"other_addresses":"{servers[0].name}"' in (tmp_path / "access.log").read_text())
    assert proxy.metrics().total("martlet_upstream_attempts_total", result="connect_failed") > 0


def test_if_all_are_out_all_are_used_and_that_is_said_once(martlet, replicas, caller):
    servers = replicas(3)
    for server in servers:
        server.stop()
    proxy = martlet(listed(servers))
    client = caller(proxy)
    assert set(client.spread(60)) == {"UNAVAILABLE"}
    proxy.stderr.wait("every address is out; trying all")
    assert proxy.stderr.text.count("every address is out; trying all") == 1
    for server in servers:
        server.start()
    eventually(lambda: set(client.spread(30)) == {server.name for server in servers})


def test_a_retry_prefers_an_address_that_was_not_tried(martlet, replicas, caller):
    servers = replicas(3)
    servers[0].mode = servers[1].mode = "unavailable"
    retry = "{ validate: { max_retries: 2, retry: { methods: [shop.v1.OrderService/Get] }, rules: [ { when: { code: unavailable }, retry: { immediate: {} } } ] } }"
    proxy = martlet(listed(servers, ", retry_budget: { min_per_second: 1000 }", retry))
    client = caller(proxy)
    assert set(client.spread(200)) == {servers[2].name}


def test_states_stay_through_a_reload(martlet, replicas, caller, until_state):
    servers = replicas(3)
    servers[0].mode = "unavailable"
    text = listed(servers, ", eject: { failures: 2, for: 30s }")
    proxy = martlet(text)
    client = caller(proxy)
    client.spread(100)
    until_state(proxy, servers[0].name, "out")
    proxy.reload(text.replace("failures: 2", "failures: 3"))
    assert set(client.spread(100)) == {server.name for server in servers[1:]}
    assert states(proxy)[servers[0].name]["state"] == "out"


def test_streams_live_on_when_their_address_leaves(martlet, replicas, caller, tmp_path):
    servers = replicas(2)
    file = tmp_path / "addresses"
    file.write_text("".join(f"{server.name}\n" for server in servers))
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: {{ file: {file} }} }} }}\n")
    client = caller(proxy)
    assert len(client.spread(30)) == 2
    servers[0].mode = "hang"
    pending = [client.method.future(b"", timeout=20) for _ in range(8)]
    eventually(lambda: states(proxy)[servers[0].name]["calls"] > 0)
    file.write_text(f"{servers[1].name}\n")

    def is_leaving():
        # The file is looked at as calls come, one of which may still go there.
        client.poke()
        return states(proxy)[servers[0].name]["state"] == "leaving"

    eventually(is_leaving)
    servers[0].gate.set()
    assert {call.result().decode() for call in pending} <= {server.name for server in servers}
    eventually(lambda: client.spread(4) and servers[0].name not in states(proxy))


def test_every_server_is_restarted_and_no_call_fails(martlet, replicas, caller):
    servers = replicas(3)
    # This server cancels what comes after it was told to stop, so that only a rule can say that it is safe to retry.
    rule = "{ when: { code: [canceled, unavailable] }, retry: { immediate: {} } }"
    retry = f"{{ validate: {{ max_retries: 3, retry: {{ methods: [shop.v1.OrderService/Get] }}, rules: [ {rule} ] }} }}"
    proxy = martlet(listed(servers, ", retry_budget: { min_per_second: 1000 }", retry))
    client = caller(proxy)

    stop, failures = threading.Event(), []

    def load():
        while not stop.is_set():
            outcome = client.outcome()
            if not re.match(r"127\.", outcome):
                failures.append(outcome)

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for server in servers:
        # As a server does that is told to stop: calls under way end.
        server.stop(grace=5)
        server.start()
        eventually(lambda server=server: states(proxy)[server.name]["state"] == "in" and server.calls)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_calls_of_an_upstream_are_limited(martlet, replicas, caller):
    servers = replicas(2)
    for server in servers:
        server.mode = "hang"
    proxy = martlet(listed(servers, ", limits: { calls: 5 }"))
    client = caller(proxy)
    pending = [client.method.future(b"", timeout=20) for _ in range(5)]
    eventually(lambda: sum(address["calls"] for address in states(proxy).values()) == 5)
    with pytest.raises(grpc.RpcError, match="limits.calls is reached") as error:
        client.call()
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert proxy.metrics().total("martlet_limit_hits_total", limit="upstream_calls") == 1
    for server in servers:
        server.mode = "ok"
        server.gate.set()
    for call in pending:
        call.result()
    client.call()


def test_the_address_is_in_the_log(martlet, replicas, caller, tmp_path):
    servers = replicas(2)
    proxy = martlet(listed(servers, chain=f"{{ log: {{ to: {tmp_path}/access.log }} }}"))
    name = caller(proxy).call()
    eventually(lambda: f'"upstream_address":"{name}"' in (tmp_path / "access.log").read_text())


MISTAKES = {
    "addresses: some": '"addresses" cannot be "some"; write all, first, a list of host:port',
    "addresses: []": '"addresses" is empty; write a list of host:port',
    "addresses: [ here there ]": 'an address cannot be "here there"; write a host and a port, such as 10.0.0.1:50051',
    "addresses: [ a.test:1, a.test:1 ]": "a.test:1 is in the list already; remove one",
    "addresses: { file: relative }": '"file" cannot be "relative"; write an absolute path',
    "addresses: { files: /a }": 'unknown key "files"; write { srv: NAME } or { file: PATH }',
    "addresses: { srv: a.test, file: /a }": '"addresses" takes one key',
    "addresses: first, balance: round_robin": '"balance" has no effect with one address',
    "balance: fast": '"balance" cannot be "fast"; write least_requests, round_robin',
    "balance: { hash: '{nothing}' }": "{nothing} is unknown",
    "eject: { failures: 1, for: 2s, max: 1s }": '"max" cannot be shorter than "for", which is 2s',
    "eject: { failures: 1, for: 2m }": '"for" cannot be longer than "max", which is 1m',
    "eject: { failures: 1, for: 0s }": "longer than zero",
    "eject: { failures: 1, codes: [ok] }": '"codes" cannot be ok',
    "balance: { hash: x-user }": '"hash" is the same for all calls',
    "eject: { failures: 1, codes: [sick] }": "sick",
}


@pytest.mark.parametrize("options", MISTAKES)
def test_what_is_wrong_is_told(command, tmp_path, options):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'http://orders.test:1', {options} }} }}\n")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, MISTAKES[options] in result.stderr.text) == (78, True), result.stderr.text


def test_one_address_of_this_machine_is_as_it_was(martlet, recorder):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url)
    with proxy.http() as client:
        assert client.post("/", content=b"x").text == "ok"
    assert states(proxy) == {}


@pytest.mark.parametrize("kind", ["application/connect+json", "application/json", "application/grpc-web+json"])
def test_codes_count_wherever_a_protocol_has_them(martlet, until_state, kind):
    """In the last message of a stream, in JSON, and in trailers within a body."""

    def replica(host, rule):
        return martlet(
            f"listen: {host}:0\nmocks: {{ m: {{ methods: {{ Get: [ {{ {rule} }} ] }} }} }}\ninterceptors: [ {{ mock: m }} ]\n"
        ).addresses[0]

    well = "outputs: [ { send: { json: {} } } ]" if kind.endswith("connect+json") else "respond: { json: {} }"
    sick = replica("127.0.0.41", "respond: { code: unavailable }")
    others = [replica(host, well) for host in ("127.0.0.42", "127.0.0.43")]
    addresses = ", ".join(f'"{address}"' for address in (sick, *others))
    # The HTTP status of such an error is not what counts here.
    eject = "{ failures: 3, codes: [unavailable], statuses: [599], for: 30s }"
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'http://orders.test:1', addresses: [ {addresses} ], eject: {eject} }} }}\n")
    body = b"{}" if kind == "application/json" else b"\0\0\0\0\x02{}"
    with proxy.http() as client:
        for _ in range(60):
            client.post("/shop.v1.OrderService/Get", content=body, headers={"content-type": kind, "connect-protocol-version": "1"})
    until_state(proxy, sick, "out")
    assert states(proxy)[sick]["reason"] == "3 failures in a row, the last: code unavailable"
    assert all(states(proxy)[address]["state"] == "in" for address in others)
