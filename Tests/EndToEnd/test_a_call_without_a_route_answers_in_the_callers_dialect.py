"""Where no route matches, the call is unimplemented, and the answer names its path."""

import pytest

from support import dialect


@pytest.mark.parametrize("caller", dialect.ALL, ids=str)
def test_no_route(martlet, recorder, caller):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        routes:
          - match: {{ service: other.v1.Service }}
        """
    )
    with proxy.http() as http:
        answer = caller.call(http)
    assert (answer.status_code, answer.headers["content-type"]) == (caller.status(404), caller.answer_type)
    message = "no route for /connectrpc.eliza.v1.ElizaService/Say"
    assert answer.content == caller.error("unimplemented", 12, message)
    assert upstream.connections == []
