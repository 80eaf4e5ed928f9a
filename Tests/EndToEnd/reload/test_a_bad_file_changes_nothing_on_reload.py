"""A reload that fails reports where and why, is counted, and changes nothing."""

import re

GOOD = "listen: 127.0.0.1:0\nupstream: {url}\ninterceptors:\n  - headers: {{ response: {{ set: {{ x-v: '{v}' }} }} }}\n"


def test_rejected_then_repaired(martlet, recorder):
    upstream = recorder()
    proxy = martlet(GOOD.format(url=upstream.url, v=1))
    address = proxy.address
    with proxy.http() as http:
        line = proxy.reload("listen: 127.0.0.1:0\nupstrem: x\nlog_level: loud\n", outcome="reload rejected").string
        assert f"file={proxy.file}" in line and re.search(r"errors=[23]\b", line)
        proxy.stderr.wait(r" error .*martlet\.yaml:2:1: unknown key \"upstrem\"")
        proxy.stderr.wait(r" error .*martlet\.yaml:3:12: ")
        assert http.get("/").headers["x-v"] == "1"
        metrics = proxy.metrics()
        assert metrics.total("martlet_config_generation") == 1
        assert metrics.total("martlet_config_last_reload_successful") == 0
        assert sum(value for _, value in metrics.select("martlet_config_reloads_total")) == 1
        proxy.file.unlink()
        proxy.reload(outcome="reload rejected")
        assert http.get("/").headers["x-v"] == "1"
        proxy.reload(GOOD.format(url=upstream.url, v=2))
        assert http.get("/").headers["x-v"] == "2"
    assert proxy.address == address
    metrics = proxy.metrics()
    assert metrics.total("martlet_config_generation") == 2
    assert metrics.total("martlet_config_last_reload_successful") == 1
    assert sum(value for _, value in metrics.select("martlet_config_reloads_total")) == 3
