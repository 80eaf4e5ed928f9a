"""By the rules of `validate` a response passes, becomes an error, is changed, or its call is retried."""

import json
import time

import grpc
import pytest
from connectrpc.code import Code
from connectrpc.errors import ConnectError

from support.concurrency import at_once
from support.protocol import SAY
from support.servers.eliza import Client
from support.servers.eliza_messages import SERVICE as ELIZA
from support.servers.grpc_service import SERVICE as BYTES
from support.wait import eventually

DATE = b"date: Sat, 28 Nov 2026 12:00:00 GMT"
GOOD = {"code": 0, "sentence": "hello"}
MISSING = {"code": 5, "errorMsg": "no order 100%"}
BROKEN = {"code": 99, "errorMsg": "disk"}

# Errors in the message of a response whose status is a success.
ERRORS = [
    {"when": {"json": {"/code": 5}}, "fail": {"code": "not_found", "message": "{json:/errorMsg}"}},
    {
        "when": {"json": {"/code": {"not": 0}}},
        "fail": {"code": "aborted", "message": "{status}: {json:/errorMsg} ({json:/code})"},
    },
]
TOLD = [(MISSING, 404, "not_found", "no order 100%"), (BROKEN, 409, "aborted", "200: disk (99)")]


def response(status=200, body=b"", *fields):
    """A response as it is on the wire; what is not bytes becomes JSON."""
    kind = b"text/plain"
    if not isinstance(body, bytes):
        kind, body = b"application/json", json.dumps(body).encode()
    lines = [b"content-type: " + kind, *fields, b"content-length: %d" % len(body)]
    return b"HTTP/1.1 %d Any\r\n" % status + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def each(*responses):
    """Returns one response after the other, the last one again and again; `times` has the moments of the requests."""

    def run(request):
        run.times.append(time.monotonic())
        return responses[min(len(run.times), len(responses)) - 1]

    run.times = []
    return run


def pauses(times):
    return [after - before for before, after in zip(times, times[1:])]


@pytest.fixture
def start(martlet):
    """Starts a daemon of one worker with these rules before an upstream with further settings."""

    def run(upstream, *rules, retries=0, settings=None, **more):
        text = {
            "listen": "127.0.0.1:0",
            "workers": 1,
            "upstreams": {"default": {"url": upstream.url} | (settings or {})},
            "interceptors": [{"validate": {"max_retries": retries, "rules": rules}}],
        }
        text = "\n".join(f"{key}: {json.dumps(value)}" for key, value in (text | more).items())
        return martlet(text, environment={"PASSWORD": "s3cret"})

    return run


def counted(proxy):
    """How often calls were retried, and why others were not, each with its number."""
    metrics = proxy.metrics()
    results = {labels["result"]: value for labels, value in metrics.select("martlet_retries_total") if value}
    return results.pop("sent", 0), results


def waiting(proxy):
    """How many calls have begun to wait before they are retried."""
    return proxy.metrics().total("martlet_interceptor_verdicts_total", verdict="suspend")


# Errors


@pytest.mark.parametrize("body, status, code, message", TOLD, ids=["one", "another"])
def test_an_error_in_the_body_is_an_error_for_a_plain_caller(start, recorder, body, status, code, message):
    with start(recorder(response(200, body)), *ERRORS).http() as http:
        reported = http.get("/orders/1")
    assert (reported.status_code, reported.json()) == (status, {"code": code, "message": message})


@pytest.mark.parametrize("body, status, code, message", TOLD, ids=["one", "another"])
def test_an_error_in_the_message_is_an_error_for_a_connect_client(start, recorder, body, status, code, message):
    client = Client(start(recorder(response(200, body)), *ERRORS).url, "json")
    with pytest.raises(ConnectError) as caught:
        client.say("hello")
    assert (caught.value.code, caught.value.message) == (Code[code.upper()], message)


def test_a_response_without_an_error_passes_unchanged(start, recorder):
    good = response(200, GOOD, b"x-own: 1", DATE)
    caller = start(recorder(good), *ERRORS).connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.read_exactly(len(good)) == good


@pytest.mark.parametrize(
    "when",
    [
        {"header": {"x-failed": "yes"}},
        {"status": 200, "header": {"x-failed": "present"}},
        {"trailer": {"x-quota": {"regex": "^0"}}},
        {"code": "ok", "trailer": {"x-quota": "0"}},
    ],
    ids=lambda when: "-".join(when),
)
def test_rules_about_heads_and_trailers_apply_to_a_grpc_client(start, grpc_service, grpc_channel, when):
    def unary(request, context):
        if request == b"bad":
            context.send_initial_metadata([("x-failed", "yes")])
            context.set_trailing_metadata([("x-quota", "0")])
        return request

    rule = {"when": when, "fail": {"code": "resource_exhausted", "message": "no more"}}
    channel = grpc_channel(start(grpc_service({"Unary": unary}), rule))
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary(b"bad", timeout=5)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "no more")
    assert channel.unary(b"good", timeout=5) == b"good"


# Changes, and none


def test_replace_changes_status_headers_and_body(start, recorder):
    change = {"status": 203, "headers": {"set": {"x-cached": "1"}, "remove": ["x-trace"]}, "json": {"code": 0}}
    proxy = start(recorder(response(200, BROKEN, b"x-trace: 7")), {"when": {"json": {"/code": 99}}, "replace": change})
    with proxy.http() as http:
        reported = http.get("/")
    assert (reported.status_code, reported.json()) == (203, {"code": 0})
    assert reported.headers["content-length"] == str(len(reported.content))
    assert (reported.headers["x-cached"], "x-trace" in reported.headers) == ("1", False)


def test_replace_changes_the_message_of_a_connect_client(start, recorder):
    rule = {"when": {"json": {"/code": 99}}, "replace": {"json": {"sentence": "come back later"}}}
    assert Client(start(recorder(response(200, BROKEN)), rule).url, "json").say("hello") == "come back later"


def test_next_skips_the_remaining_rules(start, recorder):
    upstream = recorder(each(response(200, BROKEN, b"x-final: 1"), response(200, BROKEN)))
    with start(upstream, {"when": {"header": {"x-final": "1"}}, "next": {}}, *ERRORS).http() as http:
        assert (http.get("/").json(), http.get("/").json()["code"]) == (BROKEN, "aborted")


# A retry

DOWN = response(503, b"down")
BUSY = response(200, {"busy": True})
FINE = response(200, GOOD)
GROWING = {"exponential": 2, "unit": "40ms"}


def again(when=None, **retry):
    return {"when": when or {"status": 503}, "retry": retry or {"immediate": {}}}


@pytest.mark.parametrize(
    "first, when", [(DOWN, {"status": 503}), (BUSY, {"json": {"/busy": True}})], ids=["by status", "by message"]
)
def test_a_call_is_retried_after_growing_delays_until_it_succeeds(start, recorder, first, when):
    upstream = recorder(each(first, first, first, FINE))
    proxy = start(upstream, again(when, **GROWING), retries=5)
    with proxy.http() as http:
        reported = http.put("/orders/1?x=1", content=b"body", headers={"x-own": "1"})
    assert (reported.status_code, reported.json()) == (200, GOOD)
    heard = [(one.method, one.target, one.body, one.header("x-own")) for one in upstream.requests]
    assert heard == [("PUT", "/orders/1?x=1", b"body", "1")] * 4
    for pause, minimum in zip(pauses(upstream.response.times), (0.02, 0.04, 0.08), strict=True):
        assert pause >= minimum
    assert counted(proxy) == (3, {})


def test_the_last_response_passes_unchanged_when_no_retry_is_left(start, recorder):
    responses = [response(503, b"down %d" % number, b"x-odd: a  b", b"set-cookie: a=1", DATE) for number in range(1, 5)]
    upstream = recorder(each(*responses))
    proxy = start(upstream, again(), retries=2)
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    assert caller.read_exactly(len(responses[2])) == responses[2]
    assert len(upstream.requests) == 3
    assert counted(proxy) == (2, {"attempts": 1})


def test_retry_after_extends_the_delay(start, recorder):
    upstream = recorder(each(response(503, b"", b"retry-after: 1"), FINE))
    with start(upstream, again(), retries=1).http() as http:
        assert http.get("/").status_code == 200
    assert pauses(upstream.response.times)[0] >= 0.99


def test_a_delay_beyond_the_callers_deadline_is_not_waited_for(start, recorder):
    upstream = recorder(response(429, b"", b"retry-after: 60"))
    proxy = start(upstream, again({"status": 429}), retries=1)
    with pytest.raises(ConnectError) as caught:
        Client(proxy.url, "json").say("hello", timeout_ms=5000)
    assert caught.value.code == Code.UNAVAILABLE
    assert (len(upstream.requests), *counted(proxy)) == (1, 0, {"deadline": 1})


def test_nothing_is_retried_after_the_caller_disconnects(start, recorder):
    upstream = recorder(response(503, b"", b"retry-after: 20"))
    proxy = start(upstream, again(), retries=1)
    caller = proxy.connect()
    caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n")
    eventually(lambda: waiting(proxy) == 1, what="the pause")
    caller.close()
    proxy.wait_for_rest()
    assert (len(upstream.requests), *counted(proxy)) == (1, 0, {})


def test_a_call_that_is_not_idempotent_is_not_retried(start, recorder):
    upstream = recorder(each(DOWN, FINE))
    proxy = start(upstream, again(), retries=3)
    with proxy.http() as http:
        assert http.post("/orders", content=b"one").text == "down"
    assert len(upstream.requests) == 1
    assert counted(proxy) == (0, {"not_idempotent": 1})


def test_a_method_that_may_be_called_twice_is_retried(start, recorder):
    upstream = recorder(each(DOWN, FINE))
    client = Client(start(upstream, again(methods=[f"{ELIZA}/Say"]), retries=3).url, "json")
    assert client.say("hello") == "hello"
    assert [one.target for one in upstream.requests] == [SAY] * 2


def test_the_budget_limits_retries(start, recorder):
    """A fifth of forty calls is eight."""
    upstream = recorder(DOWN)
    settings = {"retry_budget": {"ratio": "0.2", "min_per_second": 0}}
    proxy = start(upstream, again(), retries=31, settings=settings)
    with proxy.http() as http:
        assert at_once(40, lambda _: http.get("/").status_code) == [503] * 40
    assert len(upstream.requests) == 48
    assert counted(proxy) == (8, {"budget": 40})


# gRPC


class Failing:
    """A function of a gRPC service that fails so many times, and notes what each call says of attempts before it."""

    def __init__(self, times, *trailers):
        self.left, self.trailers = times, trailers
        self.previous, self.times = [], []

    def __call__(self, request, context):
        self.times.append(time.monotonic())
        self.previous.append(dict(context.invocation_metadata()).get("grpc-previous-rpc-attempts"))
        self.left -= 1
        if self.left >= 0:
            context.set_trailing_metadata(self.trailers)
            context.abort(grpc.StatusCode.UNAVAILABLE, f"{self.left} left")
        return request


@pytest.fixture
def failing(start, grpc_service, grpc_channel):
    """A channel to a service that fails, by rules that try a call twice more."""

    def run(*arguments):
        function = Failing(*arguments)
        rule = again({"code": "unavailable"}, methods=[f"{BYTES}/Unary"])
        proxy = start(grpc_service({"Unary": function}), rule, retries=2)
        return function, proxy, grpc_channel(proxy)

    return run


def test_a_grpc_retry_has_the_number_of_previous_attempts(failing):
    function, proxy, channel = failing(2)
    assert channel.unary(b"hello", timeout=5) == b"hello"
    assert function.previous == [None, "1", "2"]
    assert counted(proxy) == (2, {})


def test_the_last_error_of_a_grpc_call_passes_with_its_trailers(failing):
    function, proxy, channel = failing(9, ("x-own", "1"))
    call = channel.unary.future(b"", timeout=5)
    assert (call.code(), call.details()) == (grpc.StatusCode.UNAVAILABLE, "6 left")
    assert dict(call.trailing_metadata())["x-own"] == "1"
    assert (len(function.times), *counted(proxy)) == (3, 2, {"attempts": 1})


def test_a_delay_that_a_grpc_server_requests_is_kept(failing):
    function, _, channel = failing(1, ("grpc-retry-pushback-ms", "200"))
    assert channel.unary(b"hello", timeout=5) == b"hello"
    assert pauses(function.times)[0] >= 0.2


def test_a_grpc_server_can_forbid_a_retry(failing):
    function, proxy, channel = failing(1, ("grpc-retry-pushback-ms", "-1"))
    assert channel.unary.future(b"", timeout=5).code() == grpc.StatusCode.UNAVAILABLE
    assert (len(function.times), *counted(proxy)) == (1, 0, {"pushback": 1})


# Something else first


def guarded(name, value):
    """Accepts requests whose header has the value."""
    return lambda request: FINE if request.header(name) == value else response(401, b"who are you?")


def calls(service):
    body = {"json": {"user": "me", "password": "{env:PASSWORD}"}}
    return {"login": {"url": f"{service.url}/login", "body": body}}


LOGIN = {
    "after": "login",
    "capture": {"token": "json:/token", "session": "header:x-session"},
    "set": {"authorization": "Bearer {token}", "x-session": "{session}"},
    "max_alt": 1,
}


def test_a_rejected_call_logs_in_and_is_retried_with_the_result(start, recorder):
    login = recorder(response(200, {"token": "t0ken"}, b"x-session: s1"))
    upstream = recorder(guarded("authorization", "Bearer t0ken"))
    proxy = start(upstream, again({"status": 401}, **LOGIN), retries=3, calls=calls(login))
    with proxy.http() as http:
        assert http.post("/orders", content=b"one").json() == GOOD
    (asked,) = login.requests
    assert (asked.method, asked.target, asked.body) == ("POST", "/login", b'{"user":"me","password":"s3cret"}')
    first, second = upstream.requests
    assert (first.header("authorization"), first.body) == (None, b"one")
    assert (second.header("authorization"), second.header("x-session")) == ("Bearer t0ken", "s1")
    assert second.body == b"one"


def test_calls_that_are_rejected_together_log_in_once(start, recorder):
    upstream = recorder(guarded("authorization", "Bearer t0ken"))

    def log_in(request):
        eventually(lambda: waiting(proxy) == 8, what="eight calls that wait")
        return response(200, {"token": "t0ken"})

    login = recorder(log_in)
    proxy = start(upstream, again({"status": 401}, **LOGIN), retries=3, calls=calls(login))
    with proxy.http() as http:
        assert at_once(8, lambda _: http.get("/").status_code) == [200] * 8
    assert (len(login.requests), len(upstream.requests)) == (1, 16)


def test_a_call_that_is_rejected_again_fails(start, recorder):
    login, upstream = recorder(response(200, {"token": "old"})), recorder(guarded("authorization", "Bearer new"))
    proxy = start(upstream, again({"status": 401}, **LOGIN), retries=3, calls=calls(login))
    with pytest.raises(ConnectError) as caught:
        Client(proxy.url, "json").say("hello")
    assert caught.value.code == Code.UNAVAILABLE and "max_alt" in caught.value.message
    assert (len(login.requests), len(upstream.requests)) == (1, 2)


def test_a_program_runs_first_and_its_output_is_sent_with_the_call(start, recorder):
    upstream = recorder(guarded("x-key", "key fresh"))
    task = {"after_task": {"exec": ["/bin/echo", "fresh"]}, "capture": {"key": "text"}, "set": {"x-key": "key {key}"}}
    with start(upstream, again({"status": 401}, **task), retries=1).http() as http:
        assert http.get("/").json() == GOOD
    assert [one.header("x-key") for one in upstream.requests] == [None, "key fresh"]


def test_a_program_that_fails_is_logged_and_the_call_is_retried(start, recorder):
    upstream = recorder(each(DOWN, FINE))
    proxy = start(upstream, again(after_task={"exec": ["/bin/false"]}), retries=1)
    with proxy.http() as http:
        assert http.get("/").json() == GOOD
    proxy.stderr.wait("program before a retry failed.*/bin/false")
