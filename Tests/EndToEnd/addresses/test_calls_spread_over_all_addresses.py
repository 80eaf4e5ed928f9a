"""The calls of one connection go to all addresses of an upstream, however these are found."""

import os
import re
import time
from collections import Counter

import pytest
from support.servers.replicas import HTTPReplica, NameServer, listed, states
from support.wait import eventually


def is_even(spread, replicas, within=0.1):
    share = sum(spread.values()) / len(replicas)
    return set(spread) == {replica.name for replica in replicas} and all(abs(count - share) <= within * share for count in spread.values())


@pytest.mark.parametrize("balance", ["least_requests", "round_robin"])
def test_the_calls_of_one_grpc_connection(martlet, replicas, caller, balance):
    servers = replicas(3)
    proxy = martlet(listed(servers, f", balance: {balance}"))
    spread = caller(proxy).spread(3000)
    assert is_even(spread, servers), spread


def test_the_calls_of_one_connection_of_http_1(martlet, replicas):
    servers = replicas(3, HTTPReplica)
    addresses = ", ".join(f'"{server.name}"' for server in servers)
    proxy = martlet(f"listen: 127.0.0.1:0\nworkers: 1\nupstreams: {{ default: {{ url: 'http://orders.test:1', addresses: [ {addresses} ] }} }}\n")
    caller, spread = proxy.connect(), Counter()
    # One follows the other, so chance alone spreads them: with so many it is never a tenth more or less.
    for _ in range(6000):
        caller.send(b"POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 1\r\n\r\nx")
        spread[caller.response().body.decode()] += 1
    assert is_even(spread, servers), spread


def test_a_slow_address_gets_few_calls(martlet, replicas, caller):
    servers = replicas(3)
    servers[0].mode = "slow"
    proxy = martlet(listed(servers))
    spread = caller(proxy).spread(2000, parallel=12)
    assert spread[servers[0].name] < 200, spread


def test_a_value_keeps_its_address_and_few_move_when_one_goes(martlet, replicas, caller, tmp_path):
    servers = replicas(4)
    file = tmp_path / "addresses"
    file.write_text("".join(f"{server.name}\n" for server in servers))
    text = "listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: {{ file: {} }}, balance: {{ hash: '{{header:x-user}}' }} }} }}\n"
    proxy = martlet(text.format(file))
    client = caller(proxy)

    def homes():
        return {user: client.call(x_user=f"user {user}") for user in range(200)}

    before = homes()
    assert homes() == before and set(before.values()) == {server.name for server in servers}
    # Another order and another process have nothing to do with it.
    other = tmp_path / "other"
    other.write_text("".join(f"{server.name}\n" for server in reversed(servers)))
    second = caller(martlet(text.format(other)))
    assert {user: second.call(x_user=f"user {user}") for user in range(200)} == before
    gone = servers[1].name
    replace(file, [server.name for server in servers if server.name != gone])
    eventually(lambda: gone not in homes().values())
    after = homes()
    assert all(after[user] == home for user, home in before.items() if home != gone)
    # Calls without the value go to all.
    assert len(client.spread(200)) == 3


def replace(file, lines):
    new = file.with_suffix(".new")
    new.write_text("# the replicas\r\n" + "".join(f"{line}\r\n" for line in lines))
    os.replace(new, file)


def test_a_file_is_read_again(martlet, replicas, caller, tmp_path):
    servers = replicas(3)
    file = tmp_path / "addresses"
    replace(file, [servers[0].name])
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: {{ file: {file} }} }} }}\n")
    client = caller(proxy)
    assert set(client.spread(20)) == {servers[0].name}
    replace(file, [server.name for server in servers])
    eventually(lambda: len(client.spread(30)) == 3)
    for bad, problem in [("", "the file has no addresses"), ("a line\n", "a line.* is not a host and a port"), ("127.0.0.1\n", "127.0.0.1.* is not a host and a port")]:
        file.write_text(bad)
        client.spread(10)
        eventually(lambda: client.spread(10) and re.search(problem, proxy.stderr.text), what=problem)
        proxy.stderr.wait("the old ones stay")
        assert len(client.spread(60)) == 3
    file.unlink()
    assert len(client.spread(60)) == 3


def test_a_name_with_several_addresses(martlet, replicas, caller, names):
    servers = replicas(3)
    port = servers[0].name.split(":")[1]
    names.addresses("orders.test", *[server.name.split(":")[0] for server in servers])
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
    spread = caller(proxy).spread(3000)
    assert is_even(spread, servers), spread


def test_addresses_join_and_leave_while_calls_run(martlet, replicas, caller, names):
    servers = replicas(4)
    hosts = [server.name.split(":")[0] for server in servers]
    port = servers[0].name.split(":")[1]
    names.addresses("orders.test", *hosts[:3])
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
    client = caller(proxy)
    assert set(client.spread(60)) == {server.name for server in servers[:3]}
    names.addresses("orders.test", *hosts)
    start = time.monotonic()
    # With the connection that there is.
    eventually(lambda: servers[3].name in client.spread(12))
    assert time.monotonic() - start < 4.5
    spread = client.spread(3000)
    assert is_even(spread, servers, 0.15), spread
    names.addresses("orders.test", *hosts[1:])
    eventually(lambda: servers[0].name not in client.spread(12))
    assert set(client.spread(600)) == {server.name for server in servers[1:]}
    # What is gone has nothing any more, and is shown to nobody.
    eventually(lambda: servers[0].name not in states(proxy))


def test_service_records_have_ports_weights_and_priorities(martlet, replicas, caller, names):
    first, second = replicas(2), replicas(2, first=21)
    ports = [int(server.name.split(":")[1]) for server in (*first, *second)]
    for number, server in enumerate((*first, *second)):
        names.addresses(f"host{number}.test", server.name.split(":")[0])
    # Priority, weight, port, target.
    names.services(
        "_grpc._tcp.orders.test",
        (10, 30, ports[0], "host0.test"),
        (10, 10, ports[1], "host1.test"),
        (20, 1, ports[2], "host2.test"),
        (20, 1, ports[3], "host3.test"),
    )
    proxy = martlet(
        "listen: 127.0.0.1:0\nupstreams: { default: { url: 'h2c://orders.test', addresses: { srv: _grpc._tcp.orders.test } } }\n",
        **names.options,
    )
    client = caller(proxy)
    spread = client.spread(400, parallel=1)
    assert set(spread) == {server.name for server in first} and spread[first[0].name] > spread[first[1].name], spread
    for server in first:
        server.stop()
    # Those of the next priority are used when the first ones are out.
    spread = client.spread(100, parallel=1)
    assert set(spread) == {server.name for server in second}, spread


def test_a_name_server_that_is_away_changes_nothing(martlet, replicas, caller, names):
    servers = replicas(2)
    port = servers[0].name.split(":")[1]
    names.addresses("orders.test", *[server.name.split(":")[0] for server in servers])
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
    client = caller(proxy)
    assert len(client.spread(40)) == 2
    names.records = {}
    asked = sum(names.questions.values())
    eventually(lambda: client.spread(4) and sum(names.questions.values()) > asked + 2, within=15)
    assert len(client.spread(40)) == 2
    proxy.stderr.wait("the old ones stay")


def test_a_name_that_is_not_there_yet(martlet, replicas, caller, names):
    servers = replicas(2)
    port = servers[0].name.split(":")[1]
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
    client = caller(proxy)
    assert client.outcome() == "UNAVAILABLE"
    proxy.stderr.wait("no such host")
    names.addresses("orders.test", *[server.name.split(":")[0] for server in servers])
    eventually(lambda: client.outcome() != "UNAVAILABLE")
    assert len(client.spread(40)) == 2


def test_a_name_that_begins_to_stand_in_etc_hosts(martlet, replicas, caller, names):
    servers = replicas(2)
    port = servers[0].name.split(":")[1]
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
    client = caller(proxy)
    assert client.outcome() == "UNAVAILABLE"
    with names.hosts.open("a") as file:
        file.write("".join(f"{server.name.split(':')[0]} orders.test\n" for server in servers))
    eventually(lambda: client.outcome() != "UNAVAILABLE")
    assert len(client.spread(40)) == 2


@pytest.mark.waits
def test_another_name_server(martlet, replicas, caller, names):
    servers = replicas(2)
    port = servers[0].name.split(":")[1]
    names.is_silent = True
    other = NameServer()
    try:
        other.addresses("orders.test", *[server.name.split(":")[0] for server in servers])
        proxy = martlet(f"listen: 127.0.0.1:0\nupstream: h2c://orders.test:{port}\n", **names.options)
        client = caller(proxy)
        assert client.outcome() == "UNAVAILABLE"
        proxy.stderr.wait("cannot find addresses|cannot connect to upstream")
        names.resolv.write_text(f"nameserver {other.host}\noptions timeout:1 attempts:1\n")
        eventually(lambda: client.outcome() != "UNAVAILABLE", within=15)
        assert len(client.spread(40)) == 2
    finally:
        other.close()


def test_calls_wait_for_a_name_if_they_may(martlet, replicas, caller, names):
    servers = replicas(2)
    host, port = servers[0].name.split(":")
    proxy = martlet(
        f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:{port}', connect_wait: 10s }} }}\n", **names.options
    )
    client = caller(proxy)
    pending = client.method.future(b"", timeout=10)
    eventually(lambda: names.questions)
    names.addresses("orders.test", host)
    assert pending.result().decode() == servers[0].name


def test_ten_thousand_addresses(martlet, replicas, caller, tmp_path):
    servers = replicas(2)
    file = tmp_path / "addresses"
    file.write_text("".join(f"127.{1 + number // 65536}.{number // 256 % 256}.{number % 256}:1\n" for number in range(9998)) + "".join(f"{server.name}\n" for server in servers))
    text = f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: {{ file: {file} }} }} }}\n"
    proxy = martlet(text)
    client = caller(proxy)
    assert client.outcome() in {server.name for server in servers} | {"UNAVAILABLE", "DEADLINE_EXCEEDED"}
    start = time.monotonic()
    proxy.reload(text + "drain: { max: 10s }\n")
    assert time.monotonic() - start < 2
    client.outcome()
    assert len(states(proxy)) == 10_000
    with open(f"/proc/{proxy.pid}/status") as status:
        resident = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmRSS"))
    assert resident < 120


def test_a_reload_while_a_name_is_looked_up(martlet, replicas, caller, names):
    servers = replicas(2)
    port = servers[0].name.split(":")[1]
    names.addresses("orders.test", *[server.name.split(":")[0] for server in servers])
    text = f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:{port}', timeouts: {{ idle: 60s }} }} }}\n"
    proxy = martlet(text, **names.options)
    client = caller(proxy)
    assert len(client.spread(40)) == 2
    names.is_silent = True
    asked = sum(names.questions.values())
    eventually(lambda: client.spread(4) and sum(names.questions.values()) > asked)
    # The upstream that has asked is gone before there is a response.
    proxy.reload(text.replace("60s", "61s"))
    names.is_silent = False
    before = sum(names.questions.values())
    # What was asked is given up meanwhile, and what replaces it asks again and again.
    eventually(lambda: client.spread(4) and sum(names.questions.values()) > before + 6, within=15)
    assert len(client.spread(40)) == 2


def test_a_host_of_a_list_that_is_not_found_keeps_its_addresses(martlet, replicas, caller, names):
    servers = replicas(3)
    hosts = [server.name.split(":") for server in servers]
    for number, (host, _) in enumerate(hosts):
        names.addresses(f"host{number}.test", host)
    addresses = ", ".join(f"'host{number}.test:{port}'" for number, (_, port) in enumerate(hosts))
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: 'h2c://orders.test:1', addresses: [ {addresses} ] }} }}\n", **names.options)
    client = caller(proxy)
    assert len(client.spread(60)) == 3
    del names.records[("host0.test", "A")]
    # A failed connection has all of them looked up again.
    servers[1].stop()
    eventually(lambda: client.spread(10) and "the old ones stay" in proxy.stderr.text)
    eventually(lambda: set(client.spread(60)) == {servers[0].name, servers[2].name})
