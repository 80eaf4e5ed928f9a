"""The settings of an upstream: default headers, cookies, waiting for it, attempt timeout, retry buffer."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.http1.recorder import OK
from support.http2.h2_peer import grpc_request
from support.servers.eliza import Client
from support.wait import eventually

pytestmark = pytest.mark.waits

DOWN = b"HTTP/1.1 503 Down\r\ncontent-length: 4\r\n\r\ndown"
UNCONNECTED = "cannot connect to upstream"


@pytest.fixture
def start(martlet):
    """Starts a daemon of one worker before an upstream with these settings."""

    def run(url, rules=(), **settings):
        text = {"listen": "127.0.0.1:0", "workers": 1, "upstreams": {"default": {"url": url} | settings}}
        if rules:
            text["interceptors"] = [{"validate": {"max_retries": 2, "rules": rules}}]
        return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()))

    return run


def again(**when):
    return {"when": when, "retry": {"immediate": {}, "allow_non_idempotent": True}}


# Defaults

DEFAULTS = {
    "headers": {"x-tenant": "acme", "user-agent": "martlet", "x-path": "{path} of {header:x-own}"},
    "query": {"key": "a b&c", "lang": "it"},
}


def test_requests_get_missing_headers_and_parameters(start, recorder):
    upstream = recorder()
    with start(upstream.url, defaults=DEFAULTS).http() as http:
        http.get("/a?b=1", headers={"x-own": "1", "x-tenant": "mine"})
        http.post("/b", content=b"body")
    first, second = upstream.requests
    assert (first.target, second.target) == ("/a?b=1&key=a%20b%26c&lang=it", "/b?key=a%20b%26c&lang=it")
    assert (first.header("x-tenant"), second.header("x-tenant")) == ("mine", "acme")
    assert first.header("user-agent").startswith("python-httpx")
    assert (first.header("x-path"), second.body) == ("/a of 1", b"body")


def test_a_parameter_of_the_request_overrides_the_default(start, recorder):
    upstream = recorder()
    with start(upstream.url, defaults=DEFAULTS).http() as http:
        http.get("/a?lang=de")
    assert upstream.requests[0].target == "/a?lang=de&key=a%20b%26c&lang=it"


def test_a_retried_request_gets_its_defaults_once(start, recorder):
    upstream = recorder(lambda request: OK if len(upstream.requests) > 2 else DOWN)
    with start(upstream.url, [again(status=503)], defaults=DEFAULTS).http() as http:
        assert http.get("/a").status_code == 200
    heard = [(one.target, one.values("x-tenant")) for one in upstream.requests]
    assert heard == [("/a?key=a%20b%26c&lang=it", ["acme"])] * 3


def test_grpc_calls_get_headers(start, grpc_service, grpc_channel):
    def unary(request, context):
        return dict(context.invocation_metadata())["x-tenant"].encode()

    defaults = {"headers": {"x-tenant": "acme"}}
    channel = grpc_channel(start(grpc_service({"Unary": unary}).url, defaults=defaults))
    assert channel.unary(b"", timeout=5) == b"acme"
    assert channel.unary(b"", metadata=[("x-tenant", "mine")], timeout=5) == b"mine"


# Cookies


def setting(*cookies):
    """An upstream that sets cookies at paths that end in /login."""
    fields = b"".join(b"set-cookie: %s\r\n" % cookie for cookie in cookies)
    with_cookies = OK.replace(b"\r\n\r\n", b"\r\n" + fields + b"\r\n")
    return lambda request: with_cookies if request.target.endswith("/login") else OK


def sent(upstream):
    return {(request.header("host"), request.target): request.header("cookie") for request in upstream.requests}


def test_cookies_are_sent_to_their_host_and_path(start, recorder):
    upstream = recorder(setting(b"session=1; Path=/; HttpOnly", b"cart=2; Path=/shop", b"own=3", b"safe=4; Secure"))
    proxy = start(upstream.url, cookies="jar", host="caller")
    with proxy.http(headers={"host": "a.example"}) as http:
        for path in ("/app/login", "/app/x", "/shop/x", "/shopping", "/"):
            assert "set-cookie" not in http.get(path).headers
        http.get("/other", headers={"host": "b.example"})
        http.get("/below", headers={"host": "c.a.example"})
    assert sent(upstream) == {
        ("a.example", "/app/login"): None,
        ("a.example", "/app/x"): "own=3; session=1",
        ("a.example", "/shop/x"): "cart=2; session=1",
        ("a.example", "/shopping"): "session=1",
        ("a.example", "/"): "session=1",
        ("b.example", "/other"): None,
        ("c.a.example", "/below"): None,
    }


def test_cookies_of_a_domain_are_sent_to_its_subdomains(start, recorder):
    upstream = recorder(setting(b"all=1; Domain=a.example", b"alien=2; Domain=b.example", b"top=3; Domain=example"))
    with start(upstream.url, cookies="jar", host="caller").http() as http:
        for host, path in [("x.a.example", "/login"), ("y.a.example", "/1"), ("b.example", "/2"), ("a.example", "/3")]:
            http.get(path, headers={"host": host})
    assert list(sent(upstream).values()) == [None, "all=1", None, "all=1"]


def test_cookies_follow_those_of_the_caller_and_expire(start, recorder):
    responses = iter([setting(b"a=1; Path=/"), setting(), setting(b"a=; Path=/; Max-Age=0"), setting()])
    upstream = recorder(lambda request: next(responses)(request))
    with start(upstream.url, cookies="jar").http() as http:
        for path in ("/login", "/", "/login", "/"):
            http.get(path, headers={"cookie": "mine=0"})
    cookies = [request.header("cookie") for request in upstream.requests]
    assert cookies == ["mine=0", "mine=0; a=1", "mine=0; a=1", "mine=0"]


@pytest.mark.parametrize(
    "cookies, seen, kept",
    [("jar", [], "a=1; b=2"), ("expose", ["a=1; Path=/", "b=2"], "a=1; b=2"), ("none", ["a=1; Path=/", "b=2"], None)],
)
def test_callers_see_cookies_as_configured(start, recorder, cookies, seen, kept):
    upstream = recorder(setting(b"a=1; Path=/", b"b=2"))
    proxy = start(upstream.url, cookies=cookies)
    with proxy.http() as http:
        assert http.get("/login").headers.get_list("set-cookie") == seen
    with proxy.http() as other:  # as the first keeps cookies itself
        other.get("/x")
    assert upstream.requests[1].header("cookie") == kept


def test_a_retried_call_has_the_cookies_of_the_first_response(start, recorder):
    with_cookies = DOWN.replace(b"\r\n\r\n", b"\r\nset-cookie: a=1\r\n\r\n")
    upstream = recorder(lambda request: OK if request.header("cookie") else with_cookies)
    with start(upstream.url, [again(status=503)], cookies="jar").http() as http:
        assert http.get("/").status_code == 200
    assert [request.header("cookie") for request in upstream.requests] == [None, "a=1"]


# Waiting for an upstream that is not there


def test_a_call_waits_until_the_server_starts(start, recorder, tmp_path):
    path = tmp_path / "up.sock"
    proxy = start(f"unix:{path}", connect_wait="10s")
    with ThreadPoolExecutor(1) as threads, proxy.http() as http:
        call = threads.submit(http.post, "/", content=b"body")
        proxy.stderr.wait(UNCONNECTED)
        assert not call.done()
        upstream = recorder(path=path)
        assert call.result(10).text == "ok"
    assert [request.body for request in upstream.requests] == [b"body"]


def test_a_grpc_call_waits_until_the_server_starts(start, grpc_service, grpc_channel):
    service = grpc_service()
    service.stop()
    proxy = start(service.url, connect_wait="10s")
    call = grpc_channel(proxy).unary.future(b"hello", timeout=10)
    proxy.stderr.wait(UNCONNECTED)
    assert not call.done()
    grpc_service(port=service.port)
    assert call.result(10) == b"hello"


def test_a_call_that_waits_in_vain_fails_after_the_wait(start, tmp_path):
    client = Client(start(f"unix:{tmp_path}/none.sock", connect_wait="300ms").url)
    began = time.monotonic()
    with pytest.raises(ConnectError) as caught:
        client.say("hello")
    assert caught.value.code == Code.UNAVAILABLE
    assert 0.3 <= time.monotonic() - began < 3


def test_a_call_that_waits_in_vain_keeps_its_deadline(start, tmp_path):
    caller = start(f"unix+h2c:{tmp_path}/none.sock", connect_wait="60s").connect_h2()
    call = caller.open(grpc_request("/a.B/C", ("grpc-timeout", "300m")), end=True)
    assert caller.finish(call).grpc() == "4"


# The time of an attempt


def silent(upstream, calls):
    """Responds to all calls but the first ones, whose connections it keeps."""

    def script(peer):
        while request := peer.request():
            upstream().requests.append(request)
            if len(upstream().requests) > calls:
                peer.send(OK)

    return script


def test_an_attempt_without_a_response_times_out(start, recorder):
    upstream = recorder(script=silent(lambda: upstream, 1))
    proxy = start(upstream.url, timeouts={"attempt": "200ms"})
    began = time.monotonic()
    with pytest.raises(ConnectError) as caught:
        Client(proxy.url).say("hello")
    assert caught.value.code == Code.DEADLINE_EXCEEDED
    assert 0.2 <= time.monotonic() - began < 3
    eventually(lambda: proxy.metrics().total("martlet_upstream_attempts_total", result="timeout") == 1)


def test_an_attempt_without_a_response_is_retried_if_a_rule_says_so(start, recorder):
    upstream = recorder(script=silent(lambda: upstream, 2))
    proxy = start(upstream.url, [again(error="timeout")], timeouts={"attempt": "100ms", "call": "5s"})
    with proxy.http() as http:
        assert http.put("/", content=b"body").text == "ok"
    assert [request.body for request in upstream.requests] == [b"body"] * 3
    assert proxy.metrics().total("martlet_retries_total", reason="rule", result="sent") == 2


def test_the_body_of_a_response_may_last_longer_than_an_attempt(start, recorder):
    def script(peer):
        peer.request()
        began = time.monotonic()
        peer.send(OK[:-1])
        eventually(lambda: time.monotonic() > began + 0.3, what="a moment beyond the time-out")
        peer.send(OK[-1:])

    with start(recorder(script=script).url, timeouts={"attempt": "100ms"}).http() as http:
        assert http.get("/").text == "ok"


# The retry buffer


@pytest.mark.parametrize(
    "retry_buffer, body, attempts", [("0B", b"x", 1), ("0B", b"", 3), ("4B", b"1234", 3), ("4B", b"12345", 1)]
)
def test_retry_buffer_limits_how_much_of_a_body_is_kept(start, recorder, retry_buffer, body, attempts):
    upstream = recorder(DOWN)
    proxy = start(upstream.url, [again(status=503)], limits={"retry_buffer": retry_buffer})
    with proxy.http() as http:
        assert http.post("/", content=body).text == "down"
    assert [request.body for request in upstream.requests] == [body] * attempts
    metrics = proxy.metrics()
    reason = "buffer" if attempts == 1 else "attempts"
    assert metrics.total("martlet_retries_total", reason="rule", result="sent") == attempts - 1
    assert metrics.counted("martlet_retries_total", "result") - {"sent"} == {reason}
