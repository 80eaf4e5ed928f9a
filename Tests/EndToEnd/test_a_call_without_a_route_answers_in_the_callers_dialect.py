"""Where no route matches, the call is unimplemented, and the answer names its path.

A Connect stream learns it before it begins: by the status, as a unary call does.
"""

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
    by_status = not caller.answer_type.startswith("application/grpc-web")
    assert answer.status_code == (404 if by_status else 200)
    assert answer.headers["content-type"] == ("application/json" if by_status else caller.answer_type)
    message = "no route for /connectrpc.eliza.v1.ElizaService/Say"
    assert answer.content == (dialect.PLAIN if by_status else caller).error("unimplemented", 12, message)
    assert upstream.connections == []
