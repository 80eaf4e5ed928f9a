"""If no route matches, the call is unimplemented, and the response names its path.

A Connect stream learns it before it begins: by the status, as a unary call does.
"""

import pytest

from support import protocol


@pytest.mark.parametrize("caller", protocol.ALL, ids=str)
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
        response = caller.call(http)
    by_status = not caller.response_type.startswith("application/grpc-web")
    assert response.status_code == (404 if by_status else 200)
    assert response.headers["content-type"] == ("application/json" if by_status else caller.response_type)
    message = "no route for /connectrpc.eliza.v1.ElizaService/Say"
    assert response.content == (protocol.PLAIN if by_status else caller).error("unimplemented", 12, message)
    assert upstream.connections == []
