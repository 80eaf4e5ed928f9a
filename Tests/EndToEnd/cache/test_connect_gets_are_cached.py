"""Connect made GETs for methods without side effects so that caches can serve them."""

import gzip

import pytest
from cache.origin import FRESH, response
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from support.protocol import CONNECT_GET, CONNECT_UNARY_JSON
from support.servers.eliza import Client
from support.servers.eliza_messages import messages

VARY = "vary: accept-encoding"


def say(request, *fields):
    """A response in the codec of the request, compressed if the caller can read that."""
    is_json = "encoding=json" in request.target
    message = messages.SayResponse(sentence=f"response {len(request.seen)}")
    body = b'{"sentence":"%b"}' % message.sentence.encode() if is_json else message.SerializeToString()
    fields = [f"content-type: application/{'json' if is_json else 'proto'}", VARY, *fields]
    if "gzip" in (request.header("accept-encoding") or ""):
        return response(gzip.compress(body), *fields, "content-encoding: gzip")
    return response(body, *fields)


def caller(proxy, *arguments, **options):
    """The published client. It does not compress requests: gzip has the time in it, and so would the URL."""
    return Client(proxy.url, *arguments, send_compression=None, **options)


@pytest.fixture
def start(recorder):
    """A Connect server that numbers its responses."""

    def run(*fields):
        def send(request):
            request.seen = upstream.requests
            return say(request, *(fields or [FRESH]))

        upstream = recorder(send)
        return upstream

    return run


@pytest.mark.parametrize("codec", ["proto", "json"])
@pytest.mark.parametrize("http", [1, 2])
def test_the_published_client_gets_the_stored_response(cached, start, codec, http):
    upstream = start()
    client = caller(cached(upstream), codec, http)
    assert [client.say("hello", use_get=True) for _ in range(3)] == ["response 1"] * 3
    assert client.say("bye", use_get=True) == "response 2"
    assert len(upstream.requests) == 2


def test_each_caller_gets_a_compression_that_it_reads(cached, start):
    upstream = start()
    proxy = cached(upstream)
    plain, packed = (caller(proxy, accept_compression=accepted) for accepted in ((), (GzipCompression(),)))
    texts = [client.say("hello", use_get=True) for client in (plain, packed, plain, packed)]
    assert texts == ["response 1", "response 2", "response 1", "response 2"]
    assert len(upstream.requests) == 2


def test_codecs_are_kept_apart(cached, start):
    upstream = start()
    proxy = cached(upstream)
    clients = [caller(proxy, codec) for codec in ("proto", "json")]
    assert [client.say("hello", use_get=True) for client in clients * 2] == ["response 1", "response 2"] * 2


def test_without_cache_control_nothing_is_stored(cached, start):
    upstream = start("x-own: 1")
    client = caller(cached(upstream))
    assert [client.say("hello", use_get=True) for _ in range(2)] == ["response 1", "response 2"]


def test_an_error_is_not_stored(cached, recorder):
    """Not even one whose status could be, as that of not_found."""

    def send(request):
        return response(b'{"code":"not_found","message":"%d"}' % len(upstream.requests), FRESH, "content-type: application/json", status=404)

    upstream = recorder(send)
    client = caller(cached(upstream))
    for number in "12":
        with pytest.raises(ConnectError) as caught:
            client.say("hello", use_get=True)
        assert caught.value.message == number


def test_a_post_is_not_stored(cached, start):
    upstream = start()
    with cached(upstream).http() as http:
        for _ in range(2):
            CONNECT_UNARY_JSON.call(http)
        assert len(upstream.requests) == 2


def test_a_post_does_not_get_what_a_get_has_stored(cached, start):
    upstream = start()
    with cached(upstream).http() as http:
        CONNECT_GET.call(http)
        CONNECT_UNARY_JSON.call(http)
        CONNECT_GET.call(http)
    assert [request.method for request in upstream.requests][:2] == ["GET", "POST"]


def test_trailers_of_the_response_are_stored(cached, start):
    upstream = start(FRESH, "trailer-x-cost: 237")
    with cached(upstream).http() as http:
        assert [CONNECT_GET.call(http).headers["trailer-x-cost"] for _ in range(2)] == ["237"] * 2
    assert len(upstream.requests) == 1
