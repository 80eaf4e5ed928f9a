"""Errors in certificate files and pins are reported when the configuration is loaded, not when a caller connects."""

import pytest


def check(command, tmp_path, text):
    file = tmp_path / "martlet.yaml"
    file.write_text(text)
    result = command("check", "-c", file)
    assert result.code == 78
    return [line.removeprefix(f"{file}:") for line in result.stderr.text.splitlines()]


def upstream(tls):
    return f'listen: 127.0.0.1:0\nupstreams:\n  shop:\n    url: "https://127.0.0.1"\n    tls:\n      {tls}\n'


def test_a_missing_file(command, tmp_path):
    lines = check(command, tmp_path, upstream("ca: /nowhere/ca.pem"))
    assert lines == ["6:11: cannot read /nowhere/ca.pem: No such file or directory"]


def test_a_bad_pin(command, tmp_path):
    lines = check(command, tmp_path, upstream('pins: ["sha256/short", "md5/x"]'))
    reason = "a pin must be the SHA-256 of a public key in base64; write sha256/ and 44 characters"
    assert lines == [f'6:14: "sha256/short": {reason}', f'6:30: "md5/x": {reason}']


@pytest.mark.parametrize(
    ("certificate", "key", "line"),
    [
        ("empty", "good", "6:27: {empty}: the file contains no certificate; write PEM"),
        ("good", "empty", "7:19: {empty}: the file contains no private key; write PEM"),
        ("good", "other", "7:19: {other}: the private key does not belong to the certificate; use a matching pair"),
    ],
)
def test_an_identity(command, tmp_path, authority, certificate, key, line):
    ours = authority()
    good, other = ours.issue(), ours.issue()
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing\n")
    names = {"empty": empty, "other": other.key}
    certificate = {"good": good.certificate}.get(certificate, empty)
    key = {"good": good.key}.get(key) or names[key]
    text = upstream(f"client_certificate: {certificate}\n      client_key: {key}")
    assert check(command, tmp_path, text) == [line.format(**names)]
    listener = f"listeners:\n  - address: 127.0.0.1:0\n    tls: {{ certificate: {certificate}, key: {key} }}\n"
    assert len(check(command, tmp_path, listener + "upstream: http://127.0.0.1:1\n")) == 1


def test_a_rejected_reload_keeps_what_works(martlet, recorder, authority):
    ours = authority()
    identity = ours.issue()
    server = recorder(tls=identity.server())
    proxy = martlet(f'listen: 127.0.0.1:0\nupstreams: {{ shop: {{ url: "{server.url}", tls: {{ ca: {ours.file} }} }} }}')
    with proxy.http() as http:
        assert http.get("/").text == "ok"
        ours.file.write_text("nothing\n")
        proxy.reload(outcome="reload rejected")
        assert http.get("/").text == "ok"


def test_both_files_that_are_missing(command, tmp_path):
    lines = check(command, tmp_path, upstream("client_certificate: /nowhere/c.pem\n      client_key: /nowhere/k.pem"))
    assert [line.split(": ")[1] for line in lines] == ["cannot read /nowhere/c.pem", "cannot read /nowhere/k.pem"]


def test_an_expired_certificate_logs_a_warning(command, tmp_path, authority):
    old = authority().issue_expired("localhost")
    file = tmp_path / "martlet.yaml"
    tls = f"tls: {{ certificate: {old.certificate}, key: {old.key} }}"
    file.write_text(f"listeners:\n  - address: 127.0.0.1:0\n    {tls}\nupstream: http://127.0.0.1:1\n")
    result = command("check", "-c", file)
    assert result.code == 0
    assert "has expired" in result.stderr.text + result.stdout.text
