"""Headers and messages can be logged, and their secrets are not."""

import json

from support import protocol
from support.http1.recorder import JSON

CHAIN = """
interceptors:
  - log: { headers: [authorization, x-session, x-tenant, x-key] }
  - message: { on: request, tee: stdout }
  - redact: { headers: X-Session, json: [/sentence] }
  - token: { env: TOKEN, header: x-key }
"""


def test_secrets(martlet, recorder):
    upstream = recorder(response=JSON)
    proxy = martlet(upstream=upstream.url, more=CHAIN, environment={"TOKEN": "s3cret-token"})
    headers = {"authorization": "Bearer s3cret", "x-session": "s3cret-session", "x-tenant": "one"}
    with proxy.http() as http:
        protocol.CONNECT_UNARY_JSON.call(http, headers=headers)
        protocol.CONNECT_UNARY_PROTO.call(http, headers=headers)
    proxy.stdout.wait(r'"headers":', count=2)
    lines = [json.loads(line) for line in proxy.stdout]
    logged = [line["headers"] for line in lines if "headers" in line]
    expected = {"authorization": "***", "x-session": "***", "x-tenant": "one", "x-key": "***"}
    assert logged == [expected] * 2
    assert [line["payload"] for line in lines if "payload" in line] == ['{"sentence":"***"}', None]
    assert "s3cret" not in proxy.stdout.text and "hello" not in proxy.stdout.text
    (first, second) = upstream.requests[:2]
    assert (first.header("x-key"), first.header("x-session")) == ("Bearer s3cret-token", "s3cret-session")
    assert first.body == protocol.HELLO_JSON and second.body == protocol.HELLO_PROTO
