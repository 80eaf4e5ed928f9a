"""systemctl --user start martlet serves by ~/.config/martlet/martlet.yaml, with an admin socket for that user alone."""

import pytest

from support.callers import call
from machine.service import responses

FILE = "/home/somebody/.config/martlet/martlet.yaml"


@pytest.fixture
def somebody(machine):
    """Runs a command as a user whose service manager runs."""
    machine.run("useradd --create-home somebody; loginctl enable-linger somebody")
    machine.run("systemctl start user@$(id -u somebody).service")
    runtime = f"/run/user/{machine.run('id -u somebody').stdout.strip()}"
    machine.write(FILE, responses())

    def run(command, **options):
        line = f"export XDG_RUNTIME_DIR={runtime} DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus; {command}"
        return machine.run(line, user="somebody", **options)

    yield run
    machine.run("loginctl disable-linger somebody; systemctl stop user@$(id -u somebody); userdel --remove somebody", check=False)


def test_it_serves(machine, somebody):
    started = somebody("systemctl --user start martlet", check=False)
    assert started.returncode == 0, machine.run("journalctl --lines=30").stdout
    assert call() == (200, "ok")
    assert somebody(f"martlet status -c {FILE}").stdout
    machine.write(FILE, responses(body="new"))
    somebody("systemctl --user reload martlet")
    assert call() == (200, "new")
    machine.write(FILE, "listn: 1\n")
    assert somebody("systemctl --user reload martlet", check=False).returncode != 0
    somebody("systemctl --user stop martlet")
    assert somebody("systemctl --user show --value --property=Result martlet").stdout.strip() == "success"
