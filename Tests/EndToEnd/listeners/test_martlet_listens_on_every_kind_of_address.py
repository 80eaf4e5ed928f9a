"""IPv4, IPv6, a name, Unix sockets with and without a path, and several at once. The log has the real addresses."""

import os

import pytest

from support.http1.peer import connect
from support.martlet import endpoint

pytestmark = pytest.mark.alone

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n"
ADDRESSES = ["127.0.0.1:0", "[::1]:0", "localhost:0", "unix:{directory}/rpc.sock", "unix:@martlet-test-{pid}"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_one(martlet, recorder, tmp_path, address):
    address = address.format(directory=tmp_path, pid=os.getpid())
    proxy = martlet(f"listen: '{address}'\nupstream: '{recorder().url}'\n")
    assert proxy.addresses
    for real in proxy.addresses:
        assert not real.endswith(":0")
        caller = connect(endpoint(real))
        caller.send(REQUEST)
        assert caller.response().status == 200


def test_several(martlet, recorder, tmp_path):
    proxy = martlet(
        f"""
        listen: [ "127.0.0.1:0", "[::1]:0", "unix:{tmp_path}/rpc.sock" ]
        upstream: {recorder().url}
        """
    )
    assert len(proxy.addresses) == 3
    for real in proxy.addresses:
        caller = connect(endpoint(real))
        caller.send(REQUEST)
        assert caller.response().status == 200


def test_localhost_is_both_loopback_addresses_on_one_port(martlet, recorder):
    proxy = martlet(f"listen: localhost:0\nadmin: localhost:0\nupstream: {recorder().url}\n")
    admin = {match[1] for match in proxy.stderr.matches(r"listening address=(\S+) for=admin")}
    for addresses in (admin, set(proxy.addresses) - admin):
        port = endpoint(min(addresses))[1]
        assert addresses == {f"127.0.0.1:{port}", f"[::1]:{port}"}


def test_localhost_works_without_ipv6(martlet):
    if os.getuid() != 0:
        pytest.skip("only root may make a network without IPv6")
    without = "ip link set lo up; echo 1 > /proc/sys/net/ipv6/conf/lo/disable_ipv6; exec \"$0\" \"$@\""
    proxy = martlet(
        "listen: localhost:8080\ninterceptors: [ { respond: { body: ok } } ]\n",
        through=["unshare", "--net", "sh", "-ec", without],
    )
    assert proxy.addresses == ["127.0.0.1:8080"]


def test_an_address_in_use_is_an_error(martlet, recorder):
    upstream = recorder()
    second = martlet(f"listen: '127.0.0.1:{upstream.port}'\nupstream: '{upstream.url}'\n", wait=False)
    assert second.exit_code() == 1
    assert str(upstream.port) in second.stderr.text
