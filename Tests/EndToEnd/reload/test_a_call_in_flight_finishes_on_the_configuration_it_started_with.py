"""A stream stays with its upstream while new calls already go to another one."""

from support.servers.eliza import Client
from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: {url}\n"


def test_a_stream_across_a_reload(martlet, start_eliza):
    first, second = start_eliza("First"), start_eliza("Second")
    proxy = martlet(CONFIGURATION.format(url=first.url))
    client = Client(proxy.url)
    sentences = client.introduce("Ann")
    assert next(sentences) == "Hi Ann, I am First"
    proxy.reload(CONFIGURATION.format(url=second.url))
    assert client.say("hello!") == "Second heard hello!"
    assert proxy.metrics().total("martlet_config_generations_live") == 2
    Client(first.url).say("go on")
    assert list(sentences) == ["First went on"]
    eventually(lambda: proxy.metrics().total("martlet_config_generations_live") == 1, what="the end of the old one")
