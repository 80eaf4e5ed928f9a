"""A redirect sends no token and no secret to another server."""

import pytest


def redirect(url, status=307):
    return f"HTTP/1.1 {status} Redirect\r\nlocation: {url}/taken\r\ncontent-length: 0\r\n\r\n".encode()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_of_an_identity_provider(martlet, recorder, status):
    elsewhere, upstream = recorder(), recorder()
    provider = recorder(redirect(elsewhere.url, status))
    source = f"token_url: {provider.url}/token, client_id: me, client_secret: {{ value: s3cret-of-me }}"
    proxy = martlet(upstream=upstream.url, more=f"interceptors: [ {{ token: {{ oauth2: {{ {source} }}, wait: 100ms }} }} ]")
    with proxy.http() as http:
        response = http.get("/")
    assert response.status_code == 503 and f"the response has the status {status}" in response.text
    assert provider.requests and elsewhere.connections == [] and upstream.connections == []


def test_of_an_upstream(martlet, recorder):
    elsewhere = recorder()
    upstream = recorder(redirect(elsewhere.url))
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { token: { value: t0ken } } ]")
    with proxy.http() as http:
        response = http.get("/")
    assert (response.status_code, response.headers["location"]) == (307, f"{elsewhere.url}/taken")
    assert b"t0ken" in upstream.bytes and elsewhere.connections == []
