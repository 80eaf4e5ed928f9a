"""`martlet status`: a first line that agrees with /readyz, then sockets, upstreams, credentials, uptime and lost log lines."""

import re

from support.http1.recorder import OK

CONFIGURATION = """
listen: 127.0.0.1:0
upstreams:
  good: {good}
  dead: http://127.0.0.1:1
interceptors:
  - name: secret
    token: {{ file: {token} }}
routes:
  - {{ match: {{ path: /dead }}, upstream: dead }}
  - upstream: good
"""


def test_status(martlet, command, recorder, tmp_path):
    token = tmp_path / "token"
    proxy = martlet(CONFIGURATION.format(good=recorder(OK).url, token=token))

    def status():
        return command("status", "-c", proxy.file).stdout.text

    assert status().startswith("missing credentials: secret\n") and proxy.admin("/readyz").status_code == 503
    token.write_text("t0ken")
    proxy.reload()
    with proxy.http() as http:
        assert http.get("/").status_code == 200
        assert http.get("/dead").status_code == 503
        reported = status()
    assert reported.startswith("ready\n") and proxy.admin("/readyz").text == "ready\n"
    assert re.search(rf"^martlet \S+, PID {proxy.pid}, up \d+s$", reported, re.MULTILINE)
    assert f"\nlistener: {proxy.addresses[0]}, 1 connection\n" in reported
    assert f"\nadmin: unix:{proxy.admin_socket}\n" in reported
    assert re.search(r"^upstream: good, http://127\.0\.0\.1:\d+, 0 active connections, 1 idle$", reported, re.MULTILINE)
    dead = r"^upstream: dead, .*, last error: .*cannot connect to .*: Connection refused$"
    assert re.search(dead, reported, re.MULTILINE)
    assert "\ncredential: secret (file), valid\n" in reported
    assert "\nlog lines dropped: 0" in reported
    proxy.process.terminate()
