"""promtool accepts the metrics page and the alert rules, and each alert fires when it should."""

import json
import re
import subprocess

import pytest
from ruamel.yaml import YAML

from support.martlet import ROOT

DASHBOARD = ROOT / "etc/examples/dashboard.grafana.json"
RULES = ROOT / "etc/examples/alerts.prometheus.yaml"
ALERTS = [rule["alert"] for group in YAML(typ="safe").load(RULES)["groups"] for rule in group["rules"]]
INFO = 'martlet_build_info{job="j", instance="i"}'

# What an hour of scrapes, one a minute, has for each alert to fire: series and their values.
FIRES = {
    "MartletDown": {'up{job="j", instance="i"}': "1x50 0x10", INFO: "1x50 stale"},
    "MartletRestartsOften": {'process_start_time_seconds{job="j", instance="i"}': "0x49 1 2 3x10", INFO: "1x60"},
    "MartletReloadRejected": {"martlet_config_last_reload_successful": "0x60"},
    "MartletCallsFail": {
        'martlet_rpc_handled_total{rpc_service="s", code="ok"}': "0+600x60",
        'martlet_rpc_handled_total{rpc_service="s", code="unavailable"}': "0+60x60",
    },
    "MartletUpstreamUnreachable": {
        'martlet_upstream_attempts_total{upstream="u", result="ok"}': "0+1x60",
        'martlet_upstream_attempts_total{upstream="u", result="connect_failed"}': "0+2x60",
    },
    "MartletAddressOut": {'martlet_upstream_addresses{upstream="u", state="out"}': "0x30 1x30"},
    "MartletNotReady": {"martlet_ready": "1x30 0x30"},
    "MartletCredentialRefreshFails": {'martlet_credential_refresh_total{credential="c", result="error"}': "0+1x60"},
    "MartletCredentialExpired": {'martlet_credential_expiry_timestamp_seconds{credential="c"}': "3000x60"},
    "MartletCertificateExpires": {'martlet_certificate_expiry_timestamp_seconds{listener="l"}': "90000x60"},
    "MartletCertificateNotReloaded": {'martlet_certificate_last_reload_successful{listener="l"}': "0x60"},
    "MartletAtItsLimits": {'martlet_limit_hits_total{limit="connections"}': "0+1x60"},
    "MartletUpstreamInsecure": {'martlet_upstream_insecure{upstream="u"}': "1x120"},
    "MartletLogLinesDropped": {"martlet_log_lines_dropped_total": "0x55 1x10"},
}
# An hour in which nothing is wrong; a certificate that is good for ten days.
QUIET = {
    "martlet_ready": "1x120",
    'up{job="j", instance="i"}': "1x120",
    INFO: "1x120",
    'process_start_time_seconds{job="j", instance="i"}': "7x120",
    "martlet_config_last_reload_successful": "1x120",
    'martlet_rpc_handled_total{rpc_service="s", code="ok"}': "0+600x120",
    'martlet_rpc_handled_total{rpc_service="s", code="invalid_argument"}': "0+600x120",
    'martlet_upstream_attempts_total{upstream="u", result="ok"}': "0+60x120",
    'martlet_upstream_attempts_total{upstream="u", result="connect_failed"}': "0+6x120",
    'martlet_credential_refresh_total{credential="c", result="error"}': "1x120",
    'martlet_credential_expiry_timestamp_seconds{credential="c"}': "90000x120",
    'martlet_certificate_expiry_timestamp_seconds{listener="l"}': f"{10 * 86400}x120",
    'martlet_certificate_last_reload_successful{listener="l"}': "1x120",
    'martlet_limit_hits_total{limit="connections"}': "3x120",
    'martlet_limit_hits_total{limit="head"}': "0+1x120",
    'martlet_upstream_insecure{upstream="u"}': "0x120",
    "martlet_log_lines_dropped_total": "4x120",
}


def promtool(*arguments, **options):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=20, **options)
    return done.returncode, done.stdout + done.stderr


def test_the_metrics_page(martlet, recorder, tmp_path):
    (tmp_path / "token").write_text("secret")
    chain = f"interceptors: [ metrics: {{}}, log: {{}}, token: {{ file: {tmp_path}/token }} ]"
    proxy = martlet(upstream=recorder().url, more=chain)
    with proxy.http() as http:
        http.post("/shop.v1.OrderService/Get", json={})
        http.get("/")
    assert promtool("check", "metrics", input=proxy.admin("/metrics").text) == (0, "")


def test_the_rules_load():
    code, said = promtool("check", "rules", RULES)
    assert code == 0, said


def test_each_metric_of_the_rules_is_one_of_martlet():
    documented = (ROOT / "docs/observability.md").read_text()
    for name in set(re.findall(r"\b(?:martlet|process)_\w+", RULES.read_text())):
        assert f"`{name}`" in documented, name


def dashboard():
    """The expressions of the dashboard, with values for the variables of Grafana."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    found = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    return [text.replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*") for text in found]


def test_each_expression_of_the_dashboard_is_one(tmp_path):
    rules = [{"record": f"r{number}", "expr": text} for number, text in enumerate(dashboard())]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    code, said = promtool("check", "rules", tmp_path / "rules.yaml")
    assert code == 0 and len(rules) > 20, said


def test_each_metric_and_label_of_the_dashboard_is_one_of_martlet():
    documented = (ROOT / "docs/observability.md").read_text()
    rows = {name: line for line in documented.splitlines() if line.startswith("|") for name in re.findall(r"`((?:martlet|process)_\w+)`", line)}
    for text in dashboard():
        for name, labels in re.findall(r"\b((?:martlet|process)_\w+?)(?:_bucket)?\{([^}]*)\}", text):
            assert name in rows, name
            for label in set(re.findall(r"(\w+)[=!]", labels)) - {"job", "instance"}:
                assert f"`{label}`" in rows[name], (name, label)
        names = re.findall(r"\b((?:martlet|process)_\w+?)(?:_bucket)?\{", text)
        for group in re.findall(r"by \(([^)]*)\)", text):
            for label in set(re.findall(r"\w+", group)) - {"le", "job", "instance"}:
                assert all(f"`{label}`" in rows[name] for name in names), (names, label)


def test_panels_of_the_dashboard_do_not_overlap():
    taken = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells


def test_each_alert_has_a_test():
    assert ALERTS == list(FIRES)


def fired(directory, series, minutes):
    """The names of the alerts that fire at the end of the scrapes."""
    scrapes = [{"series": name, "values": values} for name, values in series.items()]
    found = []
    for alert in ALERTS:
        test = {"interval": "1m", "input_series": scrapes, "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": alert}]}
        file = directory / f"{alert}.yaml"
        file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
        # The test expects no alert, so it fails where one fires.
        code, said = promtool("test", "rules", file)
        if code:
            assert "got:[" in said.replace("\n", "").replace(" ", ""), said
            found.append(alert)
    return found


@pytest.mark.parametrize("alert", FIRES)
def test_an_alert_fires_alone(tmp_path, alert):
    assert fired(tmp_path, FIRES[alert], minutes=119 if "x120" in str(FIRES[alert]) else 59) == [alert]


def test_no_alert_fires_without_a_cause(tmp_path):
    assert fired(tmp_path, QUIET, minutes=119) == []
