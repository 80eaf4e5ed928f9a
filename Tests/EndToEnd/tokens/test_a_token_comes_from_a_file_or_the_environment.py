"""The value is sent in the configured header and format, and replaces what the caller sent there."""

import pytest

PLAIN = {"Authorization": "Bearer stolen"}


@pytest.mark.parametrize("source", ["file: {directory}/token", "env: SECRET"], ids=["file", "env"])
def test_where_it_comes_from(martlet, recorder, tmp_path, source):
    (tmp_path / "token").write_text("s3cret\n")
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ {source.format(directory=tmp_path)} }}
        """,
        environment={"SECRET": "s3cret"},
    )
    with proxy.http() as http:
        assert http.get("/", headers=PLAIN).text == "ok"
    assert upstream.requests[0].values("authorization") == ["Bearer s3cret"]
    assert "s3cret" not in proxy.stderr.text + proxy.admin("/config").text


def test_header_and_format(martlet, recorder):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors:
          - token: {{ env: SECRET, header: x-api-key, format: "key={{token}};v=1" }}
        """,
        environment={"SECRET": "s3cret"},
    )
    with proxy.http() as http:
        http.get("/", headers=PLAIN)
    request = upstream.requests[0]
    assert request.header("x-api-key") == "key=s3cret;v=1"
    assert request.header("authorization") == "Bearer stolen"


def test_a_token_that_is_gone_does_not_come_back(martlet, recorder, tmp_path):
    upstream = recorder()
    plain = f"listen: 127.0.0.1:0\nupstream: {upstream.url}\n"
    file = tmp_path / "token"
    file.write_text("old")
    with_token = plain + f"interceptors: [{{ token: {{ file: {file}, on_error: {{ code: aborted }} }} }}]\n"
    proxy = martlet(with_token)
    with proxy.http() as http:
        assert http.get("/").status_code == 200
        proxy.reload(plain)
        file.unlink()
        proxy.reload(with_token)
        assert http.get("/").status_code == 409
    assert len(upstream.requests) == 1
