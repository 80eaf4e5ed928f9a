"""LoadCredential= hands a file to the service that only root may read. Martlet adds its token to calls."""

from support.callers import call

CONFIGURATION = """
listen: 127.0.0.1:8080
upstream: {}
interceptors:
  - token: {{ file: /run/credentials/martlet.service/token }}
"""


def test_the_upstream_gets_it(machine, service, recorder):
    upstream = recorder()
    machine.write("/etc/martlet/token", "s3cret\n", mode=0o600)
    service.drop_in("[Service]\nLoadCredential=token:/etc/martlet/token\n")
    service.start(CONFIGURATION.format(upstream.url))
    assert call()[0] == 200
    assert upstream.requests[0].header("authorization") == "Bearer s3cret"
