"""`rpc` serves unary calls of gRPC, gRPC-Web and Connect POSTs from the cache, as nobody else does."""

import itertools
import threading

import grpc
import pytest
from cache.origin import response
from support.protocol import CONNECT_UNARY_JSON, CONNECT_UNARY_PROTO, GRPC_WEB, GRPC_WEB_TEXT, SAY, envelope
from support.raw_call import response_parts
from support.servers.grpc_service import SERVICE, descriptor_set

RPC = {"methods": [f"{SERVICE}/*"], "ttl": "30s"}
ELIZA = {"methods": ["connectrpc.eliza.v1.ElizaService/*"], "ttl": "30s"}


class Counting:
    """A gRPC method that responds with its number, and with metadata at both ends."""

    def __init__(self, *metadata, code=None):
        self.numbers, self.count, self._metadata, self._code = itertools.count(1), 0, metadata, code

    def __call__(self, request, context):
        self.count = next(self.numbers)
        context.send_initial_metadata([("x-own", str(self.count)), *self._metadata])
        context.set_trailing_metadata([("x-cost", str(237 + self.count)), ("x-data-bin", b"\0\1")])
        if self._code:
            context.abort(self._code, "no")
        return request + b" %d" % self.count


@pytest.fixture
def start(cached, grpc_service, grpc_channel):
    """A channel to a daemon with a cache before a gRPC server with this method."""

    def run(unary=None, download=None, **options):
        functions = {name: function for name, function in (("Unary", unary), ("Download", download)) if function}
        proxy = cached(grpc_service(functions), **{"rpc": RPC} | options)
        channel = grpc_channel(proxy)
        channel.proxy = proxy
        return channel

    return run


# gRPC


def test_a_hit_makes_no_call_and_ends_with_the_stored_trailers(start):
    method = Counting()
    channel = start(method)
    ends = []
    for _ in range(3):
        body, call = channel.unary.with_call(b"a")
        assert body == b"a 1"
        assert ("x-own", "1") in call.initial_metadata()
        assert call.code() is grpc.StatusCode.OK
        ends.append({pair for pair in call.trailing_metadata() if pair[0] in ("x-cost", "x-data-bin")})
    assert ends == [{("x-cost", "238"), ("x-data-bin", b"\0\1")}] * 3
    assert method.count == 1
    assert channel.proxy.metrics().total("martlet_cache_requests_total", result="hit") == 2


def test_the_whole_message_is_the_key(start):
    method = Counting()
    channel = start(method)
    large = b"x" * 100_000
    texts = [channel.unary(message) for message in (b"a", b"b", b"", large + b"1", large + b"2", b"a", b"", large + b"1")]
    assert texts == [b"a 1", b"b 2", b" 3", large + b"1 4", large + b"2 5", b"a 1", b" 3", large + b"1 4"]


def test_methods_that_are_not_listed_are_called(start):
    method = Counting()
    channel = start(method, rpc={"methods": [f"{SERVICE}/Other"], "ttl": "30s"})
    assert [channel.unary(b"a") for _ in range(2)] == [b"a 1", b"a 2"]


def test_without_rpc_nothing_is_stored(start):
    method = Counting(("cache-control", "max-age=60"))
    channel = start(method, rpc={"methods": []})
    assert [channel.unary(b"a") for _ in range(2)] == [b"a 1", b"a 2"]


def test_the_metadata_of_the_response_may_say_how_long(start):
    method = Counting(("cache-control", "max-age=60"))
    channel = start(method, rpc={"methods": RPC["methods"]})
    assert [channel.unary(b"a") for _ in range(2)] == [b"a 1", b"a 1"]


def test_without_a_time_nothing_is_stored(start):
    method = Counting()
    channel = start(method, rpc={"methods": RPC["methods"]})
    assert [channel.unary(b"a") for _ in range(2)] == [b"a 1", b"a 2"]


def test_the_metadata_of_the_response_may_forbid_it(start):
    method = Counting(("cache-control", "no-store"))
    channel = start(method)
    assert [channel.unary(b"a") for _ in range(2)] == [b"a 1", b"a 2"]


def test_a_status_that_is_an_error_is_not_stored(start):
    method = Counting(code=grpc.StatusCode.NOT_FOUND)
    channel = start(method)
    for _ in range(2):
        with pytest.raises(grpc.RpcError):
            channel.unary(b"a")
    assert method.count == 2


def test_authorization_is_not_shared(start):
    method = Counting()
    channel = start(method)
    users = [[("authorization", f"Bearer {name}")] for name in "aba"]
    assert [channel.unary(b"a", metadata=user) for user in users] == [b"a 1", b"a 2", b"a 3"]


def test_tenants_have_responses_of_their_own(start):
    method = Counting()
    channel = start(method, key="{header:x-tenant}")
    assert [channel.unary(b"a", metadata=[("x-tenant", tenant)]) for tenant in "abab"] == [b"a 1", b"a 2", b"a 1", b"a 2"]


def test_streams_are_never_stored(start):
    """Neither those of the server nor those of the caller, although the methods are listed."""
    numbers = itertools.count(1)

    def download(request, context):
        number = next(numbers)
        yield from (b"%d" % number,) * 2

    channel = start(download=download)
    assert [list(channel.download(b"a")) for _ in range(2)] == [[b"1", b"1"], [b"2", b"2"]]
    assert [channel.upload(iter([part, b"b"])) for part in (b"a", b"c")] == [b"ab", b"cb"]
    assert list(channel.converse(iter([b"a", b"b"]))) == [b"a", b"b"]


def test_types_tell_a_stream_with_one_message_from_a_unary_call(start, tmp_path):
    """On the wire they are the same."""
    numbers = itertools.count(1)

    def download(request, context):
        yield b"%d" % next(numbers)

    types = tmp_path / "types.binpb"
    types.write_bytes(descriptor_set())
    channel = start(download=download, file={"types": {"files": [str(types)]}})
    assert [list(channel.download(b"a")) for _ in range(2)] == [[b"1"], [b"2"]]


def test_a_stream_is_not_held_back(start):
    """Its first message arrives while the server waits."""
    resume = threading.Event()

    def download(request, context):
        yield b"first"
        assert resume.wait(20)
        yield b"last"

    messages = iter(start(download=download).download(b"a"))
    assert next(messages) == b"first"
    resume.set()
    assert list(messages) == [b"last"]


def test_compressions_are_kept_apart(start):
    """A caller that reads no gzip never gets it."""
    method = Counting()
    channel = start(method)
    message = b"x" * 10000
    for compression in (grpc.Compression.Gzip, grpc.Compression.NoCompression) * 2:
        assert channel.unary(message, compression=compression).startswith(message)


# gRPC-Web and Connect


def upstream_of(recorder, caller):
    """An upstream of HTTP/1.1 whose responses have numbers."""
    kind, message, end = response_parts(caller.content_type)

    def send(request):
        return response(message + end, f"content-type: {kind}", f"x-number: {len(upstream.requests)}")

    upstream = recorder(send)
    return upstream, message + end


@pytest.mark.parametrize("caller", [CONNECT_UNARY_JSON, CONNECT_UNARY_PROTO, GRPC_WEB, GRPC_WEB_TEXT], ids=str)
def test_other_protocols(cached, recorder, caller):
    upstream, body = upstream_of(recorder, caller)
    with cached(upstream, rpc=ELIZA).http() as http:
        calls = [caller.call(http) for _ in range(3)]
    assert [(one.headers["x-number"], one.content) for one in calls] == [("1", body)] * 3
    assert len(upstream.requests) == 1


def test_protocols_and_codecs_are_kept_apart(cached, recorder):
    """Each gets a response that it can read."""

    def send(request):
        kind = request.header("content-type")
        _, message, end = response_parts(kind)
        return response(message + end, f"content-type: {kind}")

    upstream = recorder(send)
    callers = [CONNECT_UNARY_JSON, CONNECT_UNARY_PROTO, GRPC_WEB, GRPC_WEB_TEXT]
    with cached(upstream, rpc=ELIZA).http() as http:
        for caller in callers * 2:
            assert caller.call(http).headers["content-type"] == caller.content_type
    assert len(upstream.requests) == len(callers)


@pytest.mark.parametrize("caller", [CONNECT_UNARY_JSON, GRPC_WEB], ids=str)
def test_an_error_is_not_stored(cached, recorder, caller):
    def send(request):
        if caller is GRPC_WEB:
            return response(envelope(0x80, b"grpc-status: 5\r\n"), f"content-type: {caller.content_type}")
        return response(b'{"code":"not_found"}', "content-type: application/json", status=404)

    upstream = recorder(send)
    with cached(upstream, rpc=ELIZA).http() as http:
        for _ in range(2):
            caller.call(http)
    assert len(upstream.requests) == 2


def test_a_grpc_web_response_without_trailers_is_not_stored(cached, recorder):
    kind, message, _ = response_parts(GRPC_WEB.content_type)
    upstream = recorder(lambda request: response(message, f"content-type: {kind}"))
    with cached(upstream, rpc=ELIZA).http() as http:
        for _ in range(2):
            GRPC_WEB.call(http)
    assert len(upstream.requests) == 2


def test_a_plain_post_to_the_path_of_a_method_is_not_stored(cached, recorder):
    upstream = recorder(lambda request: response(b"body"))
    with cached(upstream, rpc=ELIZA).http() as http:
        for _ in range(2):
            http.post(SAY, content=b"a", headers={"content-type": "text/plain"})
    assert len(upstream.requests) == 2
