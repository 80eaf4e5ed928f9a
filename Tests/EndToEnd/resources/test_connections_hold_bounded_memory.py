"""However many connections callers open, they hold what `limits.memory` allows: the oldest idle ones close, and new callers are served."""

import ssl
import threading

import pytest

from support.http1.peer import Peer, connect
from support.http1.recorder import OK
from support.http2 import h2_peer
from support.wait import eventually

pytestmark = pytest.mark.alone

MIB = 1 << 20
CALLERS = 700
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


@pytest.fixture
def start(martlet, authority):
    def start(tls=False, memory="16MiB", more="interceptors: [ { respond: { json: {} } } ]"):
        identity = authority().issue("127.0.0.1")
        files = f', tls: {{ certificate: "{identity.certificate}", key: "{identity.key}" }}' if tls else ""
        return martlet(
            f"""
            listeners: [ {{ address: 127.0.0.1:0{files} }} ]
            limits: {{ memory: {memory} }}
            {more}
            workers: 2
            """
        )

    return start


def unverified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def client_hello():
    output = ssl.MemoryBIO()
    session = unverified().wrap_bio(ssl.MemoryBIO(), output)
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return output.read()


def is_bounded(proxy, before, callers, more=2 * MIB, held=()):
    """A quarter of the limit, and what the allocator leaves in pieces; `held` is what connections held before."""
    metrics = proxy.metrics()
    held = [*held, metrics.total("martlet_connection_memory_bytes")]
    assert 2 * MIB < max(held) <= 4 * MIB + 256 * 1024
    assert metrics.total("martlet_connections_evicted_total") > len(callers) // 8
    assert metrics.total("martlet_limit_hits_total", limit="memory") == 0
    assert proxy.own_memory() < before + 4 * MIB + more
    proxy.stderr.wait(r" warn limits.memory is reached; closing the connections that are idle longest closed=\d+ ")
    for caller in callers:
        caller.close()
    eventually(lambda: proxy.metrics().total("martlet_connection_memory_bytes") == 0, what="the memory given back")


def test_unfinished_handshakes(start):
    proxy = start(tls=True)
    before = proxy.own_memory()
    hello = client_hello()
    callers = []
    for _ in range(CALLERS):
        callers.append(connect(proxy.address))
        callers[-1].send(hello)
        # The first bytes of the response have come, so that all is held that is to be.
        callers[-1].socket.recv(100)
    new = Peer(unverified().wrap_socket(connect(proxy.address).socket))
    new.send(REQUEST)
    assert new.response().status == 200
    is_bounded(proxy, before, [*callers, new])


def test_idle_connections_in_tls(start):
    proxy = start(tls=True)
    before = proxy.own_memory()
    context = unverified()
    callers = []
    for _ in range(CALLERS):
        callers.append(Peer(context.wrap_socket(connect(proxy.address).socket)))
        callers[-1].send(REQUEST)
        assert callers[-1].response().status == 200
    is_bounded(proxy, before, callers)


def test_full_tables_of_http_2(start):
    """Each entry of a table may be as small as HPACK allows, and costs ten times what HPACK counts."""
    proxy = start()
    before = proxy.own_memory()
    table = b"".join(b"\x40\x01" + bytes([97 + index % 26]) + b"\0" for index in range(120))
    head = b"\x82\x84\x86\x41\x01a" + table
    frames = b"\0\0\0\4\0\0\0\0\0" + len(head).to_bytes(3, "big") + b"\1\5\0\0\0\1" + head
    callers, held = [], []
    for number in range(CALLERS):
        callers.append(connect(proxy.address))
        callers[-1].send(h2_peer.PREFACE + frames)
        callers[-1].socket.recv(1000)
        # Tables are released late, so more may close at once than has to.
        if number % 50 == 49:
            held.append(proxy.metrics().total("martlet_connection_memory_bytes"))
    new = proxy.connect_h2()
    assert new.finish(new.open(h2_peer.request(), end=True)).status == 200
    # What a hundred connections have freed is kept for others for a while.
    is_bounded(proxy, before, [*callers, new], more=4 * MIB, held=held)


def test_a_handshake_beyond_the_limit(start, recorder):
    """It is rejected while all connections have calls. These are served."""
    over = threading.Event()

    def respond(request):
        over.wait(30)
        return OK

    proxy = start(tls=True, memory="1MiB", more=f"upstream: {recorder(respond).url}")
    callers = []

    def is_rejected():
        try:
            callers.append(Peer(unverified().wrap_socket(connect(proxy.address).socket)))
        except OSError:
            return True
        callers[-1].send(REQUEST)
        return False

    try:
        eventually(is_rejected, what="a handshake that is rejected")
        metrics = proxy.metrics()
        assert metrics.total("martlet_limit_hits_total", limit="memory") == 1
        assert metrics.total("martlet_connections_evicted_total") == 0
        proxy.stderr.wait(r" warn limits.memory is reached, and no connection is idle; rejecting callers held=\d+ limit=262144 ")
    finally:
        over.set()
    assert len(callers) > 4
    assert [caller.response().status for caller in callers] == len(callers) * [200]

    def makes_room():
        # Those that have just become idle stay for 10 ms.
        if is_rejected():
            return False
        assert callers[-1].response().status == 200
        return proxy.metrics().total("martlet_connections_evicted_total") > 0

    eventually(makes_room, what="an idle connection that closes")
