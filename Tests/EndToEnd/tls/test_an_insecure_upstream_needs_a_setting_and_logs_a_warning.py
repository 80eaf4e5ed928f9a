"""Without verification a call goes to any server that responds. That needs a setting and always logs a warning."""

from support.wait import eventually

CONFIGURATION = """\
listen: 127.0.0.1:0
upstreams:
  shop: {{ url: "{url}", tls: {{ insecure: true }} }}
  bank: {{ url: "{url}", tls: {{ ca: {ca} }} }}
routes: [{{ upstream: shop }}]
"""


def test_a_warning_is_logged(martlet, recorder, authority):
    ours = authority()
    upstream = recorder(tls=ours.issue_expired("other.example").server())
    proxy = martlet(CONFIGURATION.format(url=upstream.url, ca=ours.file))
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    warning = r" warn .*martlet\.yaml:3:\d+: the certificate of the upstream is not verified"
    assert len(proxy.stderr.matches(warning)) == 1
    proxy.reload()
    eventually(lambda: len(proxy.stderr.matches(warning)) == 2)
    insecure = {labels["upstream"]: value for labels, value in proxy.metrics().select("martlet_upstream_insecure")}
    assert insecure == {"bank": 0, "shop": 1}


def test_no_token_goes_there(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(
        """\
listen: 127.0.0.1:0
upstreams:
  shop: { url: "https://192.0.2.1", tls: { insecure: true } }
interceptors:
  - token: { env: SECRET }
"""
    )
    result = command("check", "-c", file, environment={"SECRET": "s3cret"})
    assert result.code == 78
    assert "5:5: the token would go to https://192.0.2.1:443, whose certificate is not verified (tls.insecure)" in result.stderr.text


def test_a_token_goes_where_the_certificate_is_verified(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text("listen: 127.0.0.1:0\nupstream: https://api.example\ninterceptors: [{ token: { env: SECRET } }]\n")
    assert command("check", "-c", file, environment={"SECRET": "s3cret"}).code == 0
