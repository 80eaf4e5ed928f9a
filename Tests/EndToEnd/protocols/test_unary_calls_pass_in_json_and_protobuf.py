"""A published client calls a published server through Martlet, with headers and trailers intact."""

import pytest
from connectrpc.client import ResponseMetadata

from support.servers.eliza import Client


@pytest.mark.parametrize("codec", ["json", "proto"])
@pytest.mark.parametrize("use_get", [False, True], ids=["post", "get"])
def test_unary(martlet, eliza, codec, use_get):
    proxy = martlet(upstream=eliza.url)
    with ResponseMetadata() as metadata:
        headers = {"authorization": "Bearer mine"}
        response = Client(proxy.url, codec).say("hello, ☃!", use_get=use_get, headers=headers)
    assert response == "Eliza heard hello, ☃!"
    assert metadata.headers["seen-authorization"] == "Bearer mine"
    assert metadata.trailers["x-cost"] == "237"
