"""SIGHUP replaces the configuration between two calls, never within one."""

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - headers: {{ request: {{ set: {{ x-generation: "{generation}" }} }} }}
"""


def test_fifty_reloads(martlet, recorder, load):
    upstream = recorder()
    proxy = martlet(CONFIGURATION.format(url=upstream.url, generation=1))
    calls = load(proxy.address)
    for generation in range(2, 52):
        calls.wait_for_calls(10)
        proxy.reload(CONFIGURATION.format(url=upstream.url, generation=generation))
    calls.wait_for_calls(10)
    calls.stop()
    assert calls.failures == []
    # One that began before the last reload may well be the last to be written down.
    with proxy.http() as http:
        http.get("/")
    assert upstream.requests[-1].header("x-generation") == "51"
    metrics = proxy.metrics()
    assert metrics.total("martlet_config_generation") == 51
    assert metrics.total("martlet_config_last_reload_successful") == 1
    # Unchanged upstreams keep their pools: as many connections as calls at a time, per worker.
    assert len(upstream.connections) <= 16
