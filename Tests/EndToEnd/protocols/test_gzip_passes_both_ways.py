"""Compressed messages pass unchanged: Martlet neither decompresses nor compresses them."""

import gzip
import json

from support.servers.eliza import Client


def test_the_published_client(martlet, eliza):
    from connectrpc.compression.gzip import GzipCompression

    proxy = martlet(upstream=eliza.url)
    packing = GzipCompression()
    client = Client(proxy.url, send_compression=packing, accept_compression=[packing])
    assert client.say("hello! " * 1000) == "Eliza heard " + "hello! " * 1000


def test_the_bytes(martlet, eliza):
    proxy = martlet(upstream=eliza.url)
    headers = {
        "content-type": "application/json",
        "connect-protocol-version": "1",
        "content-encoding": "gzip",
        "accept-encoding": "gzip",
    }
    body = gzip.compress(b'{"sentence":"hello!"}')
    with proxy.http() as http:
        path = "/connectrpc.eliza.v1.ElizaService/Say"
        with http.stream("POST", path, headers=headers, content=body) as response:
            packed = b"".join(response.iter_raw())
    assert response.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed)) == {"sentence": "Eliza heard hello!"}
