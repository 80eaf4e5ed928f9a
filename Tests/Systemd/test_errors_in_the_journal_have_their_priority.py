"""journalctl -p err shows what the daemon calls an error, once, without a second time stamp."""

import re

from machine.service import responses


def test_an_error_and_an_information(service):
    service.start(responses())
    service.configure("listn: 1\n")
    assert service.control("reload").returncode != 0
    service.wait_for_log('unknown key "listn"')
    errors = service.errors()
    assert any('unknown key "listn"' in entry["MESSAGE"] for entry in errors)
    assert {entry["PRIORITY"] for entry in errors} == {"3"}
    daemon = service.entries(f"_PID={service.show('MainPID')}")
    ready = next(entry for entry in daemon if "ready" in entry["MESSAGE"])
    assert ready["PRIORITY"] == "6"
    for entry in daemon:
        assert not re.search(r"\d{4}-\d\d-\d\dT|<\d>", entry["MESSAGE"])
