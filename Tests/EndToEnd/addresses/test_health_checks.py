"""Addresses are checked, whether calls go there or not, and get no calls as long as they are not well."""

import socket

import pytest
from support.ports import free_port
from support.servers.replicas import GRPCReplica, HTTPReplica, listed, states
from support.wait import eventually, settled

HEALTH = ", health: {{ {}, every: 100ms, timeout: 100ms }}"


def checks(proxy, result):
    return proxy.metrics().total("martlet_upstream_health_checks_total", upstream="default", result=result)


def test_a_server_that_is_not_serving_gets_no_calls(martlet, replicas, caller, until_state):
    servers = replicas(3)
    for server in servers:
        server.serve_health(shop_v1_OrderService=True)
    proxy = martlet(listed(servers, HEALTH.format("grpc: shop.v1.OrderService")))
    eventually(lambda: checks(proxy, "up") >= 6)
    client = caller(proxy)
    assert len(client.spread(60)) == 3
    servers[0].set_health(False, "shop.v1.OrderService")
    # No call is needed for that.
    until_state(proxy, servers[0].name, "out")
    assert states(proxy)[servers[0].name]["reason"] == "health check: NOT_SERVING"
    assert "probe_in_ms" not in states(proxy)[servers[0].name]
    assert f"{servers[0].name}, out for 0s: health check: NOT_SERVING" in proxy.admin("/status").text
    assert set(client.spread(200)) == {server.name for server in servers[1:]}
    proxy.stderr.wait('upstream address is out.*reason="health check: NOT_SERVING"')
    servers[0].set_health(True, "shop.v1.OrderService")
    until_state(proxy, servers[0].name, "in")
    assert len(client.spread(60)) == 3
    proxy.stderr.wait("upstream address is back")
    assert proxy.metrics().total("martlet_upstream_ejections_total", upstream="default", reason="health") == 1
    assert checks(proxy, "down") >= 3


def test_the_whole_server_can_be_asked_for(martlet, replicas, until_state):
    servers = replicas(2)
    for server in servers:
        server.serve_health(all=True)
    servers[1].set_health(False)
    proxy = martlet(listed(servers, HEALTH.format('grpc: ""')))
    until_state(proxy, servers[1].name, "out")
    assert states(proxy)[servers[0].name]["state"] == "in"


def test_servers_that_do_not_know_the_service_count_as_up_with_a_warning(martlet, replicas, caller):
    servers = replicas(2)
    servers[0].serve_health(all=True)
    proxy = martlet(listed(servers, HEALTH.format("grpc: shop.v1.OrderService")))
    eventually(lambda: checks(proxy, "unknown") >= 6)
    assert {address["state"] for address in states(proxy).values()} == {"in"}
    assert len(caller(proxy).spread(40)) == 2
    proxy.stderr.wait("health check without a result.*does not know the service")
    proxy.stderr.wait("health check without a result.*has no health service")
    assert proxy.stderr.text.count("health check without a result") == 2


def test_servers_over_tls(martlet, authority, caller, until_state):
    identity = authority().issue("orders.test")
    hosts = ["127.0.0.11", "127.0.0.12"]
    port = free_port(hosts)
    servers = [GRPCReplica(host, port, identity) for host in hosts]
    try:
        for server in servers:
            server.serve_health(all=True)
        servers[1].set_health(False)
        more = f", tls: {{ ca: {identity.certificate.parent}/authority.pem }}" + ", health: { grpc: '', every: 300ms, timeout: 300ms }"
        proxy = martlet(listed(servers, more, scheme="https"))
        until_state(proxy, servers[1].name, "out")
        assert states(proxy)[servers[1].name]["reason"] == "health check: NOT_SERVING"
        assert set(caller(proxy).spread(20)) == {servers[0].name}
        servers[1].set_health(True)
        until_state(proxy, servers[1].name, "in")
        assert set(caller(proxy).spread(40)) == {server.name for server in servers}
    finally:
        for server in servers:
            server.stop()


def test_a_path_is_asked_for(martlet, replicas, until_state):
    servers = replicas(2, HTTPReplica)
    proxy = martlet(listed(servers, HEALTH.format("path: /healthz, up: 2, down: 2"), scheme="http"))
    eventually(lambda: min(server.checks for server in servers) >= 3)
    assert servers[0].check_headers["user-agent"] == "martlet-health-check"
    assert servers[0].check_headers["host"] == "orders.test:1"
    servers[0].health = 503
    until_state(proxy, servers[0].name, "out")
    assert states(proxy)[servers[0].name]["reason"] == "health check: HTTP status 503"
    with proxy.http() as client:
        assert {client.post("/").text for _ in range(40)} == {servers[1].name}
    servers[0].health = 302
    until_state(proxy, servers[0].name, "in")


def test_a_server_that_takes_no_connection_is_found_without_calls(martlet, replicas, until_state):
    servers = replicas(2, HTTPReplica)
    proxy = martlet(listed(servers, HEALTH.format("path: /healthz"), scheme="http"))
    eventually(lambda: servers[0].checks > 1)
    host, port = servers[0].name.split(":")
    servers[0].stop()
    until_state(proxy, servers[0].name, "out")
    assert "health check: upstream default: cannot connect to" in states(proxy)[servers[0].name]["reason"]
    # One that takes connections and does not respond is not well, either.
    with socket.create_server((host, int(port))):
        eventually(lambda: "no response within 100ms" in states(proxy)[servers[0].name]["reason"])


def test_if_all_are_down_all_are_used(martlet, replicas, caller, until_state):
    servers = replicas(2)
    for server in servers:
        server.serve_health(all=False)
    proxy = martlet(listed(servers, HEALTH.format('grpc: ""')))
    for server in servers:
        until_state(proxy, server.name, "out")
    assert set(caller(proxy).spread(60)) == {server.name for server in servers}
    proxy.stderr.wait("every address is out; trying all")


def test_checks_go_on_through_reloads_and_end_with_the_settings(martlet, replicas, caller, until_state):
    servers = replicas(2)
    for server in servers:
        server.serve_health(all=True)
    servers[0].set_health(False)
    text = listed(servers, HEALTH.format('grpc: ""'))
    proxy = martlet(text)
    until_state(proxy, servers[0].name, "out")
    # Other settings of the checks: what is known stays until they say something else.
    proxy.reload(text.replace("timeout: 100ms", "timeout: 90ms"))
    before = checks(proxy, "down")
    eventually(lambda: checks(proxy, "down") >= before + 5)
    assert states(proxy)[servers[0].name]["state"] == "out"
    assert proxy.stderr.text.count("upstream address is") == 1
    proxy.reload(listed(servers))
    until_state(proxy, servers[0].name, "in")
    count = settled(lambda: checks(proxy, "down"))
    assert len(caller(proxy).spread(40)) == 2
    assert checks(proxy, "down") == count


def test_an_address_that_nobody_checks_any_more_counts_as_up(martlet, replicas, caller, until_state):
    servers = replicas(3)
    for server in servers:
        server.serve_health(all=True)
    servers[0].set_health(False)
    health = HEALTH.format('grpc: ""')
    proxy = martlet(listed(servers, health))
    client = caller(proxy)
    until_state(proxy, servers[0].name, "out")
    client.spread(20)
    proxy.reload(listed(servers[1:], health))
    client.spread(20)
    proxy.reload(listed(servers))
    assert set(client.spread(60)) == {server.name for server in servers}


def test_the_head_of_a_response_is_enough(martlet, replicas, until_state):
    servers = replicas(2, HTTPReplica)
    servers[0].stalls = True
    proxy = martlet(listed(servers, HEALTH.format("path: /healthz"), scheme="http"))
    eventually(lambda: checks(proxy, "up") >= 6)
    assert checks(proxy, "down") == 0


def test_flapping_does_not_fill_the_log(martlet, replicas):
    servers = replicas(2)
    for server in servers:
        server.serve_health(all=True)
    proxy = martlet(listed(servers, HEALTH.format('grpc: "", down: 1')))
    for number in range(10):
        before = checks(proxy, "up" if number % 2 else "down")
        servers[0].set_health(bool(number % 2))
        eventually(lambda: checks(proxy, "up" if number % 2 else "down") > before)
    assert len(proxy.stderr.matches("upstream address is")) <= 2


@pytest.mark.waits
def test_addresses_of_a_file_are_checked_as_they_come_and_go(martlet, replicas, until_state, tmp_path):
    servers = replicas(3)
    for server in servers:
        server.serve_health(all=True)
    servers[2].set_health(False)
    file = tmp_path / "addresses"

    def write(*some):
        new = tmp_path / "new"
        new.write_text("".join(f"{server.name}\n" for server in some))
        new.rename(file)

    write(*servers[:2])
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: {{ file: {file} }}"
        + HEALTH.format('grpc: ""')
        + " } }\n"
    )
    eventually(lambda: checks(proxy, "up") >= 4)
    write(*servers)
    until_state(proxy, servers[2].name, "out")
    write(*servers[:2])
    eventually(lambda: servers[2].name not in states(proxy))
    servers[2].set_health(True)
    write(*servers)
    until_state(proxy, servers[2].name, "in")


def test_a_token_is_sent_if_the_settings_say_so(martlet, replicas, tmp_path):
    servers = replicas(2, HTTPReplica)
    (tmp_path / "token").write_text("s3cret")

    def text(more):
        chain = f"{{ name: orders-token, token: {{ file: {tmp_path}/token }} }}"
        return listed(servers, HEALTH.format(f"path: /healthz{more}"), chain, "http").replace("orders.test", "127.0.0.1")

    proxy = martlet(text(", token: orders-token"))
    eventually(lambda: servers[0].check_headers.get("authorization") == "Bearer s3cret")
    proxy.reload(text(""))
    eventually(lambda: "authorization" not in servers[0].check_headers)


MISTAKES = {
    "health: {}": "grpc",
    "health: { grpc: a, path: /b }": "path",
    "health: { path: healthz }": "write a path such as /healthz",
    'health: { path: "/a b" }': "write a path such as /healthz",
    "health: { path: /a, every: 1ms }": '"every" cannot be 1ms; write a duration of at least 100ms',
    "health: { path: /a, every: 1s, timeout: 2s }": '"timeout" cannot be longer than "every"',
    "health: { grpc: a }": '"grpc" needs HTTP/2, and http://orders.test:80 is HTTP/1.1',
    "health: { path: /a, down: 0 }": "down",
    "health: { path: /a, token: nobody }": '"token" would leave this machine in clear text',
    "addresses: first, health: { path: /a }": '"health" has no effect with one address',
}


@pytest.mark.parametrize("settings", MISTAKES)
def test_what_is_wrong_is_told(command, tmp_path, settings):
    (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'http://orders.test', {settings} }} }}\n")
    result = command("check", "-c", tmp_path / "martlet.yaml")
    assert (result.code, MISTAKES[settings] in result.stderr.text) == (78, True), result.stderr.text
