"""A TCP address that other machines can reach needs `allow_remote: true`."""

import pytest

CONFIGURATION = """\
listeners:
  - address: "{address}"
    allow_remote: {allow}
upstream: http://127.0.0.1:80
"""


@pytest.mark.parametrize("address", ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"])
def test_allow_remote(command, tmp_path, address):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION.format(address=address, allow="false"))
    rejected = command("check", "-c", file)
    assert rejected.code == 78
    assert "martlet.yaml:2:" in rejected.stderr.text and "allow_remote" in rejected.stderr.text
    file.write_text(CONFIGURATION.format(address=address, allow="true"))
    assert command("check", "-c", file).code == 0
