"""A token for an upstream on another machine needs TLS, or `allow_clear_text`."""

import pytest

CONFIGURATION = """\
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - token: {{ env: SECRET{more} }}
"""
ENVIRONMENT = {"SECRET": "s3cret"}


def check(command, tmp_path, url, more=""):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION.format(url=url, more=more))
    return command("check", "-c", file, environment=ENVIRONMENT)


@pytest.mark.parametrize("url", ["http://192.0.2.1:80", "http://api.example"])
def test_rejected(command, tmp_path, url):
    result = check(command, tmp_path, url)
    assert result.code == 78
    assert "martlet.yaml:4:" in result.stderr.text and "allow_clear_text" in result.stderr.text
    assert "s3cret" not in result.stderr.text + result.stdout.text


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:80", "http://127.9.9.9:80", "http://[::1]:80", "http://localhost:80", "unix:/run/up.sock"]
)
def test_loopback_is_safe(command, tmp_path, url):
    assert check(command, tmp_path, url).code == 0


def test_allowed(command, tmp_path):
    assert check(command, tmp_path, "http://192.0.2.1:80", ", allow_clear_text: true").code == 0
