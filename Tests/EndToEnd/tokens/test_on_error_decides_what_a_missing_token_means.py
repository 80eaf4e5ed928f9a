"""Without a value the call is rejected as configured, or continues without the header. A value that arrives late is used."""

from support import protocol
from support.wait import eventually

CONFIGURATION = """
listen: 127.0.0.1:0
upstream: {url}
interceptors:
  - token: {{ file: {directory}/token, on_error: {on_error} }}
"""
REFUSE = '{ code: unknown, message: "auth token fetch failed" }'


def test_rejected(martlet, recorder, tmp_path):
    upstream = recorder()
    proxy = martlet(CONFIGURATION.format(url=upstream.url, directory=tmp_path, on_error=REFUSE))
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_PROTO.call(http)
        assert (response.status_code, response.content) == (500, b'{"code":"unknown","message":"auth token fetch failed"}')
        assert upstream.connections == []
        (tmp_path / "token").write_text("late")
        eventually(lambda: protocol.CONNECT_UNARY_PROTO.call(http).status_code == 200, what="the late value")
    assert upstream.requests[0].header("authorization") == "Bearer late"


def test_unavailable_by_default(martlet, recorder, tmp_path):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ file: {tmp_path}/token }}
        """
    )
    with proxy.http() as http:
        response = protocol.CONNECT_UNARY_PROTO.call(http)
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert upstream.connections == []


def test_continue(martlet, recorder, tmp_path):
    upstream = recorder()
    proxy = martlet(CONFIGURATION.format(url=upstream.url, directory=tmp_path, on_error="continue"))
    with proxy.http() as http:
        assert http.get("/", headers={"authorization": "Bearer mine"}).text == "ok"
    assert "Bearer late" not in upstream.requests[0].values("authorization")
