"""docs/observability.md has every metric of the catalog with its labels, and no other. Prometheus accepts them all."""

import re
import shutil
import subprocess

import pytest

from support import protocol
from support.http1.recorder import JSON
from support.martlet import ROOT

FILES = ["Metric+Catalog.swift", "Metric+Upstreams.swift"]
CATALOG = "".join((ROOT / "Sources/Telemetry/Exposition" / name).read_text() for name in FILES)
METRIC = re.compile(
    r'= Metric\(\s*"(?P<name>\w+)",\s*\.(?P<kind>\w+),\s*"[^"]*"(?:,\s*labels: \[(?P<labels>[^\]]*)\])?\s*\)'
)
KNOWN = {found["name"]: tuple(re.findall(r"\w+", found["labels"] or "")) for found in METRIC.finditer(CATALOG)}


def documented():
    """The metrics of the table with their labels."""
    text = (ROOT / "docs/observability.md").read_text()
    section = text.split("\n## Metrics\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) ?\|$", section.split("\n### Labels\n")[0], re.MULTILINE)
    names = r"`((?:martlet|process)_\w+)`"
    return {name: tuple(re.findall(r"`(\w+)`", labels)) for cell, labels in rows for name in re.findall(names, cell)}


def test_the_page_has_all_of_them():
    assert len(KNOWN) == CATALOG.count("= Metric(")
    assert documented() == KNOWN


def test_each_metric_is_listed():
    listed = CATALOG.split("static let all: [Metric] = [")[1].split("]")[0]
    names = re.findall(r"static let (\w+) = Metric\(", CATALOG)
    assert sorted(re.findall(r"\w+", listed)) == sorted(names)


@pytest.fixture
def page(martlet, recorder):
    """The page of a daemon that has had calls of several kinds."""
    interceptors = "interceptors: [ metrics: {}, token: { env: PATH } ]\nroutes: [ name: all ]"
    proxy = martlet(upstream=recorder(response=JSON).url, more=interceptors)
    with proxy.http() as http:
        for caller in (protocol.CONNECT_UNARY_JSON, protocol.GRPC_WEB):
            caller.call(http)
        http.get("/page", headers={"host": ".."})
    return proxy.admin("/metrics").text


def test_the_page_has_no_others(page):
    assert set(re.findall(r"^# TYPE (\w+)", page, re.MULTILINE)) <= KNOWN.keys()


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed")
def test_prometheus_reports_nothing(page):
    checked = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, timeout=30)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
