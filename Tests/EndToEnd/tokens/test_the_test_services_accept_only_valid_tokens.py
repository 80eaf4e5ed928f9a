"""The identity provider and the services of the token tests work as documented, without a daemon in between."""

import time

import httpx
import pytest
from joserfc import jwk, jwt

from support.servers.identity_provider import CLIENT
from support.wait import eventually
from tokens.token_callers import WAYS, expected

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
KEYS = [("RSA", 2048, "RS256"), ("EC", "P-256", "ES256"), ("OKP", "Ed25519", "EdDSA")]
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


@pytest.fixture
def provider(identity_provider):
    return identity_provider()


@pytest.mark.parametrize("name, kind", WAYS)
@pytest.mark.parametrize("rejection", ["early", "late"])
def test_each_protocol(provider, token_services, callers, name, kind, rejection):
    services = token_services(provider)
    caller = callers(services)[name]
    good = provider.fetch()["access_token"]
    taken = caller.call(kind, token=good)
    assert (taken.code, taken.received) == ("ok", expected(kind))
    assert services.ledger.of(taken.call) == ["processed"]
    for token, reason in [(None, "no token"), ("x", "no token of ours"), (good[:-9] + "x" * 9, "no token of ours")]:
        rejected = caller.call(kind, token=token, headers={"x-rejection": rejection})
        assert (rejected.code, rejected.received) == ("unauthenticated", [])
        assert services.ledger.of(rejected.call) == [reason]
        assert name != "grpc" or ("x-early" in rejected.headers) == (rejection == "late")


@pytest.mark.waits
def test_other_errors_of_a_token(provider, token_services, callers):
    services = token_services(provider)
    caller = callers(services)["http"]
    other = caller.call(token=provider.fetch(audience="others")["access_token"])
    provider.set(lifetime=1)
    short = provider.fetch()
    assert short["expires_in"] == 1
    assert caller.call(token=short["access_token"]).code == "ok"
    eventually(lambda: caller.call(token=short["access_token"]).code == "unauthenticated", within=1.5)
    assert services.ledger.rejections() == ["for somebody else", "expired"]
    provider.set(lifetime=60)
    old = provider.fetch()["access_token"]
    provider.revoke()
    revoked = caller.call(token=old)
    assert services.ledger.of(other.call) + services.ledger.of(revoked.call) == ["for somebody else", "revoked"]
    assert caller.call(token=provider.fetch()["access_token"]).code == "ok"


@pytest.mark.parametrize("name, kind", [way for way in WAYS if way[1] in ("download", "converse")])
def test_a_stream_that_ends_after_one_message(provider, token_services, callers, name, kind):
    services = token_services(provider)
    token = provider.fetch()["access_token"]
    outcome = callers(services)[name].call(kind, token=token, headers={"x-rejection": "after-one"})
    assert (outcome.code, len(outcome.received)) == ("unauthenticated", 1)
    assert services.ledger.of(outcome.call) == ["ended early"]


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_clients_with_a_secret(provider, method):
    assert provider.fetch(method=method, scope="a b")["scope"] == "a b"
    with pytest.raises(httpx.HTTPStatusError):
        provider.fetch(secret="wrong", method=method)
    good, wrong = provider.fetches("client_credentials")
    assert (good.result, good.auth, wrong.result) == (200, method, 401)


@pytest.mark.parametrize("kind, parameter, algorithm", KEYS)
def test_clients_with_a_key(provider, kind, parameter, algorithm):
    key = jwk.generate_key(kind, parameter, private=True)
    provider.set(keys={"signer": key.as_dict(private=False)})
    claims = {"iss": "signer", "sub": "signer", "aud": provider.token_url, "jti": "1", "exp": int(time.time()) + 60}
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm]),
    }
    with httpx.Client(trust_env=False) as http:
        assert [http.post(provider.token_url, data=form).status_code for _ in range(2)] == [200, 400]


def test_exchange(provider):
    provider.set(subjects={"alice's ticket": "alice"})
    fields = {"grant_type": EXCHANGE, "subject_token_type": ACCESS_TOKEN}
    first = provider.fetch(subject_token="alice's ticket", **fields)
    assert first["issued_token_type"] == ACCESS_TOKEN
    second = provider.fetch(subject_token=first["access_token"], audience="orders", **fields)
    claims = jwt.decode(second["access_token"], provider.keys, algorithms=["RS256"]).claims
    assert (claims["sub"], claims["aud"], claims["client_id"]) == ("alice", "orders", CLIENT)
    with pytest.raises(httpx.HTTPStatusError):
        provider.fetch(subject_token="nobody's", **fields)


@pytest.mark.waits
def test_how_it_fails(provider):
    form = {"grant_type": "client_credentials"}
    with httpx.Client(trust_env=False, auth=(CLIENT, "-")) as http:
        ask = lambda: http.post(provider.token_url, data=form, timeout=0.3)
        for failure, status in [("500", 500), ("503", 503), ("429", 429), ("json", 200), ("echo", 400)]:
            provider.set(failure=failure, retry_after="7")
            response = ask()
            assert (response.status_code, response.headers.get("retry-after")) == (status, "7" if status == 429 else None)
        provider.set(failure="hang")
        with pytest.raises(httpx.ReadTimeout):
            ask()
        for _ in range(2):
            provider.die()
            with pytest.raises(httpx.ConnectError):
                ask()
            provider.revive()
            assert provider.fetch()["expires_in"] == 3600
        provider.set(latency=0.1)
        began = time.monotonic()
        provider.fetch()
        assert time.monotonic() - began >= 0.1
    assert [fetch.result for fetch in provider.fetches()] == [500, 503, 429, 200, 400, None, 200, 200, 200]
