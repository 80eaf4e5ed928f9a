"""Listeners are compared, not rebuilt: a kept one keeps its very socket, a removed one refuses."""

import pytest

from support.martlet import endpoint
from support.patience import eventually
from support.peer import connect

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


def call(address):
    caller = connect(address)
    caller.send(REQUEST)
    assert caller.answer().status == 200


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
