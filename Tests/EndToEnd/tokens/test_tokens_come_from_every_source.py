"""Whatever the source of a token, it arrives at the upstream, fetched the way its source requires."""

import json
import time

import pytest
from joserfc import jwk, jwt

from support.servers.identity_provider import ENVIRONMENT
from support.wait import eventually

ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
KEYS = [("RSA", 2048, "RS256"), ("EC", "P-256", "ES256"), ("OKP", "Ed25519", "EdDSA")]
KUBERNETES = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1"}
AWS = {"Version": 1, "AccessKeyId": "key", "SecretAccessKey": "secret", "SessionToken": "t0ken"}


@pytest.fixture
def seen(martlet, recorder):
    """Makes a call with a token from a source; returns the header as it arrived."""

    def run(token, environment=ENVIRONMENT, more="", calls=({},), header="authorization"):
        upstream = recorder()
        chain = f"interceptors: [ {{ name: auth, token: {json.dumps(token)} }} ]\n{more}"
        proxy = martlet(upstream=upstream.url, more=chain, environment=environment)
        with proxy.http() as http:
            for headers in calls:
                response = http.get("/", headers=headers)
                assert response.status_code == 200, (response.text, proxy.admin("/credentials").text)
        return [request.header(header) for request in upstream.requests]

    return run


@pytest.fixture
def provider(identity_provider):
    return identity_provider()


@pytest.fixture
def key_file(tmp_path):
    """Writes a private key into a file; returns its path and the public key."""

    def make(kind, parameter):
        key = jwk.generate_key(kind, parameter, private=True)
        file = tmp_path / f"{kind}.pem"
        file.write_bytes(key.as_pem(private=True))
        file.chmod(0o600)
        return str(file), key.as_dict(private=False)

    return make


def claims(header, provider):
    """What a token of the provider says; its signature is checked."""
    return jwt.decode(header.removeprefix("Bearer "), provider.keys, algorithms=["RS256"]).claims


def later(seconds=3600):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


# Values and files


def test_value(seen):
    assert seen({"value": "t0ken"}) == ["Bearer t0ken"]


def test_environment(seen):
    assert seen({"env": "TOKEN"}, {"TOKEN": "t0ken"}) == ["Bearer t0ken"]


def test_file(seen, tmp_path):
    (tmp_path / "token").write_text("t0ken\n")
    assert seen({"file": f"{tmp_path}/token"}) == ["Bearer t0ken"]


def test_header_and_format(seen):
    token = {"value": "t0ken", "header": "x-key", "format": "key={token}"}
    assert seen(token, header="x-key") == ["key=t0ken"]


# Programs


@pytest.fixture
def program(tmp_path):
    """A program that writes its output down and notes its runs."""

    def make(output):
        (tmp_path / "output").write_text(output)
        script = tmp_path / "program"
        script.write_text(f'#!/bin/sh\necho "$1" "$KIND" >> {tmp_path}/runs\ncat {tmp_path}/output\n')
        script.chmod(0o755)
        return str(script)

    return make


@pytest.mark.parametrize(
    "format, output, more",
    [
        ("text", "t0ken\n", {}),
        ("kubernetes", json.dumps(KUBERNETES | {"status": {"token": "t0ken", "expirationTimestamp": later()}}), {}),
        ("kubernetes", json.dumps(KUBERNETES | {"status": {"token": "t0ken"}}), {}),
        ("aws", json.dumps(AWS | {"Expiration": later()}), {}),
        ("json", json.dumps({"a": {"b": "t0ken"}, "until": later()}), {"pointer": "/a/b", "expires_at": "/until"}),
    ],
    ids=["text", "kubernetes", "kubernetes without end", "aws", "json"],
)
def test_a_program(seen, program, tmp_path, format, output, more):
    command = [program(output), "{upstream.host}"]
    source = {"command": command, "format": format, "environment": {"KIND": "tests"}} | more
    assert seen({"exec": source}, calls=[{}] * 3) == ["Bearer t0ken"] * 3
    (run,) = (tmp_path / "runs").read_text().splitlines()
    assert run.startswith("127.0.0.1") and run.endswith(" tests")


def test_a_program_whose_token_expires_runs_again(martlet, recorder, program, tmp_path):
    status = {"token": "old", "expirationTimestamp": later(-10)}
    source = {"command": [program(json.dumps(KUBERNETES | {"status": status})), "-"], "format": "kubernetes"}
    upstream = recorder()
    chain = f"interceptors: [ token: {json.dumps({'exec': source})} ]"
    with martlet(upstream=upstream.url, more=chain).http() as http:
        http.get("/")
        status = {"token": "new", "expirationTimestamp": later()}
        (tmp_path / "output").write_text(json.dumps(KUBERNETES | {"status": status}))

        def arrives():
            http.get("/")
            return upstream.requests and upstream.requests[-1].header("authorization") == "Bearer new"

        eventually(arrives, 15, "the new token")


@pytest.mark.parametrize("output", ["", "{}", '{"kind":"ExecCredential"}', "no json"])
def test_a_program_that_prints_no_token(martlet, recorder, program, output):
    source = {"command": [program(output)], "format": "kubernetes"}
    chain = f"interceptors: [ token: {json.dumps({'exec': source})} ]"
    upstream = recorder()
    with martlet(upstream=upstream.url, more=chain).http() as http:
        assert http.get("/").status_code == 503
    assert upstream.requests == []


# OAuth2


@pytest.mark.parametrize("auth, method", [("basic", "client_secret_basic"), ("post", "client_secret_post")])
def test_oauth2_with_a_secret(seen, provider, auth, method):
    source = provider.oauth2(auth=auth, scopes=["a", "b"], audience="orders", parameters={"resource": "urn:x&y"})
    (header,) = seen({"oauth2": source})
    (fetch,) = provider.fetches("client_credentials")
    assert (fetch.auth, fetch.client) == (method, "martlet")
    assert (fetch.form["scope"], fetch.form["resource"]) == ("a b", "urn:x&y")
    assert ("client_secret" in fetch.form) == (auth == "post")
    assert (claims(header, provider)["aud"], claims(header, provider)["scope"]) == ("orders", "a b")


@pytest.mark.parametrize("kind, parameter, algorithm", KEYS)
def test_oauth2_with_a_key(seen, provider, key_file, kind, parameter, algorithm):
    file, public = key_file(kind, parameter)
    provider.set(keys={"signer": public})
    source = {"token_url": provider.token_url, "client_id": "signer", "auth": "private_key_jwt"}
    (header,) = seen({"oauth2": source | {"key": {"file": file}, "key_id": "k1", "algorithm": algorithm}})
    (fetch,) = provider.fetches("client_credentials")
    assert (fetch.auth, fetch.client) == ("client_assertion_jwt", "signer")
    assert claims(header, provider)["client_id"] == "signer"


def test_oauth2_with_a_wrong_secret(martlet, recorder, provider):
    upstream = recorder()
    chain = f"interceptors: [ token: {json.dumps({'oauth2': provider.oauth2()})} ]"
    proxy = martlet(upstream=upstream.url, more=chain, environment={"CLIENT_SECRET": "wrong"})
    with proxy.http() as http:
        assert http.get("/").status_code == 503
    assert upstream.requests == []
    assert "invalid_client" in proxy.admin("/credentials").text


# Exchange, own tokens, calls


def test_exchange_is_keyed_by_the_caller(seen, provider):
    provider.set(subjects={"ticket-1": "ann", "ticket-2": "bob"})
    source = provider.oauth2(
        subject_token="{header:x-ticket}", subject_token_type=ACCESS_TOKEN, audience="orders", scopes=["a"]
    )
    calls = [{"x-ticket": "ticket-1"}, {"x-ticket": "ticket-2"}] * 3
    headers = seen({"exchange": source}, calls=calls)
    assert [claims(header, provider)["sub"] for header in headers] == ["ann", "bob"] * 3
    assert {claims(header, provider)["aud"] for header in headers} == {"orders"}
    assert [fetch.form["subject_token"] for fetch in provider.fetches("exchange")] == ["ticket-1", "ticket-2"]
    assert {fetch.form["subject_token_type"] for fetch in provider.fetches("exchange")} == {ACCESS_TOKEN}


def test_exchange_of_the_callers_authorization(seen, provider):
    """The scheme is not part of a token."""
    own = provider.fetch()["access_token"]
    source = provider.oauth2(subject_token="{header:authorization}", subject_token_type=ACCESS_TOKEN)
    (header,) = seen({"exchange": source}, calls=[{"authorization": f"Bearer {own}"}])
    assert header != f"Bearer {own}" and claims(header, provider)["sub"] == "martlet"


@pytest.mark.parametrize("kind, parameter, algorithm", KEYS)
def test_jwt(seen, key_file, kind, parameter, algorithm):
    file, public = key_file(kind, parameter)
    own = {"issuer": "martlet", "subject": "app", "audience": "orders", "claims": {"tier": "gold", "n": 7}}
    source = {"algorithm": algorithm, "key": {"file": file}, "key_id": "k1", "lifetime": "5m"} | own
    before = int(time.time())
    first, second = seen({"jwt": source}, calls=[{}] * 2)
    assert first == second  # made once for its lifetime
    token = jwt.decode(first.removeprefix("Bearer "), jwk.import_key(public), algorithms=[algorithm])
    assert (token.header["alg"], token.header["kid"]) == (algorithm, "k1")
    claims = token.claims
    assert (claims["iss"], claims["sub"], claims["aud"], claims["tier"], claims["n"]) == ("martlet", "app", "orders", "gold", 7)
    assert claims["exp"] - claims["iat"] == 300 and before - 1 <= claims["iat"] <= time.time()


def test_a_jwt_that_expired_before_1970_is_reported_like_any_other(martlet, recorder, key_file):
    file, _ = key_file("EC", "P-256")
    source = {"algorithm": "ES256", "key": {"file": file}, "claims": {"exp": -1.5}}
    proxy = martlet(upstream=recorder().url, more=f"interceptors: [ token: {json.dumps({'jwt': source})} ]")

    def is_reported():
        (credential,) = proxy.admin("/credentials").json()["credentials"]
        return credential.get("expires_at") == "1969-12-31T23:59:58.500Z"

    eventually(is_reported, 5, "the end of the token")


@pytest.mark.parametrize("expiry", [{"expires_in": "/expires_in"}, {"expires_at": "/exp"}, {}], ids=["in", "at", "none"])
def test_call(seen, provider, expiry):
    body = {"json": {"user": "martlet", "password": "{env:CLIENT_SECRET}"}}
    more = f"calls: {json.dumps({'login': {'url': provider.login_url, 'body': body}})}"
    headers = seen({"call": {"name": "login", "value": "/token"} | expiry}, more=more, calls=[{}] * 3)
    assert {claims(header, provider)["sub"] for header in headers} == {"martlet"}
    assert len(provider.fetches("login")) == 1


# Platforms


def responding(value):
    body = json.dumps(value).encode() if not isinstance(value, bytes) else value
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize(
    "options, path, response",
    [
        ({}, "/token", {"access_token": "t0ken", "expires_in": 3600, "token_type": "Bearer"}),
        ({"scopes": ["a", "b"]}, "/token?scopes=a%2Cb", {"access_token": "t0ken", "expires_in": 3600}),
        ({"audience": "https://api"}, "/identity?audience=https%3A%2F%2Fapi", b"t0ken"),
    ],
    ids=["access", "scopes", "identity"],
)
def test_google_cloud(seen, recorder, options, path, response):
    metadata = recorder(response=responding(response))
    assert seen({"gcp": {"url": metadata.url} | options}, calls=[{}] * 2) == ["Bearer t0ken"] * 2
    (request,) = metadata.requests
    assert request.target == f"/computeMetadata/v1/instance/service-accounts/default{path}"
    assert request.header("metadata-flavor") == "Google"


def test_kubernetes_service_account(seen, recorder, tmp_path):
    (tmp_path / "own").write_text("own-token\n")
    status = {"token": "t0ken", "expirationTimestamp": later()}
    api = recorder(response=responding({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "status": status}))
    source = {"url": api.url, "service_account": "app", "namespace": "shop", "audience": ["orders"]}
    token = {"kubernetes": source | {"token_file": f"{tmp_path}/own", "lifetime": "20m"}}
    assert seen(token, calls=[{}] * 2) == ["Bearer t0ken"] * 2
    (request,) = api.requests
    assert request.target == "/api/v1/namespaces/shop/serviceaccounts/app/token"
    assert request.header("authorization") == "Bearer own-token"
    assert json.loads(api.bytes.partition(b"\r\n\r\n")[2])["spec"] == {"expirationSeconds": 1200, "audiences": ["orders"]}
