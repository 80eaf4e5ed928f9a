"""`max` bounds the file of one request and `total` those of an upstream; what is larger passes, and is not retried."""

import json

import pytest

from support.large_body import MIB, PIECE, digest
from support.wait import eventually

SIZE = 8 * MIB


@pytest.fixture(params=[False, True], ids=["known-length", "chunked"])
def has_length(request):
    return not request.param


def test_a_body_that_fits(spooling, body_server, upload, spool, has_length):
    """What the retry buffer holds is not in the file."""
    spool["max"] = SIZE - (64 << 10)
    upstream = body_server(503, 200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE, has_length=has_length).result() == (digest(SIZE), 200)
    assert proxy.metrics().total("martlet_limit_hits_total", limit="spool") == 0


def test_a_larger_body(spooling, body_server, upload, spool, has_length):
    spool["max"] = SIZE // 2
    upstream = body_server(503, 200)
    proxy = spooling(upstream.url)
    assert upload(proxy.url + "/up", SIZE, has_length=has_length).result() == ("again", 503)
    metrics = proxy.metrics()
    assert metrics.total("martlet_limit_hits_total", limit="spool") == 1
    assert metrics.total("martlet_retries_total", reason="rule", result="spool") == 1
    assert "the request is larger than limits.spool.max" in json.dumps(json.loads(proxy.stdout.wait("503").string))
    assert metrics.total("martlet_spool_bytes") == 0


def test_all_workers_share_the_total(spooling, body_server, upload, spool):
    spool |= {"max": 6 * MIB, "total": 10 * MIB}
    upstream = body_server(503, 503, 200)
    proxy = spooling(upstream.url, workers=4)
    first = upload(proxy.url + "/up", 5 * MIB, pause_at=5 * MIB - PIECE)
    eventually(lambda: proxy.metrics().total("martlet_spool_bytes") > 4 * MIB, within=20)
    second = upload(proxy.url + "/up", 6 * MIB, pause_at=6 * MIB - PIECE)
    eventually(lambda: proxy.metrics().total("martlet_limit_hits_total", limit="spool_total") == 1, within=20)
    second.go.set()
    assert second.result() == ("again", 503)
    assert proxy.metrics().total("martlet_retries_total", result="spool_total") == 1
    first.go.set()
    assert first.result() == (digest(5 * MIB), 200)
    assert proxy.metrics().total("martlet_spool_bytes") == 0
    # There is room again.
    upstream.requests.clear()
    assert upload(proxy.url + "/up", 5 * MIB).result() == (digest(5 * MIB), 200)


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_what_martlet_would_not_retry_is_not_kept(spooling, body_server, upload, method):
    """Over a new connection of HTTP/1.1 to the only address, nothing tells what became of a request that is lost."""
    upstream = body_server(200)
    proxy = spooling(upstream.url, interceptors=["log"])
    sent = upload(proxy.url + "/up", SIZE, "-X", method, pause_at=SIZE - PIECE)
    eventually(lambda: upstream.requests and upstream.requests[0].count > SIZE - 2 * PIECE, within=20)
    metrics = proxy.metrics()
    assert metrics.total("martlet_spool_files") == metrics.total("martlet_spool_bytes") == 0
    sent.go.set()
    assert sent.result() == (digest(SIZE), 200)
    # The next request goes by a connection that has been idle, and may find it closed.
    sent = upload(proxy.url + "/up", SIZE, "-X", method, pause_at=SIZE - PIECE)
    eventually(lambda: len(upstream.requests) == 2 and upstream.requests[1].count > SIZE - 2 * PIECE, within=20)
    assert proxy.metrics().total("martlet_spool_files") == (1 if method == "PUT" else 0)
    sent.go.set()
    assert sent.result() == (digest(SIZE), 200)


def test_without_a_spool(spooling, body_server, upload):
    upstream = body_server(503, 200)
    proxy = spooling(upstream.url, limits={})
    assert upload(proxy.url + "/up", SIZE).result() == ("again", 503)
    assert proxy.metrics().total("martlet_retries_total", reason="rule", result="buffer") == 1
    assert "martlet-spool" not in proxy.thread_names()
