"""The log, the admin page and, for local callers, the response show what each interceptor did and which one decided."""

import json

import pytest

from support import protocol

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - log: {{}}
  - headers: {{ request: {{ set: {{ x-secret: "v3ry-secret" }}, remove: [x-no] }} }}
  - name: closed
    when: {{ header: {{ x-closed: present }} }}
    reject: {{ code: permission_denied, message: "no" }}
"""
CALLERS = [protocol.CONNECT_UNARY_JSON, protocol.CONNECT_STREAM_PROTO, protocol.GRPC_WEB, protocol.PLAIN]
CLOSED = 'martlet; error=http_request_denied; details="rejected at request_head by interceptor closed"'


def trace(record):
    return [(note["interceptor"], note["event"], note["verdict"], note.get("changes")) for note in record["trace"]]


EXPECTED = [
    ("headers", "request_head", "next", ["added x-secret"]),
    ("closed", "request_head", "reject", None),
]


@pytest.mark.parametrize("caller", CALLERS, ids=str)
def test_a_rejected_call(martlet, recorder, caller):
    proxy = martlet(CONFIGURATION.format(url=recorder().url))
    with proxy.http(headers={"x-closed": "1"}) as http:
        response = caller.call(http)
    assert response.headers["proxy-status"] == CLOSED
    record = json.loads(proxy.stdout.wait("permission_denied").string)
    assert trace(record) == EXPECTED
    page = proxy.admin("/calls/recent")
    (call,) = page.json()["calls"]
    assert call["call"] == record["call"]
    assert trace(call) == EXPECTED
    assert "v3ry-secret" not in page.text + proxy.stdout.text


def test_a_successful_call(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(url=recorder().url))
    with proxy.http() as http:
        for _ in range(40):
            response = protocol.PLAIN.call(http)
            assert "proxy-status" not in response.headers
    assert "trace" not in json.loads(proxy.stdout.wait("decided_by").string)
    calls = proxy.admin("/calls/recent").json()["calls"]
    assert 1 <= len(calls) < 40  # a sample of them
    assert all(trace(call) == EXPECTED[:1] and call["trace"][0]["ms"] >= 0 for call in calls)
    assert proxy.metrics().total("martlet_interceptor_duration_seconds_count", interceptor="headers") == len(calls)


def test_an_unreachable_upstream(martlet):
    proxy = martlet(CONFIGURATION.format(url="http://127.0.0.1:1"))
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_JSON.call(http)
    assert response.headers["proxy-status"].startswith('martlet; error=connection_refused; details="upstream default: ')


def test_it_can_be_turned_off(martlet, recorder):
    text = CONFIGURATION.format(url=recorder().url)
    text = text.replace("listen: 127.0.0.1:0", "listeners: [ { address: 127.0.0.1:0, proxy_status: off } ]")
    with martlet(text).http(headers={"x-closed": "1"}) as http:
        assert "proxy-status" not in protocol.CONNECT_UNARY_JSON.call(http).headers


def test_only_the_last_calls_are_kept(martlet, recorder):
    proxy = martlet(CONFIGURATION.format(url=recorder().url), more="")
    with proxy.http(headers={"x-closed": "1"}) as http:
        for _ in range(90):
            protocol.CONNECT_UNARY_JSON.call(http)
    kept = proxy.admin("/calls/recent").json()["calls"]
    assert 0 < len(kept) <= 64 * 4
    assert [call["time"] for call in kept] == sorted((call["time"] for call in kept), reverse=True)
