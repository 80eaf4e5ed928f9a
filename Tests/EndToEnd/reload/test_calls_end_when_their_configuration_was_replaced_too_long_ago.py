"""`drain.generation` bounds how long calls may outlive a reload. `martlet status` lists the configurations that they use."""

import httpx
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.servers.eliza import Client
from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: {url}\ndrain: {{ generation: {limit} }}\n"


@pytest.mark.parametrize("http", [1, 2])
def test_a_stream_of_rpc(martlet, command, start_eliza, http):
    eliza = start_eliza()
    url = eliza.h2c_url if http == 2 else eliza.url
    proxy = martlet(CONFIGURATION.format(url=url, limit="none"))
    sentences = Client(proxy.url, http=http).introduce("Ann")
    assert next(sentences) == "Hi Ann, I am Eliza"
    proxy.reload()
    lines = command("status", "-c", proxy.file).stdout.text.splitlines()
    assert any(line.startswith("  generation 1: 1 call, loaded ") and ", replaced " in line for line in lines), lines
    proxy.reload(CONFIGURATION.format(url=url, limit="10ms"))
    with pytest.raises(ConnectError) as error:
        list(sentences)
    assert error.value.code == Code.UNAVAILABLE
    assert "(drain.generation); call again" in error.value.message
    assert proxy.metrics().total("martlet_limit_hits_total", limit="generation") == 1
    proxy.stderr.wait("drain.generation is reached; ending calls of an older configuration")
    eventually(lambda: proxy.metrics().total("martlet_config_generations_live") == 1, what="the end of the old ones")
    status = command("status", "-c", proxy.file).stdout.text
    assert "generation: 3\n" in status and "  generation " not in status


def test_a_download(martlet, recorder):
    def begin(peer):
        peer.request()
        peer.send(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc")
        peer.request()

    upstream = recorder(script=begin)
    proxy = martlet(CONFIGURATION.format(url=upstream.url, limit="none"))
    with proxy.http() as caller, caller.stream("GET", "/") as response:
        chunks = response.iter_raw()
        assert next(chunks) == b"abc"
        proxy.reload(CONFIGURATION.format(url=upstream.url, limit="10ms"))
        with pytest.raises(httpx.ReadError):
            next(chunks)
    assert proxy.metrics().total("martlet_limit_hits_total", limit="generation") == 1
