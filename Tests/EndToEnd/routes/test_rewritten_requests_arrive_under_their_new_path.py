"""`rewrite` changes path, query and host of plain HTTP and RPC requests. Callers get responses in their own protocol."""

import grpc
import pytest

from support.http1.recorder import JSON
from support.protocol import CONNECT_UNARY_JSON
from support.servers.grpc_service import SERVICE


def chain(*rules):
    return "interceptors:\n" + "".join(f"  - {rule}\n" for rule in ("metrics: {}", "log: {}", *rules))


def test_plain_requests(martlet, recorder):
    upstream = recorder()
    rules = (
        'rewrite: { path: { prefix: /v1/, with: /v2/ }, query: { set: { who: "{header:x-who}" }, remove: [debug] } }',
        'rewrite: { path: { pattern: "/v(\\\\d)/", with: "/version-$1/" }, authority: "api.example:8443" }',
    )
    with martlet(upstream=upstream.url, more=chain(*rules)).http() as http:
        response = http.get("/v1/items?debug=1&a=%7e&who=me", headers={"x-who": "a&b c"})
        assert (response.status_code, response.text) == (200, "ok")
        assert http.get("/other?x").status_code == 200
    first, second = upstream.requests
    assert first.target == "/version-2/items?a=%7e&who=a%26b%20c"
    assert first.header("host") == "api.example:8443"
    assert second.target == "/other?x&who="


def test_a_grpc_call_of_another_name(martlet, grpc_service, grpc_channel):
    rule = f'rewrite: {{ path: {{ prefix: /old.Service/, with: /{SERVICE}/ }} }}'
    proxy = martlet(upstream=grpc_service().url, more=chain(rule))
    channel = grpc.insecure_channel(proxy.addresses[0], options=[("grpc.enable_http_proxy", 0)])
    try:
        assert channel.unary_unary("/old.Service/Unary")(b"hello", timeout=5) == b"hello"
        assert list(channel.unary_stream("/old.Service/Download")(b"3", timeout=5)) == [b"0", b"1", b"2"]
    finally:
        channel.close()
    counted = proxy.metrics().select("martlet_rpc_handled_total", rpc_service=SERVICE, code="ok")
    assert {labels["rpc_method"] for labels, value in counted if value} == {"Unary", "Download"}


def test_a_connect_call_stays_a_connect_call(martlet, recorder):
    upstream = recorder(response=JSON)
    rules = ("rewrite: { path: /plain }", "{ when: { path: /plain, header: { x-no: present } }, reject: { code: aborted } }")
    with martlet(upstream=upstream.url, more=chain(*rules)).http() as http:
        assert CONNECT_UNARY_JSON.call(http, "/pkg.Service/Say").json() == {}
        rejected = CONNECT_UNARY_JSON.call(http, "/pkg.Service/Say", {"x-no": "1"})
    assert (rejected.status_code, rejected.json()["code"]) == (409, "aborted")
    assert upstream.requests[0].target == "/plain"


@pytest.mark.parametrize("value", ["a b", "a?b", "a#b"])
def test_an_invalid_path_is_not_forwarded(martlet, recorder, value):
    upstream = recorder()
    with martlet(upstream=upstream.url, more=chain('rewrite: { path: "/{header:x-path}" }')).http() as http:
        response = CONNECT_UNARY_JSON.call(http, "/pkg.Service/Say", {"x-path": value})
        assert (response.status_code, response.json()["code"]) == (500, "internal")
        assert "path" in response.json()["message"]
        assert http.get("/x", headers={"x-path": "a%20b"}).status_code == 200
    assert [request.target for request in upstream.requests] == ["/a%20b"]
