"""While the disk does not respond, the caller of a large body waits, in little memory; all others are served."""

import pytest

from support.compiler import SLOW_OPEN, compiled
from support.large_body import MIB, digest
from support.wait import eventually, settled

SIZE = 32 * MIB


@pytest.fixture
def start(spooling, spool, tmp_path):
    """Starts a daemon of one worker, and returns it with the file whose existence has the disk respond."""

    def run(url):
        (tmp_path / "disk.slow").mkdir()
        spool["to"] = str(tmp_path / "disk.slow")
        library = compiled(SLOW_OPEN, tmp_path / "slow.so")
        return spooling(url, environment={"LD_PRELOAD": library}), tmp_path / "disk.slow.ready"

    return run


def is_served(proxy, calls=20):
    with proxy.http() as http:
        return [http.get("/other").status_code for _ in range(calls)] == [200] * calls


@pytest.mark.parametrize("http2", [False, True])
def test_all_pass_when_it_responds(start, body_server, upload, http2):
    upstream = body_server(200)
    proxy, ready = start(upstream.url)
    assert is_served(proxy)
    upstream.requests.clear()
    before = proxy.own_memory()
    call = upload(proxy.url + "/up", SIZE, http2=http2)
    eventually(lambda: upstream.requests, within=20)
    passed = settled(lambda: upstream.requests[0].count)
    assert 64 << 10 < passed < 4 * MIB
    assert proxy.own_memory() - before < 4 * MIB
    assert is_served(proxy)
    ready.touch()
    assert call.result() == (digest(SIZE), 200)


def test_a_caller_can_leave(start, body_server, upload):
    upstream = body_server(200)
    proxy, ready = start(upstream.url)
    call = upload(proxy.url + "/up", SIZE, http2=True)
    eventually(lambda: proxy.metrics().total("martlet_spool_files") == 1, within=20)
    settled(lambda: upstream.requests and upstream.requests[0].count)
    call.stop()
    eventually(lambda: proxy.metrics().total("martlet_spool_files") == 0)
    assert is_served(proxy)
    ready.touch()
    eventually(lambda: not proxy.spool_files())
    proxy.wait_for_rest()
