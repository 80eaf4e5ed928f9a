"""The smallest useful file: listen, upstream, and a token that the application never sees."""

from connectrpc.client import ResponseMetadata

from support.servers.eliza import Client


def test_the_header_arrives(martlet, eliza, tmp_path):
    (tmp_path / "token").write_text("s3cret\n")
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {eliza.url}
        interceptors:
          - token: {{ file: {tmp_path}/token }}
        """
    )
    with ResponseMetadata() as metadata:
        assert Client(proxy.url).say("hello!") == "Eliza heard hello!"
    assert metadata.headers["seen-authorization"] == "Bearer s3cret"
