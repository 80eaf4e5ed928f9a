"""The file descriptor store keeps the sockets that Martlet has opened, and the next process listens on the same ones."""

import os
import socket
import stat

import pytest

from drain.service import Service
from support.http1.peer import connect
from support.martlet import endpoint
from support.ports import free_port

pytestmark = pytest.mark.alone

REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n"


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def serve(binary, running, tmp_path):
    return lambda configuration: running(Service(tmp_path, configuration))


def configuration(*addresses, workers=2, more=""):
    listeners = ", ".join(f'{{ address: "{address}"{more} }}' for address in addresses)
    return f"workers: {workers}\nlisteners: [ {listeners} ]\ninterceptors: [ {{ respond: {{ body: ok }} }} ]\n"


def inodes(service):
    return sorted(os.fstat(descriptor).st_ino for descriptor in service.store.values())


def call(address):
    caller = connect(address)
    caller.send(REQUEST)
    assert caller.response().body == b"ok"
    caller.close()


def is_refused(address):
    try:
        connect(address).close()
    except OSError:
        return True
    return False


def test_each_listening_socket_is_stored_and_the_admin_socket_is_not(serve, tmp_path, port):
    service = serve(configuration(f"127.0.0.1:{port}", f"unix:{tmp_path}/rpc.sock", f"unix:@martlet-{port}", "127.0.0.1:0"))
    service.start()
    assert len(service.store) == 2 + 1 + 1  # one for each worker; the port that the kernel chose is another next time
    for name, descriptor in service.store.items():
        assert name.startswith("martlet-listener-") and ":" not in name
        with socket.socket(fileno=os.dup(descriptor)) as held:
            assert held.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1


@pytest.mark.parametrize("kind", ["tcp", "unix", "abstract"])
def test_the_next_process_listens_on_the_same_sockets(serve, tmp_path, port, kind):
    address = {"tcp": f"127.0.0.1:{port}", "unix": f"unix:{tmp_path}/rpc.sock", "abstract": f"unix:@martlet-{port}"}[kind]
    service = serve(configuration(address))
    service.start()
    before = inodes(service)
    call(endpoint(address))
    service.begin_stop()
    assert service.daemon.exit_code() == 0
    waiting = [connect(endpoint(address)) for _ in range(8)]  # no connection is refused in between
    for caller in waiting:
        caller.send(REQUEST)
    service.start()
    for caller in waiting:
        assert caller.response().body == b"ok"
    assert inodes(service) == before
    assert set(map(str, before)) <= service.daemon.socket_inodes()
    assert not any("FDSTOREREMOVE" in message for message in service.manager.seen)


@pytest.mark.parametrize("workers", [(1, 3), (2, 3), (3, 2), (3, 1), (1, 1)])
def test_the_number_of_workers_may_change(serve, port, workers):
    address = f"127.0.0.1:{port}"
    service = serve(configuration(address, workers=workers[0]))
    service.start()
    assert len(service.store) == workers[0]
    before = set(inodes(service))
    service.configuration = configuration(address, workers=workers[1])
    assert service.restart() == 0
    # A socket that was opened for one worker shares its queue with the others.
    after = 1 if workers[0] == 1 else workers[1]
    service.wait_for_removal(after)
    assert len(before & set(inodes(service))) == min(workers[0], after)
    for _ in range(20):
        call(endpoint(address))


@pytest.mark.parametrize("hosts", [("127.0.0.1", "0.0.0.0"), ("0.0.0.0", "127.0.0.1")], ids=["wider", "narrower"])
def test_the_host_of_a_port_may_change(serve, port, hosts):
    service = serve(configuration(f"{hosts[0]}:{port}", more=", allow_remote: true"))
    service.start()
    service.configuration = configuration(f"{hosts[1]}:{port}", more=", allow_remote: true")
    assert service.restart() == 0
    call(("127.0.0.1", port))


def test_fewer_workers_accept_all_waiting_callers(serve, port):
    service = serve(configuration(f"127.0.0.1:{port}", workers=4))
    service.start()
    service.begin_stop()
    assert service.daemon.exit_code() == 0
    waiting = [connect(("127.0.0.1", port)) for _ in range(40)]  # the kernel spreads them over all four
    for caller in waiting:
        caller.send(REQUEST)
    service.configuration = configuration(f"127.0.0.1:{port}", workers=1)
    service.start()
    for caller in waiting:
        assert caller.response().body == b"ok"
    service.wait_for_removal(1)


def test_a_socket_that_the_file_does_not_use_is_released(serve, tmp_path, port):
    kept, dropped = f"127.0.0.1:{port}", f"unix:{tmp_path}/rpc.sock"
    service = serve(configuration(kept, dropped))
    service.start()
    assert len(service.store) == 3
    service.configuration = configuration(kept)
    service.restart()
    service.wait_for_removal(2)
    assert not (tmp_path / "rpc.sock").exists()
    call(endpoint(kept))


def test_a_reload_stores_and_releases(serve, port, tmp_path):
    first, second = f"127.0.0.1:{port}", f"unix:{tmp_path}/rpc.sock"
    anywhere = "sandbox: { unix_sockets: any }\n"
    service = serve(configuration(first) + anywhere)
    daemon = service.start()
    copies = [os.dup(descriptor) for descriptor in service.store.values()]  # until the manager has closed its own
    daemon.reload(configuration(second) + anywhere)
    service.wait_for_removal(0)
    service.manager.next("READY")
    assert len(service.store) == 1
    assert is_refused(endpoint(first))
    call(endpoint(second))
    daemon.reload(configuration(first, second) + anywhere)
    service.manager.next("READY")
    assert len(service.store) == 3
    call(endpoint(first))
    for descriptor in copies:
        os.close(descriptor)


def test_what_the_manager_has_no_room_for_is_told(serve, port):
    """It would close the others, and say nothing."""
    service = serve(configuration(f"127.0.0.1:{port}", workers=3))
    service.manager.environment["FDSTORE"] = "2"
    service.start()
    service.daemon.stderr.wait(r"there are 3 listening sockets, and systemd holds 2 of them in a restart; write FileDescriptorStoreMax=3")
    assert len(service.store) == 2
    assert service.restart() == 0
    call(("127.0.0.1", port))
    assert len(service.store) == 2


def test_the_file_of_a_unix_socket_stays_and_has_its_new_mode(serve, tmp_path):
    path = tmp_path / "rpc.sock"
    service = serve(configuration(f"unix:{path}", more=', mode: "0600"'))
    service.start()
    before = path.stat()
    service.configuration = configuration(f"unix:{path}", more=', mode: "0666"')
    service.begin_stop()
    assert service.daemon.exit_code() == 0
    assert path.stat().st_ino == before.st_ino
    service.start()
    assert path.stat().st_ino == before.st_ino
    assert (stat.S_IMODE(before.st_mode), stat.S_IMODE(path.stat().st_mode)) == (0o600, 0o666)
    call(str(path))


@pytest.mark.parametrize("what", ["is gone", "is another one"])
def test_a_unix_socket_is_opened_again_if_its_file(serve, tmp_path, what):
    path = tmp_path / "rpc.sock"
    service = serve(configuration(f"unix:{path}"))
    service.start()
    before = inodes(service)
    service.begin_stop()
    assert service.daemon.exit_code() == 0
    path.rename(tmp_path / "old.sock")
    if what == "is another one":
        with socket.socket(socket.AF_UNIX) as left_behind:
            left_behind.bind(str(path))
    service.start()
    service.wait_for_removal(1)
    assert len(service.store) == 1 and inodes(service) != before
    call(str(path))


def test_a_descriptor_that_is_not_a_listener_is_released(serve, port):
    service = serve(configuration(f"127.0.0.1:{port}"))
    reading, writing = os.pipe()
    os.close(writing)
    service.store["martlet-listener-1"] = reading
    service.start()
    assert "martlet-listener-1" not in service.store
    call(("127.0.0.1", port))


def test_a_start_that_fails_leaves_the_sockets_to_the_next(serve, tmp_path):
    path = tmp_path / "rpc.sock"
    good = configuration(f"unix:{path}")
    service = serve(good)
    service.start()
    service.begin_stop()
    assert service.daemon.exit_code() == 0
    # Not a taken port: a service waits for that.
    service.configuration = configuration(f"unix:{path}", f"unix:{tmp_path}/none/rpc.sock")
    assert service.start(wait=False).exit_code() == 1
    caller = connect(str(path))
    caller.send(REQUEST)
    service.configuration = good
    service.start()
    assert caller.response().body == b"ok"
