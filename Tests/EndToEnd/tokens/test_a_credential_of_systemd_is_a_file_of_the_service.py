"""`credential: NAME` is the file NAME in $CREDENTIALS_DIRECTORY. A command without the variable still checks the file."""

import socket

import pytest

from support.eliza_callers import eliza_types  # noqa: F401
from support.http1.peer import Peer
from support.ports import free_port

UNSET = "$CREDENTIALS_DIRECTORY/{}: No such file or directory"


def configuration(upstream, identity=None):
    tls = ", tls: { certificate: { credential: server.pem }, key: { credential: server.key } }" if identity else ""
    return f"""
        listeners: [{{ address: "127.0.0.1:0"{tls} }}]
        upstream: {upstream.url}
        interceptors:
          - token: {{ credential: token }}
    """


def service(directory):
    return {"environment": {"CREDENTIALS_DIRECTORY": str(directory)}}


@pytest.fixture
def credentials(tmp_path):
    directory = tmp_path / "credentials"
    directory.mkdir()
    (directory / "token").write_text("s3cret\n")
    return directory


def test_a_token(martlet, recorder, credentials):
    upstream = recorder()
    proxy = martlet(configuration(upstream), **service(credentials))
    with proxy.http() as http:
        assert http.get("/").text == "ok"
    assert upstream.requests[0].values("authorization") == ["Bearer s3cret"]
    assert '"credential":"token"' in proxy.admin("/config").text.replace(": ", ":")


def test_a_certificate_with_its_key(martlet, recorder, credentials, authority):
    ours = authority()
    identity = ours.issue("127.0.0.1")
    (credentials / "server.pem").write_bytes(identity.certificate.read_bytes())
    (credentials / "server.key").write_bytes(identity.key.read_bytes())
    proxy = martlet(configuration(recorder(), identity), **service(credentials))
    secure = ours.client().wrap_socket(socket.create_connection(proxy.address, 10), server_hostname="127.0.0.1")
    peer = Peer(secure)
    peer.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert peer.response().body == b"ok"
    peer.close()


def test_a_client_secret_and_a_phantom_token(martlet, recorder, credentials):
    provider = recorder(b"HTTP/1.1 200 OK\r\ncontent-length: 40\r\n\r\n" + b'{"access_token":"made","expires_in":360}')
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token:
              oauth2: {{ token_url: "{provider.url}/t", client_id: me, auth: post, client_secret: {{ credential: token }} }}
              phantom: {{ value: {{ credential: token }} }}
        """,
        **service(credentials),
    )
    with proxy.http() as http:
        assert http.get("/").status_code == 401
        assert http.get("/", headers={"authorization": "Bearer s3cret"}).status_code == 200
    assert b"client_secret=s3cret" in provider.requests[0].body
    assert upstream.requests[0].header("authorization") == "Bearer made"


@pytest.mark.parametrize(
    "words, code, expected",
    [(["types"], 78, "there are no types"), (["call", "a.B/C", "-d", "{}"], 1, "no daemon is listening at https://")],
    ids=["types", "call"],
)
def test_nor_does_a_command_that_needs_no_secret(command, tmp_path, recorder, words, code, expected):
    """Whoever looks into a problem of the service is outside of it."""
    place = f"127.0.0.1:{free_port()}"
    (tmp_path / "martlet.yaml").write_text(configuration(recorder(), identity=True).replace("127.0.0.1:0", place))
    result = command(*words, "-c", "martlet.yaml", cwd=tmp_path)
    assert result.code == code and expected in result.stderr.text


@pytest.mark.parametrize("variable", ["unset", "elsewhere"])
def test_check_does_not_fail_without_it(command, tmp_path, recorder, variable):
    file = tmp_path / "martlet.yaml"
    text = configuration(recorder(), identity=True)
    file.write_text(text.replace("credential: token }", "credential: token, phantom: { value: { credential: mine } } }"))
    environment = {} if variable == "unset" else {"CREDENTIALS_DIRECTORY": "/run/credentials/none"}
    result = command("check", "-c", file, environment=environment)
    assert result.code == 0, result.stderr.text
    warnings = [line.removeprefix(f"{file}: warning for this machine: ") for line in result.stderr]
    directory = environment.get("CREDENTIALS_DIRECTORY", "$CREDENTIALS_DIRECTORY")
    assert [line.replace(directory, "DIRECTORY") for line in warnings] == [
        "cannot read DIRECTORY/server.pem: No such file or directory",
        "cannot read DIRECTORY/server.key: No such file or directory",
        "DIRECTORY/mine: No such file or directory",
        "cannot read the token in DIRECTORY/token: No such file or directory",
    ]


def test_no_command_but_those_that_serve_needs_it(command, martlet, recorder, credentials, authority, eliza_types, tmp_path):
    ours = authority()
    identity = ours.issue("127.0.0.1")
    (credentials / "server.pem").write_bytes(identity.certificate.read_bytes())
    (credentials / "server.key").write_bytes(identity.key.read_bytes())
    port = free_port()
    text = f"""
        listeners: [{{ address: "127.0.0.1:{port}", tls: {{ certificate: {{ credential: server.pem }}, key: {{ credential: server.key }} }} }}]
        upstreams: {{ web: {{ url: "https://127.0.0.1:9", tls: {{ client_certificate: {{ credential: a.pem }}, client_key: {{ credential: a.key }} }} }} }}
        types: {{ files: [{eliza_types}] }}
        interceptors:
          - token: {{ credential: token, phantom: {{ value: {{ credential: token }} }} }}
          - respond: {{ json: {{ sentence: hello }} }}
    """
    (credentials / "a.pem").write_bytes(identity.certificate.read_bytes())
    (credentials / "a.key").write_bytes(identity.key.read_bytes())
    proxy = martlet(text, **service(credentials))
    tests = tmp_path / "tests.yaml"
    tests.write_text(f"config: {proxy.file}\ntests: [ {{ name: a, call: {{ http: GET / }}, expect: {{ code: unauthenticated }} }} ]\n")
    tape = tmp_path / "tape.yaml"
    tape.write_text("")
    trust = {"SSL_CERT_FILE": str(ours.file)}
    say = ["call", "connectrpc.eliza.v1.ElizaService/Say", "--data", "{}", "-H", "authorization: Bearer s3cret"]
    explain = command("explain", "GET", "/", "-c", proxy.file)
    assert explain.code == 0 and "reject" in explain.stdout.text
    assert f"{proxy.file}: warning for this machine: cannot read {UNSET.format('server.key')}" in explain.stderr.text
    assert "ElizaService" in command("types", "-c", proxy.file).stdout.text
    assert '"hello"' in command(*say, "-c", proxy.file, environment=trust).stdout.text
    assert "1 test, 0 failed" in command("test", tests).stdout.text
    made = command("test", "--from-tape", tape, "-c", proxy.file)
    assert "cannot read" not in made.stderr.text and made.code == 0


def test_without_it_a_call_has_no_token(martlet, recorder):
    upstream = recorder()
    proxy = martlet(configuration(upstream))
    with proxy.http() as http:
        response = http.get("/", headers={"content-type": "application/json"})
    assert response.status_code == 503
    assert "there is no token in $CREDENTIALS_DIRECTORY/token" in response.text
    assert upstream.requests == []


def test_without_it_a_listener_has_no_certificate(command, tmp_path, recorder):
    file = tmp_path / "martlet.yaml"
    file.write_text(configuration(recorder(), identity=True))
    result = command("run", "-c", file)
    assert result.code == 78
    assert "cannot read " + UNSET.format("server.key") in result.stderr.text


def test_a_reload_needs_what_is_new(martlet, recorder, credentials):
    upstream = recorder()
    proxy = martlet(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\n", **service(credentials))
    line = proxy.reload(configuration(upstream, identity=True), outcome="reload rejected")
    proxy.stderr.wait(f"cannot read {credentials}/server.pem: No such file or directory")
    with proxy.http() as http:
        assert http.get("/").status_code == 200, line
