"""The kind `call` makes an HTTP request of the parameters in a message, and responds with its JSON, in every protocol."""

import base64
import json
import subprocess
import threading
from pathlib import Path

import grpc
import pytest
from support.protocol import envelope
from support.schemas import Classes, compiled
from support.servers.http_api import response
from support.wait import eventually

from named_calls.api import FOUND, SEARCH, configuration

SCHEMAS = Path(__file__).parent / "schemas"
JSON = {"content-type": "application/json"}
CONNECT = {"connect-protocol-version": "1"}


@pytest.fixture
def api(recorder):
    return recorder(response=response(200, FOUND))


@pytest.fixture(scope="session")
def schema():
    return compiled(SCHEMAS, "movies.proto")


@pytest.fixture
def typed(martlet, api, schema, tmp_path):
    (tmp_path / "movies.binpb").write_bytes(schema)
    return martlet(configuration(api.url, f"types: {{ files: [{tmp_path}/movies.binpb] }}"))


def search(http, message, path="/Movies/Search", **headers):
    return http.post(path, json=message, headers=CONNECT | headers)


def test_connect_in_json(martlet, api):
    with martlet(configuration(api.url)).http() as http:
        found = search(http, {"query": "the birds & more"})
        assert (found.status_code, found.json(), found.headers["content-type"]) == (200, FOUND, "application/json")
        search(http, {"query": "é", "year": 1963, "includeAdult": True})
    assert [(request.method, request.target, request.body) for request in api.requests] == [
        ("GET", "/3/search/movie?query=the%20birds%20%26%20more&include_adult=false", b""),
        ("GET", "/3/search/movie?query=%C3%A9&include_adult=true&year=1963", b""),
    ]


@pytest.mark.parametrize(
    "content_type, content, wanted",
    [
        ("application/grpc-web+json", envelope(0, b'{"query":"x"}'), envelope(0, json.dumps(FOUND, separators=(",", ":")).encode())),
        ("application/connect+json", envelope(0, b'{"query":"x"}'), envelope(0, json.dumps(FOUND, separators=(",", ":")).encode())),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_envelopes_in_json(martlet, api, content_type, content, wanted):
    with martlet(configuration(api.url)).http() as http:
        found = http.post("/Movies/Search", content=content, headers={"content-type": content_type})
    assert (found.status_code, found.headers["content-type"]) == (200, content_type)
    assert found.content.startswith(wanted)
    assert api.requests[0].target == "/3/search/movie?query=x&include_adult=false"


def grpc_json(proxy, message):
    """A call of gRPC with JSON, which no published client for Python makes; returns its output with the trailers."""
    fields = [word for name in ("content-type: application/grpc+json", "te: trailers") for word in ("-H", name)]
    curl = ["curl", "-s", "-D", "-", "--http2-prior-knowledge", *fields, "--data-binary", "@-", f"{proxy.url}/Movies/Search"]
    return subprocess.run(curl, input=envelope(0, message), capture_output=True, timeout=20, check=True).stdout


def test_grpc_in_json(martlet, api):
    proxy = martlet(configuration(api.url))
    found = grpc_json(proxy, b'{"query":"x"}')
    assert envelope(0, json.dumps(FOUND, separators=(",", ":")).encode()) in found and b"grpc-status: 0" in found
    wrong = grpc_json(proxy, b"{}")
    assert b"grpc-status: 3" in wrong and b"grpc-message: the parameter query is required" in wrong
    assert [request.target for request in api.requests] == ["/3/search/movie?query=x&include_adult=false"]


def test_grpc_in_protobuf_if_the_types_are_known(typed, api, schema):
    classes = Classes(schema)
    request, reply = classes["films.v1.SearchRequest"], classes["films.v1.SearchResponse"]
    with grpc.insecure_channel(typed.addresses[0]) as channel:
        call = channel.unary_unary("/films.v1.Movies/Search", request.SerializeToString, reply.FromString)
        found = call(request(query="x", include_adult=True, year=1963), timeout=10)
        assert (found.total_results, found.results[0].id, found.results[0].title) == (1, 7, "The Birds")
        with pytest.raises(grpc.RpcError) as error:
            call(request(), timeout=10)
    assert (error.value.code(), error.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "the parameter query is required")
    assert [request.target for request in api.requests] == ["/3/search/movie?query=x&include_adult=true&year=1963"]


def test_members_of_a_newer_api_are_left_out_of_protobuf(typed, api, schema):
    api.response = response(200, {"page": 1, **FOUND})
    classes = Classes(schema)
    body = classes["films.v1.SearchRequest"](query="x").SerializeToString()
    with typed.http() as http:
        found = http.post("/films.v1.Movies/Search", content=body, headers={"content-type": "application/proto"})
    assert found.status_code == 200, found.text
    assert classes["films.v1.SearchResponse"].FromString(found.content).total_results == 1


def frames(content):
    """The payloads of envelopes without flags."""
    found = []
    while content:
        size = int.from_bytes(content[1:5])
        found += [content[5 : 5 + size]] if content[0] == 0 else []
        content = content[5 + size :]
    return found


# What the API sends, and the message that callers in JSON get.
TYPED = {
    "more": ({"page": 1, **FOUND}, {"results": [{"id": "7", "title": "The Birds"}], "totalResults": 1}),
    "more within": ({"results": [{"id": 7, "year": 1963}]}, {"results": [{"id": "7"}]}),
    "another spelling": ({"totalResults": 2}, {"totalResults": 2}),
    "defaults": ({"results": [], "total_results": 0}, {}),
    "null": ({"results": None, "total_results": 3}, {"totalResults": 3}),
    "nothing that is known": ({"page": 1}, {}),
}


@pytest.mark.parametrize("name", TYPED)
def test_members_of_a_newer_api_are_left_out_of_json(typed, api, name):
    value, expected = TYPED[name]
    api.response = response(200, value)
    message, path = b'{"query":"x"}', "/films.v1.Movies/Search"
    with typed.http() as http:
        unary = http.post(path, content=message, headers=JSON)
        assert (unary.status_code, unary.json()) == (200, expected)
        web = http.post(path, content=envelope(0, message), headers={"content-type": "application/grpc-web+json"})
        assert json.loads(frames(web.content)[0]) == expected
        query = "connect=v1&encoding=json&message=%7B%22query%22%3A%22x%22%7D"
        assert http.get(f"{path}?{query}").json() == expected
    fields = [word for field in ("content-type: application/grpc+json", "te: trailers") for word in ("-H", field)]
    curl = ["curl", "-s", "--http2-prior-knowledge", *fields, "--data-binary", "@-", f"{typed.url}{path}"]
    ran = subprocess.run(curl, input=envelope(0, message), capture_output=True, timeout=20, check=True)
    assert json.loads(frames(ran.stdout)[0]) == expected


@pytest.mark.parametrize("body", [b"[1]", b'{"total_results":"many"}', b'{"results":{}}'])
def test_a_result_of_another_type_is_an_error(typed, api, body):
    api.response = response(200, body)
    with typed.http() as http:
        found = http.post("/films.v1.Movies/Search", json={"query": "x"})
    assert (found.status_code, found.json()["code"]) == (500, "internal")


# Details of errors of the API, and the types and bytes that a caller of Connect gets; Martlet knows no other types.
DETAILS = [
    ({"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "count"}]}, ("google.rpc.BadRequest", b"\n\x07\n\x05count")),
    ({"@type": "type.googleapis.com/google.rpc.BadRequest", "field_violations": []}, ("google.rpc.BadRequest", b"")),
    ({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "A", "domain": "b"}, ("google.rpc.ErrorInfo", b"\n\1A\x12\1b")),
    ({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "metadata": {"k": "v"}}, ("google.rpc.ErrorInfo", b"\x1a\6\n\1k\x12\1v")),
    ({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}, ("google.rpc.RetryInfo", b"\n\2\x08\2")),
    ({"@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "d"}, ("google.rpc.DebugInfo", b"\x12\1d")),
    ({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"subject": "s"}]}, ("google.rpc.QuotaFailure", b"\n\3\n\1s")),
    ({"@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "r"}, ("google.rpc.RequestInfo", b"\n\1r")),
    ({"@type": "type.googleapis.com/google.rpc.ResourceInfo", "owner": "o"}, ("google.rpc.ResourceInfo", b"\x1a\1o")),
    ({"@type": "type.googleapis.com/google.rpc.Help", "links": [{"url": "u"}]}, ("google.rpc.Help", b"\n\3\x12\1u")),
    ({"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "de"}, ("google.rpc.LocalizedMessage", b"\n\2de")),
    ({"@type": "type.googleapis.com/google.protobuf.Duration", "value": "2s"}, ("google.protobuf.Duration", b"\x08\2")),
    ({"@type": "type.googleapis.com/a.B", "value": "CAE="}, ("a.B", b"\x08\1")),
]


@pytest.mark.parametrize("wraps", [False, True], ids=["a status", "an error"])
def test_details_of_google_rpc_need_no_types(martlet, api, wraps):
    status = {"code": 9, "message": "m", "details": [detail for detail, _ in DETAILS] + [{"@type": "t/a.C", "more": 1}]}
    api.response = response(400, {"error": {**status, "status": "FAILED_PRECONDITION"}} if wraps else status)
    with martlet(configuration(api.url)).http() as http:
        error = search(http, {"query": "x"}).json()
    assert (error["code"], error["message"]) == ("failed_precondition", "m")
    assert [(detail["type"], base64.b64decode(detail["value"] + "==")) for detail in error["details"]] == [expected for _, expected in DETAILS]


def test_protobuf_without_types_is_an_error(martlet, api):
    with martlet(configuration(api.url)).http() as http:
        found = http.post("/Movies/Search", content=b"\n\1x", headers=CONNECT | {"content-type": "application/proto"})
    assert (found.status_code, found.json()["code"]) == (501, "unimplemented")
    assert api.requests == []


def test_plain_http_has_parameters_in_the_query_or_in_json(martlet, api):
    api.response = response(404, b"<p>none</p>", "text/html", x_more=1)
    with martlet(configuration(api.url)).http() as http:
        found = http.get("/search?query=a+b%26&year=1963")
        assert (found.status_code, found.text) == (404, "<p>none</p>")
        assert (found.headers["content-type"], found.headers["x-more"]) == ("text/html", "1")
        http.put("/search?year=1", content=b'{"query":"x"}', headers=JSON)
        form = http.put("/search", content=b'{"query":"x"}', headers={"content-type": "text/plain"})
        assert form.status_code == 415
        assert http.get("/search?year=1").status_code == 400
    assert [request.target for request in api.requests] == [
        "/3/search/movie?query=a%20b%26&include_adult=false&year=1963",
        "/3/search/movie?query=x&include_adult=false&year=1",
    ]


@pytest.mark.parametrize(
    "message, text",
    [
        ({}, "the parameter query is required"),
        ({"query": None}, "the parameter query is required"),
        ({"query": "x", "include_adult": "maybe"}, "the parameter include_adult must be one of: true, false"),
        ({"qery": "x"}, 'the parameter "qery" is unknown; did you mean "query"?'),
        ({"query": ["x"]}, "the parameter query cannot be an array or an object; send a single value"),
        ({"query": "x", "include_adult": True, "includeAdult": True}, "the request has the parameter include_adult twice"),
        ([], "the request is no JSON object"),
    ],
    ids=str,
)
def test_a_request_that_does_not_fit_is_told_why(martlet, api, message, text):
    with martlet(configuration(api.url)).http() as http:
        found = search(http, message)
    assert (found.status_code, found.json()) == (400, {"code": "invalid_argument", "message": text})
    assert api.requests == []


@pytest.mark.parametrize(
    "status, value, code, text",
    [
        (404, {"message": "no such movie"}, "not_found", "no such movie"),
        (401, {"error": {"message": "bad key", "status": "UNAUTHENTICATED"}}, "unauthenticated", "bad key"),
        (422, {"error": "odd"}, "unknown", "odd"),
        (404, {"code": 7, "message": "a number of the API's own"}, "not_found", "a number of the API's own"),
        (400, {"code": 9, "message": "not now"}, "failed_precondition", "not now"),
        (403, {"title": "Forbidden", "detail": "not you"}, "permission_denied", "not you"),
        (503, b"<p>", "unavailable", "HTTP status 503"),
        (302, b"", "unknown", "HTTP status 302"),
    ],
)
def test_an_error_of_the_api_is_an_error_of_the_call(martlet, api, status, value, code, text):
    api.response = response(status, value)
    with martlet(configuration(api.url)).http() as http:
        found = search(http, {"query": "x"})
    assert found.json() == {"code": code, "message": text}


@pytest.mark.parametrize(
    "bytes_of_it, code, text",
    [
        (response(200, b"<p>"), "internal", "call search_movie: the response is not valid JSON"),
        (response(200, b"x" * (1 << 20) + b"x"), "resource_exhausted", "call search_movie: the response exceeds 1048576 bytes"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", "unavailable", "upstream search_movie: "),
    ],
    ids=["html", "large", "short"],
)
def test_a_response_that_is_none_is_an_error(martlet, api, bytes_of_it, code, text):
    api.script = lambda peer: (peer.request(), peer.send(bytes_of_it))
    with martlet(configuration(api.url)).http() as http:
        found = search(http, {"query": "x"})
    assert found.json()["code"] == code
    assert found.json()["message"].startswith(text)


def test_the_limit_of_messages_holds_for_responses(martlet, api):
    api.response = response(200, b"x" * 1001)
    text = configuration(api.url).replace("listen: 127.0.0.1:0", "listeners: [{ address: 127.0.0.1:0, limits: { held_message: 1000B } }]")
    proxy = martlet(text)
    with proxy.http() as http:
        found = search(http, {"query": "x"}).json()
        sent = search(http, {"query": "x" * 1000}).json()
    assert found["code"] == sent["code"] == "resource_exhausted"
    assert found["message"] == "upstream search_movie: the response exceeds limits.held_message (1000 bytes)"
    assert proxy.metrics().total("martlet_limit_hits_total", limit="held_message") == 2


@pytest.mark.parametrize("query", ["", "?connect=v1&encoding=json&message=%7B%22query%22%3A%22x%22%7D"])
def test_a_link_has_nothing_done(martlet, api, query):
    calls = SEARCH.replace("    parameters:", "    method: POST\n    parameters:", 1)
    with martlet(configuration(api.url, calls=calls)).http() as http:
        path = "/Movies/Search" if query else "/search?query=x"
        found = http.get(path + query)
        assert (found.status_code, found.headers.get("allow")) == (405, None if query else "POST")
        assert api.requests == []
        assert http.post("/search?query=x").status_code == 200
    assert api.requests[0].method == "POST"


def test_connect_may_ask_with_get(martlet, api):
    with martlet(configuration(api.url)).http() as http:
        found = http.get("/Movies/Search?connect=v1&encoding=json&message=%7B%22query%22%3A%22x%22%7D")
    assert (found.status_code, found.json()) == (200, FOUND)


def test_a_reload_leaves_calls_under_way(martlet, recorder):
    asked, reloaded = threading.Event(), threading.Event()

    def late(request):
        asked.set()
        assert reloaded.wait(20)
        return response(200, FOUND)

    api = recorder(response=late)
    proxy = martlet(configuration(api.url))
    found = []

    def call():
        with proxy.http(timeout=30) as http:
            found.append(search(http, {"query": "x"}).json())

    thread = threading.Thread(target=call)
    thread.start()
    assert asked.wait(20)
    proxy.reload(configuration(api.url, chain="[ { reject: { code: unavailable } } ]"))
    reloaded.set()
    thread.join()
    assert found == [FOUND]
    with proxy.http() as http:
        assert search(http, {"query": "x"}).json()["code"] == "unavailable"


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body_passes(martlet, api, status):
    api.response = f"HTTP/1.1 {status} X\r\netag: e\r\n\r\n".encode()
    with martlet(configuration(api.url)).http() as http:
        found = http.get("/search?query=x")
        assert (found.status_code, found.content, found.headers["etag"]) == (status, b"", "e")
        assert "content-length" not in found.headers
        head = http.head("/search?query=x")
        assert (head.status_code, head.content) == (status, b"")


def test_nothing_is_an_empty_message(martlet, api):
    api.response = response(204, b"", None)
    with martlet(configuration(api.url)).http() as http:
        assert search(http, {"query": "x"}).json() == {}


def test_the_result_may_be_a_part(martlet, api):
    chain = "[ { call: { name: search_movie, result: 'json:/results/0' } } ]"
    with martlet(configuration(api.url, chain=chain)).http() as http:
        assert search(http, {"query": "x"}).json() == {"id": 7, "title": "The Birds"}
        plain = http.get("/search?query=x")
        assert (plain.json(), plain.headers["content-type"]) == ({"id": 7, "title": "The Birds"}, "application/json")
        api.response = response(200, {"results": []})
        assert search(http, {"query": "x"}).json() == {
            "code": "internal",
            "message": "call search_movie: the response has no /results/0",
        }


def test_equal_calls_at_a_time_are_each_made(martlet, recorder):
    """Two that order the same thing order it twice."""
    barrier = threading.Barrier(2, timeout=20)

    def both(request):
        barrier.wait()
        return response(200, FOUND)

    api = recorder(response=both)
    proxy = martlet("workers: 1\n" + configuration(api.url))
    statuses = []

    def call():
        with proxy.http() as http:
            statuses.append(search(http, {"query": "x"}).status_code)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200, 200]


def test_an_api_that_is_not_there(martlet):
    with martlet(configuration("http://127.0.0.1:1")).http() as http:
        found = search(http, {"query": "x"})
    assert found.json()["code"] == "unavailable"
    assert "cannot connect to 127.0.0.1:1" in found.json()["message"]


def test_a_silent_api_costs_only_the_timeout(martlet, recorder):
    api = recorder(script=lambda peer: (peer.request(), peer.rest()))
    chain = "[ { call: { name: search_movie, timeout: 300ms } } ]"
    with martlet(configuration(api.url, chain=chain)).http() as http:
        found = search(http, {"query": "x"})
    assert found.json() == {"code": "deadline_exceeded", "message": "call search_movie: no response within the time limit"}


@pytest.mark.parametrize("leaves", [True, False], ids=["the caller leaves", "the deadline passes"])
def test_the_request_ends_with_the_call(martlet, recorder, leaves):
    ended = []
    api = recorder(script=lambda peer: (peer.request(), ended.append(peer.rest())))
    proxy = martlet(configuration(api.url))
    with proxy.http() as http:
        if leaves:
            with pytest.raises(Exception):
                http.post("/Movies/Search", json={"query": "x"}, headers=CONNECT, timeout=0.5)
        else:
            found = search(http, {"query": "x"}, **{"connect-timeout-ms": "300"})
            assert found.json()["code"] == "deadline_exceeded"
    proxy.wait_for_rest()
    eventually(lambda: ended == [b""], what="the end of the request to the API")


def test_logs_and_metrics_know_it_by_its_name(martlet, api):
    proxy = martlet(configuration(api.url))
    with proxy.http() as http:
        search(http, {"query": "x"})
    line = eventually(lambda: proxy.admin("/calls/recent").json()["calls"], what="the record of the call")[0]
    assert (line["upstream"], line["decided_by"], line["code"]) == ("search_movie", "interceptor:call", "ok")
    assert proxy.metrics().total("martlet_upstream_attempts_total", upstream="search_movie") == 1


def test_a_rule_in_front_retries_it(martlet, recorder):
    responses = [response(503, {"message": "busy"}, retry_after=0), response(200, FOUND)]
    api = recorder(response=lambda request: responses.pop(0))
    rule = "{ when: { code: unavailable }, retry: { immediate: {}, allow_non_idempotent: true } }"
    chain = f"[ {{ validate: {{ max_retries: 1, rules: [ {rule} ] }} }}, {{ call: search_movie }} ]"
    with martlet(configuration(api.url, chain=chain)).http() as http:
        assert search(http, {"query": "x"}).json() == FOUND
    assert len(api.requests) == 2
