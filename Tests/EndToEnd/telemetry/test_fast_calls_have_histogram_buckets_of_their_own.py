"""The histograms distinguish calls of one and two milliseconds, in buckets that the file can choose."""

import pytest

from support.wait import eventually

pytestmark = pytest.mark.alone

STANDARD = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
FAMILIES = ["martlet_rpc_duration_seconds", "martlet_upstream_call_duration_seconds"]


def configuration(url, buckets=""):
    return f"""
    listen: 127.0.0.1:0
    upstream: {url}
    workers: 2
    interceptors: [ metrics: {{ {buckets} }} ]
    """


def buckets(proxy, family):
    """The bounds of a histogram with the number of durations up to each."""
    return {labels["le"]: value for labels, value in proxy.metrics().select(f"{family}_bucket")}


def get(proxy, count):
    with proxy.http() as http:
        assert {http.get("/").status_code for _ in range(count)} == {200}
    eventually(lambda: proxy.metrics().total("martlet_rpc_in_flight") == 0)


def test_the_standard_buckets(martlet, recorder):
    proxy = martlet(configuration(recorder().url))
    get(proxy, 20)
    for family in FAMILIES:
        counts = buckets(proxy, family)
        assert [float(bound) for bound in list(counts)[:-1]] == STANDARD and list(counts)[-1] == "+Inf"
        assert counts["10"] == counts["+Inf"] == 20
        # Not all fall into the first bucket, so a quantile means something.
        assert counts["0.0001"] < 20
    assert proxy.metrics().total("martlet_upstream_calls_total", upstream="default", code="ok") == 20


def test_other_buckets_start_the_histograms_again(martlet, recorder):
    url = recorder().url
    proxy = martlet(configuration(url, "buckets: [250us, 1s]"))
    get(proxy, 3)
    for family in FAMILIES:
        assert list(buckets(proxy, family)) == ["0.00025", "1", "+Inf"]
        assert buckets(proxy, family)["+Inf"] == 3
    proxy.reload(configuration(url, "buckets: [250us, 1s], methods: 5"))
    assert buckets(proxy, FAMILIES[0])["+Inf"] == 3
    proxy.reload(configuration(url, "buckets: 10ms"))
    assert buckets(proxy, FAMILIES[0]) == {"0.01": 0, "+Inf": 0}
    get(proxy, 2)
    for family in FAMILIES:
        assert buckets(proxy, family)["+Inf"] == 2
    assert proxy.metrics().total("martlet_rpc_handled_total") == 5


def test_two_lists_that_differ_are_an_error(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(
        "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n"
        "interceptors:\n  - metrics: { buckets: [1ms] }\n  - metrics: { buckets: [5ms, 2ms] }\n  - metrics: { buckets: 3ms }\n"
    )
    result = command("check", "-c", file)
    assert result.code == 78
    assert [line.removeprefix(f"{file}:") for line in result.stderr.text.splitlines() if str(file) in line] == [
        '5:31: "2ms" is not greater than the bucket before it; sort the list',
        '6:25: "buckets" differs from the list on line 4; all metrics interceptors share one list, so write it only once',
    ]
