"""The file of a body is gone with its call: when the caller leaves, at each stage, and after a reload."""

import json
from pathlib import Path

import pytest

from support.large_body import MIB, digest
from support.wait import eventually

SIZE = 32 * MIB


def is_free(proxy):
    metrics = proxy.metrics()
    return not proxy.spool_files() and metrics.total("martlet_spool_bytes") == metrics.total("martlet_spool_files") == 0


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("step", [200, (4 * MIB, 503)], ids=["first attempt", "retry"])
def test_in_the_middle_of_the_body(spooling, body_server, upload, http2, step):
    upstream = body_server(step, 200)
    proxy = spooling(upstream.url)
    call = upload(proxy.url + "/up", SIZE, http2=http2, pause_at=12 * MIB)
    eventually(lambda: upstream.requests and upstream.requests[-1].count > 10 * MIB, within=20)
    assert len(proxy.spool_files()) == 1
    call.stop()
    eventually(lambda: is_free(proxy), what="the end of the file")
    proxy.wait_for_rest()


def test_while_the_retry_is_sent(spooling, body_server, upload):
    """The upstream of the retry reads nothing."""
    upstream = body_server((20 * MIB, 503), (1 * MIB, "wait"))
    proxy = spooling(upstream.url)
    call = upload(proxy.url + "/up", SIZE, http2=True)
    eventually(lambda: len(upstream.requests) == 2 and upstream.requests[1].count > 0, within=20)
    assert len(proxy.spool_files()) == 1
    call.stop()
    eventually(lambda: is_free(proxy), what="the end of the file")
    proxy.wait_for_rest()


def test_a_reload_keeps_what_is_under_way(spooling, body_server, upload):
    upstream = body_server((20 * MIB, 503), 200)
    proxy = spooling(upstream.url)
    call = upload(proxy.url + "/up", SIZE, pause_at=12 * MIB)
    eventually(lambda: upstream.requests and upstream.requests[-1].count > 10 * MIB, within=20)
    without = proxy.file.read_text().replace('"spool"', '"spool_off"')
    settings = json.loads(without.split("upstreams: ")[1].splitlines()[0])
    del settings["default"]["limits"]
    lines = [f"upstreams: {json.dumps(settings)}" if line.startswith("upstreams") else line for line in without.splitlines()]
    proxy.reload("\n".join(lines))
    assert len(proxy.spool_files()) == 1
    call.go.set()
    assert call.result() == (digest(SIZE), 200)
    eventually(lambda: is_free(proxy), what="the end of the file")


def test_files_are_private_and_have_no_name(spooling, body_server, upload, spool):
    upstream = body_server(200)
    proxy = spooling(upstream.url)
    call = upload(proxy.url + "/up", SIZE, pause_at=12 * MIB)
    (file,) = eventually(proxy.spool_files, within=20)
    assert file.startswith(spool["to"])
    assert list(Path(spool["to"]).iterdir()) == []
    call.go.set()
    assert call.result() == (digest(SIZE), 200)
