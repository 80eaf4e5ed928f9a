"""The installed file, the four lines of the README and each example: systemctl starts the service, and its commands find it."""

import re

import pytest

from support.certificates import Authority
from support.martlet import DESCRIPTOR_SET, ROOT, SHIPPED

# These are for a pod.
FILES = [file for file in SHIPPED if not re.search("kubernetes|container", file.name)]
FOUR_LINES = re.search(r"^```yaml\n((?:.+\n)+?)```$", (ROOT / "README.md").read_text(), re.M)[1]


def prepare(machine, text, directory):
    """Puts the files that a configuration names where it looks for them."""
    machine.write("/run/secrets/token", "s3cret\n")
    if "/etc/martlet/shop.binpb" in text:
        machine.write("/etc/martlet/shop.binpb", DESCRIPTOR_SET)
    if "/etc/martlet/tls/" in text:
        authority = Authority(directory / "certificates")
        for name in ["server", "client"]:
            identity = authority.issue("a.example")
            machine.write(f"/etc/martlet/tls/{name}.pem", identity.certificate.read_text())
            machine.write(f"/etc/martlet/tls/{name}.key", identity.key.read_text())
        for name in ["ca", "callers"]:
            machine.write(f"/etc/martlet/tls/{name}.pem", authority.file.read_text())


@pytest.mark.parametrize("file", ["the installed file", "the README's four lines", *FILES], ids=lambda file: getattr(file, "name", file))
def test_it_starts(machine, service, tmp_path, file):
    if file != "the installed file":
        text = FOUR_LINES if file == "the README's four lines" else file.read_text()
        prepare(machine, text, tmp_path)
        service.configure(text)
        names = re.findall(r"\{env:(\w+)\}", text)
        service.drop_in("[Service]\n" + "".join(f"Environment={name}=value\n" for name in names))
        if "systemd:rpc" in text:
            machine.run("systemctl start martlet.socket")
    service.start()
    assert service.show("NRestarts") == "0"
    health = service.martlet("healthcheck")
    assert health.returncode == 0, health.stderr
    assert service.control("reload").returncode == 0, service.log()
