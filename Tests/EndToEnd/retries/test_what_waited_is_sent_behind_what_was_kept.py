"""A retry that has its connection at once is sent the body in order, although the caller has waited for the first attempt."""

import pytest

from support.large_body import MIB, digest

SIZE = 40 * MIB


@pytest.mark.parametrize("http2", [False, True])
def test_in_the_middle_of_the_body(spooling, martlet, body_server, upload, http2):
    servers = body_server((3 * MIB, 503), (1 * MIB, 503), 200)
    between = martlet(upstream=servers.url)
    proxy = spooling(between.url.replace("http:", "h2c:"), limits={"retry_buffer": "64MiB"})
    assert upload(proxy.url + "/up", SIZE, http2=http2).result() == (digest(SIZE), 200)
    assert len(servers.requests) == 3
