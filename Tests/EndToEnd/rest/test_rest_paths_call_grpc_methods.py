"""A caller that uses REST reaches a gRPC server by the paths that `google.api.http` gives its methods."""

import base64
import gzip
import json

import pytest

from rest.things import options
from support.wait import eventually

# The request: its HTTP method, target and body; then the message that the server has got, as JSON.
CALLS = {
    # Paths
    "a variable": ("GET /v1/things/lamp", {"name": "lamp"}),
    "escapes in a variable": ("GET /v1/things/a%20b%2Fc%25%C3%BC", {"name": "a b/c%ü"}),
    "a plus sign in a path": ("GET /v1/things/a+b", {"name": "a+b"}),
    "a literal before a variable": ("GET /v1/things/special", {}),
    "a longer name than the literal": ("GET /v1/things/specials", {"name": "specials"}),
    "a variable of several segments": ("GET /v1/shelves/1/books/2", {"item": {"name": "shelves/1/books/2"}}),
    "an escaped slash in several segments": (
        "GET /v1/shelves/a%2Fb/books/c%20d",
        {"item": {"name": "shelves/a%2Fb/books/c d"}},
    ),
    "an escaped slash in small letters": ("GET /v1/files/a%2fb", {"name": "a%2fb"}),
    "all that is left": ("GET /v1/files/a/b/c", {"name": "a/b/c"}),
    "nothing is left": ("GET /v1/files/", {}),
    "numbers, truth and enumerations": ("GET /v1/counts/-7/true/RED", {"count": "-7", "isOn": True, "color": "RED"}),
    "an enumeration by number": ("GET /v1/counts/0/false/2", {"color": "BLUE"}),
    "a time, a wrapper and bytes": (
        "GET /v1/times/2026-01-02T03:04:05Z/Bo/aGk=",
        {"since": "2026-01-02T03:04:05Z", "nick": "Bo", "data": "aGk="},
    ),
    "a segment that is no variable": ("GET /v1/any/thing/lamp", {"name": "lamp"}),
    "a name with a colon": ("GET /v1/things/a:b", {"name": "a:b"}),
    "a verb behind a colon": ("POST /v1/things/lamp:cancel", {"name": "lamp"}),
    "a verb behind two colons": ("POST /v1/things/a:b:cancel", {"name": "a:b"}),
    "a path that ends with a slash": ("GET /v1/things/", {}),
    "another HTTP method": ("REPORT /v1/things", {}),
    "any HTTP method": ("PURGE /v1/anyhow", {}),
    "DELETE": ("DELETE /v1/things/lamp", {"name": "lamp"}),
    # Queries
    "a query": ("GET /v1/things?name=lamp", {"name": "lamp"}),
    "escapes in a query": ("GET /v1/things?name=a+b%2Bc%26d%C3%BC", {"name": "a b+c&dü"}),
    "an empty value": ("GET /v1/things?name=&nick=", {"nick": ""}),
    "a name without a value": ("GET /v1/things?nick", {"nick": ""}),
    "empty parameters": ("GET /v1/things?&&name=a&", {"name": "a"}),
    "numbers": ("GET /v1/things?count=9007199254740993&price=1.5e3&small=7", {"count": "9007199254740993", "price": 1500, "small": 7}),
    "no number": ("GET /v1/things?price=NaN", {"price": "NaN"}),
    "truth": ("GET /v1/things?isOn=true&flag=false", {"isOn": True, "flag": False}),
    "the name of the definition": ("GET /v1/things?is_on=true", {"isOn": True}),
    "an enumeration": ("GET /v1/things?color=BLUE", {"color": "BLUE"}),
    "a list": ("GET /v1/things?tags=a&tags=b&tags=a", {"tags": ["a", "b", "a"]}),
    "a list of numbers": ("GET /v1/things?numbers=3&numbers=-1", {"numbers": [3, -1]}),
    "a list of enumerations": ("GET /v1/things?colors=RED&colors=2", {"colors": ["RED", "BLUE"]}),
    "a field within a field": ("GET /v1/things?item.name=x&item.count=2", {"item": {"name": "x", "count": "2"}}),
    "a list within a field": ("GET /v1/things?item.tags=x&item.tags=y", {"item": {"tags": ["x", "y"]}}),
    "a time span and a mask": ("GET /v1/things?ttl=1.5s&mask=name,isOn", {"ttl": "1.500s", "mask": "name,isOn"}),
    "bytes": ("GET /v1/things?data=_-8", {"data": "/+8="}),
    "what the path says counts": ("GET /v1/things/lamp?name=bell&count=1", {"name": "lamp", "count": "1"}),
    # Parts of well-known types
    "the paths of a mask": ("GET /v1/things?mask.paths=name&mask.paths=is_on", {"mask": "name,isOn"}),
    "one path of a mask": ("GET /v1/things?mask.paths=item.name", {"mask": "item.name"}),
    "a mask without paths": ("GET /v1/things?mask=", {"mask": ""}),
    "the value of a wrapper": ("GET /v1/things?nick.value=x&flag.value=true", {"nick": "x", "flag": True}),
    "an empty value of a wrapper": ("GET /v1/things?nick.value=", {"nick": ""}),
    "the parts of a time": ("GET /v1/things?since.seconds=1&since.nanos=2", {"since": "1970-01-01T00:00:01.000000002Z"}),
    "the parts of a time in the other order": ("GET /v1/things?since.nanos=500000000&since.seconds=0", {"since": "1970-01-01T00:00:00.500Z"}),
    "one part of a time": ("GET /v1/things?since.seconds=-62135596800", {"since": "0001-01-01T00:00:00Z"}),
    "the parts of a time span": ("GET /v1/things?ttl.seconds=-3&ttl.nanos=-500000000", {"ttl": "-3.500s"}),
    "parts deeper down": (
        "GET /v1/things?inner.since.seconds=60&inner.nick.value=x&inner.mask.paths=a_b",
        {"inner": {"since": "1970-01-01T00:01:00Z", "nick": "x", "mask": "aB"}},
    ),
    "the value of a value": ("GET /v1/things?value.string_value=x", {"value": "x"}),
    "the number of a value": ("GET /v1/things?value.numberValue=1.5", {"value": 1.5}),
    "the null of a value": ("GET /v1/things?value.null_value=NULL_VALUE", {"value": None}),
    "the parts of an Any": (
        "GET /v1/things?any.type_url=type.googleapis.com/rest.v1.Item&any.value=CgF4",
        {"any": {"@type": "type.googleapis.com/rest.v1.Item", "name": "x"}},
    ),
    "parts of a time in the path": ("GET /v1/since/1/2", {"since": "1970-01-01T00:00:01.000000002Z"}),
    "one part in the path, another in the query": ("GET /v1/ttl/5?ttl.nanos=1000000", {"ttl": "5.001s"}),
    "a part in the path, the value in the body": (
        'PUT /v1/since/1 {"since": "1970-01-01T00:00:01.500Z"}',
        {"since": "1970-01-01T00:00:01.500Z"},
    ),
    "the value of a wrapper in the path": ("GET /v1/nicks/a%20b", {"nick": "a b"}),
    "the value of a wrapper in the path and the query": ("GET /v1/nicks/a?nick=b&nick.value=c", {"nick": "a"}),
    "a part in the query, the value in the body": (
        'POST /v1/things?since.nanos=7 {"since": "1970-01-01T00:00:01.5Z"}',
        {"since": "1970-01-01T00:00:01.000000007Z"},
    ),
    "a mask in the query, another in the body": ('POST /v1/things?mask.paths=a {"mask": "b,c"}', {"mask": "a"}),
    # Oneofs
    "one member of a oneof": ("GET /v1/things?shade=5", {"shade": "5"}),
    "a default as a member of a oneof": ("GET /v1/things?text=", {"text": ""}),
    "fields of one member of a oneof": ("GET /v1/things?picture.name=x&picture.tags=y&picture.tags=z", {"picture": {"name": "x", "tags": ["y", "z"]}}),
    "a member of a oneof by path and query": ("GET /v1/shades/5?shade=6", {"shade": "5"}),
    "a member of a oneof by path and body": ('PUT /v1/shades/5 {"shade": 5}', {"shade": "5"}),
    "a member of a oneof by query and body": ('POST /v1/things?shade=6 {"shade": 5}', {"shade": "6"}),
    "fields of a member by path and query": ("GET /v1/pictures/x?picture.count=2", {"picture": {"name": "x", "count": "2"}}),
    "fields of a member by query and body": ('POST /v1/things?picture.count=2 {"picture": {"name": "x"}}', {"picture": {"name": "x", "count": "2"}}),
    "a null beside a member": ('POST /v1/things?shade=6 {"text": null}', {"shade": "6"}),
    "members of two oneofs": ("GET /v1/things?shade=1&inner.text=x", {"shade": "1", "inner": {"text": "x"}}),
    "optional fields": ("GET /v1/things?level=0&height=0", {"level": 0, "height": 0}),
    "optional fields of body and query": ('POST /v1/things?level=1 {"height": 2}', {"level": 1, "height": 2}),
    # Bodies
    "the empty message of a wrapper": ("POST /v1/text", ""),
    "the message as a parameter": ("GET /v1/text?value=x", "x"),
    "a wrapper as the body": ('POST /v1/text "x"', "x"),
    "a body": ('POST /v1/things {"name": "lamp", "is_on": true}', {"name": "lamp", "isOn": True}),
    "no body": ("POST /v1/things", {}),
    "a body with all there is": (
        'POST /v1/things {"extra": {"a": [1, null]}, "labels": {"k": "v"}, "item": {"count": 3}}',
        {"extra": {"a": [1, None]}, "labels": {"k": "v"}, "item": {"count": "3"}},
    ),
    "a body and a path": ('PUT /v1/things/lamp {"count": 2}', {"name": "lamp", "count": "2"}),
    "a body that says the same as the path": ('PUT /v1/things/lamp {"name": "lamp"}', {"name": "lamp"}),
    "a body and a query": ('POST /v1/things?count=5 {"count": 2, "name": "a"}', {"count": "5", "name": "a"}),
    "a body with a list and a query": ('POST /v1/things?tags=x&tags=y {"tags": ["a"]}', {"tags": ["x", "y"]}),
    "a query within a body": (
        'POST /v1/things?item.count=5 {"item": {"name": "a"}}',
        {"item": {"name": "a", "count": "5"}},
    ),
    "a field as the body": (
        'PATCH /v1/things/lamp?count=1 {"name": "i", "count": "2"}',
        {"name": "lamp", "count": "1", "item": {"name": "i", "count": "2"}},
    ),
    "a list as the body": ('PATCH /v1/tags/lamp ["a", "b"]', {"name": "lamp", "tags": ["a", "b"]}),
    "a null as the field": ("PATCH /v1/things/lamp null", {"name": "lamp"}),
}

# The request; then the HTTP status and the words of the error.
ERRORS = {
    "an unknown parameter": ("GET /v1/things?colour=RED", 400, 'rest.v1.Thing: no field "colour", which the query names'),
    "an unknown field within": ("GET /v1/things?item.size=1", 400, 'no field "item.size"'),
    "a message": ("GET /v1/things?item=x", 400, "a query cannot have item, which is a message or a map"),
    "a map": ("GET /v1/things?labels=x", 400, "a query cannot have labels, which is a message or a map"),
    "a key of a map": ("GET /v1/things?labels.k=x", 400, 'no field "labels.k"'),
    "a structure": ("GET /v1/things?extra=x", 400, "a query cannot have extra, which is a message or a map"),
    "a parameter that comes twice": ("GET /v1/things?name=a&name=b", 400, "the query has name twice, and the field is not a list"),
    "by both names": ("GET /v1/things?is_on=true&isOn=true", 400, "the query has isOn twice, and the field is not a list"),
    "a structure by its field": ("GET /v1/things?extra.fields=x", 400, "a query cannot have extra.fields, which is a message or a map"),
    "a member of a structure": ("GET /v1/things?extra.a=x", 400, 'no field "extra.a"'),
    "a list of values": ("GET /v1/things?list.values=x", 400, "a query cannot have list.values, which is a message or a map"),
    "a value": ("GET /v1/things?value=x", 400, "a query cannot have value, which is a message or a map"),
    "an Any": ("GET /v1/things?any=x", 400, "a query cannot have any, which is a message or a map"),
    "an Any of an unknown type": ("GET /v1/things?any.type_url=t/a.B", 400, "the type a.B is not known at /any"),
    "an element of a list": ("GET /v1/things?ids.value=1", 400, 'no field "ids.value"'),
    "behind the value of a wrapper": ("GET /v1/things?nick.value.x=1", 400, 'no field "nick.value.x"'),
    "a part that no time has": ("GET /v1/things?since.minutes=1", 400, 'no field "since.minutes"'),
    "a part that is no number": ("GET /v1/things?since.seconds=now", 400, '"now" is not a value of the type int64 at /since/seconds'),
    "a time out of range": ("GET /v1/things?since.seconds=253402300800", 400, "the time is not between the years 1 and 9999 at /since"),
    "nanoseconds of another sign": ("GET /v1/things?ttl.seconds=1&ttl.nanos=-1", 400, "the duration is out of range at /ttl"),
    "a path of a mask in the form of JSON": ("GET /v1/things?mask.paths=isOn", 400, 'JSON has no text for the path "isOn"'),
    "a mask and its paths": ("GET /v1/things?mask=name&mask.paths=count", 400, "the request has mask and mask.paths, which are one value"),
    "the paths of a mask and it": ("GET /v1/things?mask.paths=count&mask=name", 400, "the request has mask.paths and mask, which are one value"),
    "a wrapper and its value": ("GET /v1/things?nick=a&nick.value=b", 400, "the query has nick.value twice, and the field is not a list"),
    "a time and a part of it": ("GET /v1/things?since=2026-01-02T03:04:05Z&since.nanos=1", 400, "the request has since and since.nanos"),
    "a time and a part deeper down": ("GET /v1/things?inner.ttl.nanos=1&inner.ttl=1s", 400, "the request has inner.ttl.nanos and inner.ttl"),
    "a part in the path and the time": ("GET /v1/ttl/5?ttl=6s", 400, "the request has ttl.seconds and ttl"),
    "a part in the path and another time in the body": ('PUT /v1/since/1 {"since": "1970-01-01T00:00:02Z"}', 400, "the body has another value of since.seconds than the path"),
    "two members of a oneof": ("GET /v1/things?shade=1&text=x", 400, "rest.v1.Thing: shade and text are of one oneof; send one of them"),
    "two members in the other order": ("GET /v1/things?text=x&shade=1", 400, "text and shade are of one oneof"),
    "a member and a field of another": ("GET /v1/things?shade=1&picture.name=x", 400, "shade and picture are of one oneof"),
    "a field of a member and another member": ("GET /v1/things?picture.name=x&shade=1", 400, "picture and shade are of one oneof"),
    "defaults of two members": ("GET /v1/things?shade=0&text=", 400, "shade and text are of one oneof"),
    "a wrapper and another member": ("GET /v1/things?caption.value=x&text=y", 400, "caption and text are of one oneof"),
    "a part of a time and another member": ("GET /v1/things?day.seconds=1&text=y", 400, "day and text are of one oneof"),
    "two members deeper down": ("GET /v1/things?inner.shade=1&inner.text=x", 400, "shade and text are of one oneof; send one of them at /inner"),
    "members by path and query": ("GET /v1/shades/5?text=x", 400, "text and shade are of one oneof"),
    "members by path and body": ('PUT /v1/shades/5 {"text": "x"}', 400, "text and shade are of one oneof"),
    "a member by path and a field of another in the body": ('PUT /v1/shades/5 {"picture": {}}', 400, "picture and shade are of one oneof"),
    "members by path and body, deeper down": ('PUT /v1/inner/5 {"inner": {"text": "x"}}', 400, "text and shade are of one oneof"),
    "members by path and a field as the body": ('PATCH /v1/shades/5 "x"', 400, "text and shade are of one oneof"),
    "members by query and body": ('POST /v1/things?shade=1 {"text": "x"}', 400, "text and shade are of one oneof"),
    "members by query and a field as the body": ('PATCH /v1/captions?text=x "y"', 400, "caption and text are of one oneof"),
    "a field of a member in the query and a member in the body": ('POST /v1/things?picture.name=x {"text": "x"}', 400, "text and picture are of one oneof"),
    "two members in the body": ('POST /v1/things {"shade": 1, "text": "x"}', 400, "another field of the same oneof is there already"),
    "an invalid number": ("GET /v1/things?count=many", 400, 'rest.v1.Thing: "many" is not a value of the type int64 at /count'),
    "a number out of range": ("GET /v1/things?small=-1", 400, "is out of the range of uint32"),
    "a fraction": ("GET /v1/counts/1.5/true/RED", 400, "is not a value of the type int64"),
    "no truth": ("GET /v1/things?is_on=yes", 400, "is_on is neither true nor false"),
    "an unknown enumeration": ("GET /v1/counts/1/true/GREEN", 400, "GREEN"),
    "an invalid time": ("GET /v1/times/today/Bo/aGk=", 400, "today"),
    "an invalid escape": ("GET /v1/things?name=%zz", 400, "name has an invalid escape"),
    "bytes that are no text": ("GET /v1/things/%ff", 400, "name is not valid UTF-8"),
    "a body where there is none": ("GET /v1/things/lamp {}", 400, "GET /v1/things/{name} has no body, but the request has one"),
    "a body that is no object": ("PUT /v1/things/lamp []", 400, "rest.v1.Thing: not an object"),
    "a body that is no JSON": ("PUT /v1/things/lamp {", 400, "rest.v1.Thing: the JSON ends too early"),
    "a body that is no JSON, as it is": ("POST /v1/things {", 400, "rest.v1.Thing: "),
    "a field of the body that is not there": ('POST /v1/things {"colour": 1}', 400, 'rest.v1.Thing: no field "colour"'),
    "a body that says something else": ('PUT /v1/things/lamp {"name": "bell"}', 400, "the body has another value of name than the path"),
    "no body where one is due": ("PATCH /v1/things/lamp", 400, "the request has no body, which is to be item"),
    "a body with a field by both names": (
        'PUT /v1/things/lamp {"isOn": true, "is_on": false}',
        400,
        "the field comes twice",
    ),
    "a body with a name twice": ('POST /v1/things {"name": "a", "name": "b"}', 400, "the field comes twice"),
    "another HTTP method": ("PUT /v1/things", 405, "the path takes GET, POST, REPORT"),
    "HEAD": ("POST /v1/things/lamp", 405, "the path takes DELETE, GET, PATCH, PUT"),
    "an unknown verb": ("POST /v1/things/lamp:stop", 405, "the path takes DELETE, GET, PATCH, PUT"),
}


def request(http, line, **options):
    method, target, *body = line.split(" ", 2)
    if body:
        options = {"content": body[0], "headers": {"content-type": "application/json"}} | options
    return http.request(method, target, **options)


@pytest.fixture(params=[1, 2], ids=["HTTP/1.1", "HTTP/2"])
def http(request, proxy):
    with proxy().http(http1=request.param == 1, http2=request.param == 2) as client:
        yield client


def test_calls(http):
    for name, (line, message) in CALLS.items():
        response = request(http, line)
        assert (name, response.status_code, response.json()) == (name, 200, message)
        assert response.headers["content-type"] == "application/json"


def test_errors(http):
    for name, (line, status, words) in ERRORS.items():
        response = request(http, line)
        assert (name, response.status_code) == (name, status), response.text
        error = response.json()
        assert error["code"] == (12 if status == 405 else 3), name
        assert words in error["message"], name
        assert response.headers["content-type"] == "application/json"
        if status == 405:
            assert response.headers["allow"] == error["message"].removeprefix("the path takes ")


def test_no_path_and_no_call_of_rpc(proxy):
    with proxy().http() as http:
        for method, path in [("GET", "/v1/nothing"), ("GET", "/"), ("GET", "/v1/things/lamp/"), ("GET", "/rest.v1.Things/Get")]:
            response = http.request(method, path)
            assert (response.status_code, response.json()["code"]) == (404, "unimplemented"), path
            words = f"it does not speak plain HTTP, and {path} is no request of RPC, and has no REST path"
            assert words in response.json()["message"]
        assert http.request("OPTIONS", "/v1/things/lamp").status_code == 404


def test_parameters_that_are_ignored(proxy):
    with proxy(types="ignore: [key, $alt]").http() as http:
        assert http.get("/v1/things?key=1&%24alt=json&name=a").json() == {"name": "a"}
        assert http.get("/v1/things?keys=1").status_code == 400


def test_other_paths_go_on_as_they_are(martlet, things, recorder, schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)
    plain = recorder(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain")
    started = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ things: {{ url: "{things.url}", speaks: grpc }}, plain: {plain.url} }}
        routes: [ {{ match: {{ service: rest.v1.Things }}, upstream: things }}, {{ upstream: plain }} ]
        types: {options(tmp_path / "things.binpb")}
        """
    )
    with started.http() as http:
        for target in ("/v1/nothing?a=b", "/v1/things/lamp/", "/v1/things//", "/v1", "/"):
            assert http.get(target).text == "plain", target
            assert plain.requests[-1].target == target
        assert http.get("/v1/things/lamp").json() == {"name": "lamp"}


def test_bodies_of_other_types(proxy):
    with proxy().http() as http:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            response = http.post("/v1/things", content="{}", headers={"content-type": kind})
            assert (response.status_code, response.json()["code"]) == (415, 3)
        assert http.post("/v1/things", content='{"name":"a"}').status_code == 415
        merged = {"content-type": "application/merge-patch+json; charset=utf-8"}
        assert http.post("/v1/things", content='{"name":"a"}', headers=merged).json() == {"name": "a"}


def test_bodies_that_are_compressed(proxy):
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    with proxy().http() as http:
        assert http.post("/v1/things", content=gzip.compress(b'{"name":"a"}'), headers=headers).json() == {"name": "a"}
        assert http.post("/v1/things", content=b"no gzip", headers=headers).status_code == 400
        headers["content-encoding"] = "rot13"
        assert http.post("/v1/things", content=b"{}", headers=headers).status_code == 415


def test_a_large_body_is_an_error(martlet, things, schema, tmp_path):
    (tmp_path / "things.binpb").write_bytes(schema)
    started = martlet(
        f"""
        listeners: [ {{ address: 127.0.0.1:0, limits: {{ held_message: 64KiB }} }} ]
        upstreams: {{ default: {{ url: "{things.url}", speaks: grpc }} }}
        types: {options(tmp_path / "things.binpb")}
        """
    )
    headers = {"content-type": "application/json"}
    with started.http() as http:
        for count, status in ((60_000, 200), (70_000, 413)):
            response = http.post("/v1/things", json={"name": "x" * count})
            assert response.status_code == status
        assert response.json() == {"code": 8, "message": "the body exceeds limits.held_message (65536 bytes)"}
        packed = gzip.compress(json.dumps({"name": "x" * 70_000}).encode())
        response = http.post("/v1/things", content=packed, headers=headers | {"content-encoding": "gzip"})
        assert (response.status_code, response.json()["code"]) == (413, 8)
        assert http.get("/v1/raw/" + "x" * 60_000).status_code in (413, 431, 429)
        assert http.get("/v1/things/lamp").json() == {"name": "lamp"}


@pytest.mark.parametrize("code", [3, 5, 7, 8, 9, 14, 16])
def test_errors_of_the_server(proxy, code):
    statuses = {3: 400, 5: 404, 7: 403, 8: 429, 9: 400, 14: 503, 16: 401}
    with proxy().http() as http:
        response = http.get(f"/v1/fail/{code}")
    assert response.status_code == statuses[code]
    assert response.json() == {
        "code": code,
        "message": "not today: 100% ☂",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": "count", "description": "odd"}],
            },
            {"@type": "type.googleapis.com/google.protobuf.Duration", "value": "90s"},
            {"@type": "type.googleapis.com/unknown.v1.Detail", "value": "CAE="},
        ],
    }


def test_parts_of_responses(proxy):
    with proxy().http() as http:
        assert http.get("/v1/parts/lamp?item.count=2").json() == {"name": "lamp", "count": "2"}
        assert http.get("/v1/parts/lamp/tags?tags=a&tags=b").json() == ["a", "b"]
        assert http.get("/v1/parts/lamp/tags").json() == []
        assert http.get("/v1/parts/lamp/is_on").json() is False
        assert http.get("/v1/parts/lamp/is_on?is_on=true").json() is True


def test_metadata_and_deadlines(proxy, things):
    with proxy().http() as http:
        response = http.get("/v1/things/lamp", headers={"x-request": "1", "x-server-timeout": "2.5"})
        assert (response.headers["seen"], response.headers["trailer-cost"]) == ("header", "237")
        assert things.metadata["x-request"] == "1"
        assert "x-server-timeout" not in things.metadata
        assert 1.5 < things.timeouts[-1] <= 2.5
        for bad in ("soon", "-1", "1e3", ""):
            assert http.get("/v1/things/lamp", headers={"x-server-timeout": bad}).status_code == 400
        late = http.get("/v1/watch/0?name=late", headers={"x-server-timeout": "0.2"})
        assert (late.status_code, late.json()["code"]) == (504, 4)


def test_bodies_of_any_type(proxy):
    with proxy().http() as http:
        response = http.get("/v1/raw/lamp")
        assert (response.content, response.headers["content-type"]) == (b"lamp\0\xff", "image/x-test")
        sent = http.post("/v1/raw", content=b"\0\1\2", headers={"content-type": "image/x-test"})
        assert sent.json() == {"name": "image/x-test", "data": base64.b64encode(b"\0\1\2").decode()}
        sent = http.put("/v1/raw/lamp", content=b"\0\1\2", headers={"content-type": "image/x-test"})
        assert sent.json() == {
            "name": "lamp",
            "file": {"contentType": "image/x-test", "data": base64.b64encode(b"\0\1\2").decode()},
        }
        exported = http.get("/v1/export/3")
        assert (exported.text, exported.headers["content-type"]) == ("0;\n1;\n2;\n", "text/csv")


@pytest.mark.parametrize("events", [False, True], ids=["lines", "events"])
def test_streams(http, things, events):
    """Each message comes at once, and an error behind one in a last line."""
    headers = {"accept": "text/event-stream"} if events else {}
    with http.stream("GET", "/v1/watch/2?name=fail", headers=headers) as response:
        assert response.status_code == 200
        kind = "text/event-stream" if events else "application/x-ndjson"
        assert response.headers["content-type"] == kind
        lines = response.iter_lines()
        for number in range(2):
            line = next(lines)
            if events:
                assert next(lines) == ""
                line = line.removeprefix("data: ")
            expected = {"name": "two\nlines"} | ({"count": str(number)} if number else {})
            assert json.loads(line) == expected
        things.resume.set()
        rest = list(lines)
    error = {"error": {"code": 15, "message": "forgot the rest"}}
    if events:
        assert rest[0] == "event: error" and rest[2:] == [""]
        assert json.loads(rest[1].removeprefix("data: ")) == error
    else:
        assert [json.loads(line) for line in rest] == [error]


def test_a_stream_that_fails_before_its_first_message(http, things):
    things.resume.set()
    response = http.get("/v1/watch/0?name=fail")
    assert (response.status_code, response.json()) == (500, {"code": 15, "message": "forgot the rest"})


def test_a_stream_without_messages(http):
    response = http.get("/v1/watch/0")
    assert (response.status_code, response.text) == (200, "")


def test_a_caller_that_leaves_ends_the_call(proxy, things):
    started = proxy()
    with started.http() as http, http.stream("GET", "/v1/watch/1?name=a") as response:
        next(response.iter_lines())
    started.wait_for_rest()


def test_rules_and_routes_see_the_method(proxy):
    """So that what is closed to one protocol is closed to all."""
    chain = """
            interceptors:
              - { reject: { code: permission_denied, message: "closed" }, when: { method: Delete } }
              - { reject: { code: aborted, message: "not by REST" }, when: { protocol: rest, method: Cancel } }
              - message: { on: request, require: { json: { /name: present } } }
            """
    with proxy(more=chain).http() as http:
        response = http.delete("/v1/things/lamp")
        assert (response.status_code, response.json()) == (403, {"code": 7, "message": "closed"})
        assert http.post("/v1/things/lamp:cancel").json()["message"] == "not by REST"
        assert http.get("/v1/things/lamp").status_code == 200
        assert http.get("/v1/things").status_code == 400


def test_the_log_and_the_metrics_tell_of_rest(proxy, tmp_path):
    log = tmp_path / "access.log"
    started = proxy(
        more=f"""
            interceptors: [ log: {{ to: {log} }}, metrics ]
            """
    )
    with started.http() as http:
        assert http.get("/v1/things/lamp").status_code == 200
    line = json.loads(eventually(lambda: log.exists() and log.read_text().splitlines(), what="the line")[-1])
    assert (line["protocol"], line["http_method"], line["path"]) == ("rest", "GET", "/v1/things/lamp")
    assert (line["service"], line["method"]) == ("rest.v1.Things", "Get")
    assert line["translated"] == "rest/json → grpc/proto"
    assert started.metrics().total("martlet_translated_total", **{"from": "rest"}) == 1
    assert started.metrics().total("martlet_rpc_handled_total", protocol="rest") == 1
