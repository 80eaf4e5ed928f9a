"""`check` accepts the default configuration and each example."""

import re

import pytest

from support.martlet import DESCRIPTOR_SET, ROOT, SHIPPED


def test_there_are_shipped_files():
    assert ROOT / "etc/martlet.yaml" in SHIPPED and len(SHIPPED) > 1


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_loads(command, file, tmp_path, authority):
    text = file.read_text()
    environment = {name: "value" for name in re.findall(r"\{env:(\w+)\}", text)}
    if "/etc/martlet/tls/" in text:
        # The files are read, too; here they are.
        ours = authority()
        for name in ["server", "client"]:
            identity = ours.issue("a.example")
            identity.certificate.rename(tmp_path / f"{name}.pem")
            identity.key.rename(tmp_path / f"{name}.key")
        for name in ["ca.pem", "callers.pem"]:
            (tmp_path / name).write_bytes(ours.file.read_bytes())
        file = tmp_path / file.name
        file.write_text(text.replace("/etc/martlet/tls/", f"{tmp_path}/"))
    if "/etc/martlet/shop.binpb" in text:
        (tmp_path / "shop.binpb").write_text(DESCRIPTOR_SET)
        file = tmp_path / file.name
        file.write_text(text.replace("/etc/martlet/", f"{tmp_path}/"))
    result = command("check", "-c", file, environment=environment)
    assert result.code == 0, result.stderr.text
