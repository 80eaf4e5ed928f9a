"""systemd hands a file to the service that only root may read, or only this machine. Martlet adds its token to calls."""

import pytest

from support.callers import call

CONFIGURATION = """
listen: 127.0.0.1:8080
upstream: {}
interceptors:
  - token: {{ credential: token }}
"""
CHECKED = """[Service]
LoadCredential=token:/etc/martlet/token
ExecReload=
ExecReload=/usr/bin/martlet check -c /etc/martlet/martlet.yaml
ExecReload=/usr/bin/martlet reload -c /etc/martlet/martlet.yaml
"""
ENCRYPT = "printf s3cret | systemd-creds encrypt --with-key=host --name=token"


def plain(machine):
    machine.write("/etc/martlet/token", "s3cret\n", mode=0o600)
    return "LoadCredential=token:/etc/martlet/token"


def encrypted(machine):
    machine.run(f"{ENCRYPT} - /etc/martlet/token.cred")
    assert "s3cret" not in machine.run("cat /etc/martlet/token.cred").stdout
    return "LoadCredentialEncrypted=token:/etc/martlet/token.cred"


def within_the_unit(machine):
    return machine.run(f"{ENCRYPT} --pretty - -").stdout


@pytest.mark.parametrize("line", [plain, encrypted, within_the_unit], ids=lambda line: line.__name__)
def test_the_upstream_gets_it(machine, service, recorder, line):
    upstream = recorder()
    service.drop_in(f"[Service]\n{line(machine)}\n")
    service.start(CONFIGURATION.format(upstream.url))
    assert call()[0] == 200
    assert upstream.requests[0].header("authorization") == "Bearer s3cret"


def test_a_reload_succeeds_whatever_the_commands_of_the_unit_can_see(machine, service, recorder):
    upstream = recorder()
    plain(machine)
    service.drop_in(CHECKED)
    service.start(CONFIGURATION.format(upstream.url))
    service.configure(CONFIGURATION.format(upstream.url) + "log_level: debug\n")
    reload = service.control("reload")
    assert reload.returncode == 0, reload.stderr + service.log()
    service.wait_for_log("generation=2")
    assert call()[0] == 200
    assert upstream.requests[0].header("authorization") == "Bearer s3cret"


def test_a_check_by_hand_says_what_only_the_service_has(machine, service, recorder):
    service.configure(CONFIGURATION.format("http://127.0.0.1:3000"))
    check = service.martlet("check")
    assert check.returncode == 0, check.stderr
    assert "warning for this machine: cannot read the token in $CREDENTIALS_DIRECTORY/token" in check.stderr


def test_a_reload_does_not_bring_a_new_content(machine, service, recorder):
    """systemd copies a credential when it starts the service. `docs/systemd.md` says so."""
    upstream = recorder()
    plain(machine)
    service.drop_in("[Service]\nLoadCredential=token:/etc/martlet/token\n")
    service.start(CONFIGURATION.format(upstream.url))
    machine.write("/etc/martlet/token", "another\n", mode=0o600)
    assert service.control("reload").returncode == 0
    assert call()[0] == 200
    service.control("restart", check=True)
    assert call()[0] == 200
    assert [request.header("authorization") for request in upstream.requests] == ["Bearer s3cret", "Bearer another"]
