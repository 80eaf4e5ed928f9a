"""After an upgrade the new process loads a file that changes, and the old one does not."""

import threading

from support.compiler import SLOW_OPEN, compiled
from support.http1.recorder import OK
from support.martlet import DESCRIPTOR_SET
from support.wait import eventually

TEXT = "listen: {address}\ninterceptors: [ respond: {{ body: {body} }} ]\n"


def body(proxy):
    with proxy.http() as client:
        return client.get("/").text


def test_a_change_while_the_new_process_loads_the_file(upgraded, address, tmp_path):
    types, ready = tmp_path / "types.slow", tmp_path / "types.slow.ready"
    types.write_text(DESCRIPTOR_SET)
    ready.touch()
    proxy = upgraded(
        TEXT.format(address=address, body="one") + f"types: {{ files: [{types}] }}\n",
        trailing=["--watch"],
        environment={"LD_PRELOAD": compiled(SLOW_OPEN, tmp_path / "slow.so")},
    )
    ready.unlink()
    codes = []
    thread = threading.Thread(target=lambda: codes.append(proxy.upgrade().code))
    thread.start()
    eventually((tmp_path / "types.slow.waiting").exists, what="the load")
    proxy.write(TEXT.format(address=address, body="two"))
    ready.touch()
    thread.join(40)
    assert codes == [0]
    eventually(lambda: body(proxy) == "two", what="the reload")


def test_the_old_process_leaves_the_file_to_the_new_one(upgraded, address, recorder):
    gate = threading.Event()

    def response(_):
        gate.wait(30)
        return OK

    upstream = recorder(response)
    proxy = upgraded(f"listen: {address}\nupstream: {upstream.url}\n", trailing=["--watch"])
    old = proxy.pid
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
    eventually(lambda: upstream.requests)
    assert proxy.upgrade().code == 0
    proxy.write(TEXT.format(address=address, body="two"))
    proxy.stderr.wait(r" reloaded generation=2\b")
    assert body(proxy) == "two"
    gate.set()
    assert caller.response().status == 200
    proxy.wait_for_end(old)
    assert not proxy.stderr.matches("reload rejected")
