"""A web page in a browser cannot use the credentials that Martlet adds."""

import httpx
import pytest

from support import protocol
from support.http2 import h2_peer

CONFIGURATION = """
listeners:
  - address: 127.0.0.1:0
    {options}
upstream: {url}
interceptors:
  - metrics: {{}}
  - token: {{ env: SECRET }}
"""
EVIL = {"origin": "https://evil.example"}
ORIGIN = 'web pages of this origin are not allowed; add the origin to the origins of the listener'
HOST = 'the listener does not accept the host of the request; add the host to its hosts'


@pytest.fixture
def start(martlet):
    def start(upstream, options="allow_remote: false"):
        text = CONFIGURATION.format(url=upstream.url, options=options)
        return martlet(text, environment={"SECRET": "s3cret"})

    return start


@pytest.mark.parametrize("caller", protocol.ALL, ids=str)
def test_another_origin(start, recorder, caller):
    upstream = recorder()
    proxy = start(upstream)
    with proxy.http() as http:
        response = caller.call(http, headers=EVIL)
        assert response.status_code == caller.status(403)
        assert response.content == caller.error("permission_denied", 7, ORIGIN)
        assert not any(name.startswith("access-control") for name in response.headers)
        assert upstream.connections == []
        assert caller.call(http).status_code == 200  # without a page, on the same connection
    assert proxy.metrics().total("martlet_rejected_requests_total", reason="origin") == 1
    assert proxy.metrics().total("martlet_rpc_handled_total") == 1  # no interceptor has seen the other


@pytest.mark.parametrize("caller", protocol.ALL, ids=str)
def test_another_name_for_our_address(start, recorder, caller):
    upstream = recorder()
    proxy = start(upstream, "hosts: [localhost, '*.internal']")
    with proxy.http() as http:
        response = caller.call(http, headers={"host": "evil.example"})
        assert response.status_code == caller.status(421)
        assert response.content == caller.error("permission_denied", 7, HOST)
        assert upstream.connections == []
        for host in ["localhost:1", "api.internal"]:
            assert caller.call(http, headers={"host": host}).status_code == 200
    assert proxy.metrics().total("martlet_rejected_requests_total", reason="host") == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "null"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"},
    ],
)
def test_a_page_without_an_origin(start, recorder, headers):
    upstream = recorder()
    with start(upstream).http() as http:
        assert http.get("/", headers=headers).status_code == 403
        assert http.get("/", headers={"sec-fetch-site": "none"}).status_code == 200  # typed by hand
    assert len(upstream.requests) == 1


def test_a_preflight(start, recorder):
    upstream = recorder()
    headers = {"access-control-request-method": "POST"}
    with start(upstream, "origins: [ 'https://app.example' ]").http() as http:
        rejected = http.options("/", headers=headers | EVIL)
        assert rejected.status_code == 403
        assert not any(name.startswith("access-control") for name in rejected.headers)
        assert upstream.connections == []
        # One that may call is for the upstream to respond to.
        assert http.options("/", headers=headers | {"origin": "https://app.example"}).status_code == 200
    assert len(upstream.requests) == 1


def test_the_pages_that_may_call(start, recorder):
    upstream = recorder()
    proxy = start(upstream, "origins: [ 'https://app.example' ]\n    hosts: [ localhost ]")
    with proxy.http(headers={"host": "localhost"}) as http:
        for origin in ["https://app.example", "http://localhost"]:
            assert http.post("/", headers={"origin": origin}).status_code == 200
        for origin in ["https://localhost", "http://app.example", "https://evil.example"]:
            assert http.post("/", headers={"origin": origin}).status_code == 403
    assert len(upstream.requests) == 2
    proxy.reload(proxy.file.read_text().replace("https://app.example", "https://next.example"))
    with proxy.http(headers={"host": "localhost"}) as http:
        assert http.post("/", headers={"origin": "https://app.example"}).status_code == 403
        assert http.post("/", headers={"origin": "https://next.example"}).status_code == 200


def test_any_page(start, recorder):
    upstream = recorder()
    with start(upstream, "origins: any").http() as http:
        for origin in ["null", "https://evil.example"]:
            assert http.post("/", headers={"origin": origin}).status_code == 200


def test_no_browser_reaches_a_unix_socket(martlet, recorder, tmp_path):
    upstream = recorder()
    path = tmp_path / "rpc.sock"
    martlet(f"listen: unix:{path}\nupstream: {upstream.url}\n")
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as http:
        assert http.post("/", headers=EVIL).status_code == 200


def test_callers_of_grpc(start, h2_recorder):
    upstream = h2_recorder()
    caller = start(upstream).connect_h2()
    fields = [*h2_peer.grpc_request("/a.B/C"), ("origin", "https://evil.example")]
    call = caller.finish(caller.open(fields, end=True))
    assert (call.grpc(), call.grpc("grpc-message")) == ("7", ORIGIN)
    assert upstream.connections == []


def test_the_rule_that_rejected_is_shown(start, recorder):
    proxy = start(recorder())
    with proxy.http() as http:
        response = http.post("/", headers=EVIL)
    details = ORIGIN.replace('"', r'\"')
    assert response.headers["proxy-status"] == f'martlet; error=http_request_denied; details="{details}"'
    proxy.stderr.wait(r"request rejected.*reason=origin.*https://evil\.example")
    (call,) = proxy.admin("/calls/recent").json()["calls"]
    assert (call["decided_by"], call["status"]) == ("martlet", 403)
    assert "trace" not in call or call["trace"] == []
