"""Listeners are compared, not rebuilt: a kept one keeps its socket, and a removed one accepts no connection."""

import signal

import pytest

from support.http1.peer import connect
from support.martlet import endpoint
from support.ports import free_port
from support.wait import eventually

pytestmark = pytest.mark.alone

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


def call(address):
    caller = connect(address)
    caller.send(REQUEST)
    assert caller.response().status == 200


def test_kept_added_and_removed(martlet, recorder, tmp_path):
    upstream = recorder()
    proxy = martlet(f"listen: [ '127.0.0.1:0', 'unix:{tmp_path}/old.sock' ]\nupstream: {upstream.url}\n")
    kept, removed = proxy.address, str(tmp_path / "old.sock")
    inodes = proxy.listening_inodes(kept[1])
    assert inodes
    call(removed)
    proxy.reload(f"listen: [ '127.0.0.1:0', '[::1]:0' ]\nupstream: {upstream.url}\nlog_level: debug\n")
    assert proxy.listening_inodes(kept[1]) == inodes
    call(kept)
    added = next(address for address in proxy.addresses if address.startswith("[::1]"))
    call(endpoint(added))
    eventually(lambda: not (tmp_path / "old.sock").exists(), what="the end of the removed listener")
    with pytest.raises(OSError):
        connect(removed)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_a_listener_that_comes_back_at_once(martlet, recorder, tmp_path, kind):
    """A reload requested during another one runs after it, and finds the address free."""
    upstream = recorder()
    port = free_port()
    first, other = f"unix:{tmp_path}/first.sock", f"127.0.0.1:{port}" if kind == "tcp" else f"unix:{tmp_path}/other.sock"
    more = "sandbox: { unix_sockets: any }\n"
    files = [f"listen: [ {addresses} ]\nupstream: {upstream.url}\n{more}" for addresses in (f"'{first}', '{other}'", f"'{first}'")]
    proxy = martlet(files[1])
    for number in range(30):
        proxy.write(files[number % 2])
        proxy.signal(signal.SIGHUP)
    proxy.write(files[0])
    assert proxy.admin("/reload", "POST").status_code == 200
    assert proxy.stderr.matches("reload rejected") == []
    call(endpoint(other))
