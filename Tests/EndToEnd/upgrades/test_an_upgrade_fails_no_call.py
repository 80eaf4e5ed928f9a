"""A new process takes the place of the old one, and no caller notices."""

import os
import shutil
import signal
import socket
import threading

import grpc
import pytest

from support.callers import Callers
from support.http1.recorder import OK
from support.servers.grpc_service import GrpcService, path
from support.wait import eventually

UPGRADES = 100
CONFIGURATION = """
listeners: [ "{address}", {unix} ]
upstream: {url}
drain: {{ min: 1s }}
"""


@pytest.mark.alone
@pytest.mark.timeout(300)
def test_a_hundred_under_load(upgraded, program, replace, address, recorder, running, tmp_path):
    upstream = recorder()
    proxy = upgraded(CONFIGURATION.format(address=address, unix=f"unix:{tmp_path}/rpc.sock", url=upstream.url))
    callers = [
        running(Callers(count=2, address=proxy.address)),
        running(Callers(count=2, address=proxy.address, keep=True, gap=0.01)),
        running(Callers(count=2, address=str(tmp_path / "rpc.sock"))),
    ]
    kept = program.with_name("kept")
    kept.hardlink_to(program)
    for number in range(UPGRADES):
        # Now and then a program that fails, or hangs.
        if number % 10 == 0:
            replace("exit 1" if number % 20 else "exec sleep 60")
            assert proxy.upgrade("--timeout", "200ms").code == 1
            shutil.copy(kept, program.with_suffix(".new"))
            program.with_suffix(".new").replace(program)
        assert proxy.upgrade().code == 0
    for one in callers:
        one.stop()
        assert one.refused == one.lost == 0, (str(one), one.errors[:5])
        assert one.calls > UPGRADES, str(one)
    assert sum(one.calls for one in callers) == len(upstream.requests)


@pytest.mark.alone
@pytest.mark.timeout(120)
def test_grpc_calls_and_streams(upgraded, address, running):
    service = running(GrpcService())
    proxy = upgraded(f"listen: {address}\nupstream: {service.url}\n")
    failures, stopping, calls = [], threading.Event(), [0, 0]

    def call():
        with grpc.insecure_channel(proxy.addresses[0]) as channel:
            unary = channel.unary_unary(path("Unary"))
            while not stopping.is_set():
                try:
                    assert unary(b"a", timeout=10) == b"a"
                    calls[0] += 1
                except grpc.RpcError as error:
                    failures.append(error)

    def converse():
        with grpc.insecure_channel(proxy.addresses[0]) as channel:
            each = channel.stream_stream(path("Converse"))
            while not stopping.is_set():
                try:
                    assert len(list(each(iter([b"x"] * 50), timeout=10))) == 50
                    calls[1] += 1
                except grpc.RpcError as error:
                    failures.append(error)

    threads = [threading.Thread(target=one) for one in (call, call, converse)]
    for thread in threads:
        thread.start()
    upgrades = 0
    # A slow machine upgrades as fast as it calls, so both are counted.
    while (upgrades < 20 or min(calls) < 20) and not failures:
        assert proxy.upgrade().code == 0
        upgrades += 1
    stopping.set()
    for thread in threads:
        thread.join(20)
    assert not failures, failures[:3]


@pytest.fixture
def under_way(upgraded, address, recorder):
    """A daemon with a call that its upstream responds to when `go_on` is set; others are responded to at once."""
    go_on = threading.Event()

    def response(request):
        if request.target == "/slow":
            go_on.wait(20)
        return OK

    upstream = recorder(response)
    proxy = upgraded(f"listen: {address}\nupstream: {upstream.url}\n")
    caller = proxy.connect()
    caller.send(b"GET /slow HTTP/1.1\r\nhost: a\r\n\r\n")
    eventually(lambda: upstream.requests)
    yield proxy, caller, go_on
    go_on.set()


def test_a_call_under_way_ends_in_the_old_process_and_new_ones_begin_in_the_new(under_way):
    proxy, caller, go_on = under_way
    old = proxy.pid
    assert proxy.upgrade().code == 0
    assert proxy.pid != old
    with proxy.http() as client:
        assert client.get("/").status_code == 200
    status = proxy.admin("/status").text
    assert f"PID {proxy.pid}" in status and "calls in flight: 0" in status
    go_on.set()
    assert caller.response().status == 200
    proxy.wait_for_end(old)
    proxy.stderr.wait(rf"\bupgraded pid={proxy.pid}")


def test_a_stop_of_the_service_ends_no_call_of_the_old_process(under_way):
    """systemd sends SIGTERM to all processes of the service, and again to those that are left when the main one has ended."""
    proxy, caller, go_on = under_way
    old = proxy.pid
    assert proxy.upgrade().code == 0
    for process in (proxy.pid, old):
        os.kill(process, signal.SIGTERM)
    proxy.wait_for_end(proxy.pid)
    os.kill(old, signal.SIGTERM)
    go_on.set()
    assert caller.response().status == 200
    proxy.wait_for_end(old)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_the_old_process_can_be_ended_at_once(under_way, number):
    proxy, _, _ = under_way
    old = proxy.pid
    assert proxy.upgrade().code == 0
    os.kill(old, number)
    proxy.wait_for_end(old)


def test_the_new_process_is_the_main_one_of_the_service(upgraded, address, notify, recorder):
    manager = notify()
    proxy = upgraded(f"listen: {address}\nupstream: {recorder().url}\n", environment=manager.environment)
    manager.next("READY")
    old = proxy.pid
    assert proxy.upgrade().code == 0
    message = manager.next("MAINPID")
    assert message["MAINPID"] == str(proxy.pid) and message["READY"] == "1"
    # Then the new one speaks for itself, and the old one says nothing more.
    assert manager.next("READY")["MAINPID"] == str(proxy.pid)
    proxy.wait_for_end(old)
    proxy.signal(signal.SIGHUP)
    assert "RELOADING" in manager.next("RELOADING")
    assert not any("STOPPING" in message for message in manager.seen)


def test_the_new_process_goes_by_the_file_as_it_is_now(upgraded, recorder, tmp_path):
    first, second = recorder(), recorder()
    proxy = upgraded(f"listen: unix:{tmp_path}/a.sock\nupstream: {first.url}\n")
    proxy.write(f'listeners: [ "unix:{tmp_path}/a.sock", "unix:{tmp_path}/b.sock" ]\nupstream: {second.url}\nworkers: 3\n')
    assert proxy.upgrade().code == 0
    for name in ("a", "b"):
        with socket.socket(socket.AF_UNIX) as caller:
            caller.connect(str(tmp_path / f"{name}.sock"))
            caller.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            assert caller.recv(100).startswith(b"HTTP/1.1 200")
    assert (len(first.requests), len(second.requests)) == (0, 2)
    # The sockets are those of the new process: it removes the files when it ends.
    proxy.stop()
    assert not list(tmp_path.glob("*.sock"))


def test_metrics_say_that_it_is_another_process(upgraded, address, recorder):
    proxy = upgraded(f"listen: {address}\nupstream: {recorder().url}\n")
    before = proxy.metrics().total("process_start_time_seconds")
    assert proxy.upgrade().code == 0
    assert proxy.metrics().total("process_start_time_seconds") > before


def test_the_new_process_has_the_credentials_of_systemd(upgraded, address, recorder, tmp_path):
    upstream = recorder()
    (tmp_path / "credentials").mkdir()
    (tmp_path / "credentials/token").write_text("s3cret")
    proxy = upgraded(
        f"listen: {address}\nupstream: {upstream.url}\ninterceptors: [ token: {{ credential: token }} ]\n",
        environment={"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")},
    )
    assert proxy.upgrade().code == 0
    with proxy.http() as client:
        assert client.get("/").status_code == 200
    assert upstream.requests[0].header("authorization") == "Bearer s3cret"


def test_an_upgraded_process_can_be_upgraded_reloaded_and_stopped(upgraded, address, recorder):
    proxy = upgraded(f"listen: {address}\nupstream: {recorder().url}\n")
    pids = {proxy.pid}
    for _ in range(3):
        assert proxy.upgrade().code == 0
        proxy.reload()
        pids.add(proxy.pid)
    assert len(pids) == 4
    last = proxy.pid
    proxy.signal(signal.SIGTERM)
    proxy.wait_for_end(last)
