"""With no descriptor left, what has a connection goes on; when some are free again, new callers are served."""

import resource

from support.patience import eventually

LIMIT = 64
REQUEST = b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n"


def test_exhaustion(martlet, recorder):
    proxy = martlet(
        upstream=recorder().url,
        more="workers: 1",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT)),
    )
    settled_caller = proxy.connect()
    settled_caller.send(REQUEST)
    assert settled_caller.answer().status == 200
    crowd = [proxy.connect() for _ in range(2 * LIMIT)]
    eventually(lambda: proxy.open_descriptors() >= LIMIT - 2, what="exhaustion")
    used = proxy.cpu_seconds()
    for _ in range(10):
        settled_caller.send(REQUEST)
        assert settled_caller.answer().status == 200
    assert proxy.cpu_seconds() - used < 0.5  # it does not spin on the connections it cannot take
    for caller in crowd:
        caller.close()
    for _ in range(3):
        caller = proxy.connect()
        caller.send(REQUEST)
        assert caller.answer().status == 200
    eventually(lambda: proxy.metrics().total("martlet_limit_hits_total", limit="descriptors") > 0)
