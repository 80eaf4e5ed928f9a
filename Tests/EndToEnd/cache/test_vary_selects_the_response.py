"""A response with Vary is for requests whose named fields are the same."""

import gzip
import itertools

from cache.origin import FRESH, numbered, response


def test_each_value_has_a_response_of_its_own(cached, recorder):
    upstream = recorder(numbered(FRESH, "vary: accept-language"))
    with cached(upstream).http() as http:
        assert [http.get("/", headers={"accept-language": language}).text for language in ("de", "en", "de", "en")] == ["1", "2", "1", "2"]
        assert http.get("/").text == "3"
        assert http.get("/").text == "3"
    assert len(upstream.requests) == 3


def test_all_fields_that_are_named_count(cached, recorder):
    with cached(recorder(numbered(FRESH, "vary: X-A, x-b", "vary: x-c"))).http() as http:
        seen = {}
        for values in itertools.product("12", repeat=3):
            seen[values] = http.get("/", headers=dict(zip(("x-a", "x-b", "x-c"), values))).text
        assert len(set(seen.values())) == 8
        for values, text in seen.items():
            assert http.get("/", headers=dict(zip(("x-a", "x-b", "x-c"), values)) | {"x-d": "0"}).text == text


def test_spaces_around_values_do_not_count(cached, recorder):
    upstream = recorder(numbered(FRESH, "vary: x-a"))
    caller = cached(upstream).connect()
    for field in (b"x-a: 1, 2", b"x-a:  1,2 ", b"X-A: 1\r\nx-a: 2"):
        caller.send(b"GET / HTTP/1.1\r\nhost: a.example\r\n" + field + b"\r\n\r\n")
        assert caller.response().body == b"1", field


def test_a_missing_field_is_a_value_of_its_own(cached, recorder):
    with cached(recorder(numbered(FRESH, "vary: x-a"))).http() as http:
        assert http.get("/").text == "1"
        assert http.get("/", headers={"x-a": "1"}).text == "2"
        assert http.get("/").text == "1"


def test_content_codings_are_kept_apart(cached, recorder):
    def send(request):
        if "gzip" in (request.header("accept-encoding") or ""):
            return response(gzip.compress(b"body"), FRESH, "vary: accept-encoding", "content-encoding: gzip")
        return response(b"body", FRESH, "vary: accept-encoding")

    upstream = recorder(send)
    with cached(upstream).http() as http:
        for coding, packed in (("gzip", True), ("identity", False)) * 2:
            got = http.get("/", headers={"accept-encoding": coding})
            assert (got.text, "content-encoding" in got.headers) == ("body", packed)
    assert len(upstream.requests) == 2


def test_a_response_may_vary_by_other_fields_than_the_last(cached, recorder):
    """The latest response says what selects: no caller gets one that was for another value of any field."""

    def send(request):
        by = "x-a" if request.header("x-a") else "x-b"
        return response(f"{request.header('x-a')}{request.header('x-b')}", FRESH, f"vary: {by}")

    with cached(recorder(send)).http() as http:
        for fields in ({"x-a": "1"}, {"x-b": "1"}, {"x-b": "2"}, {"x-a": "1"}, {"x-a": "2"}, {"x-b": "2"}):
            assert http.get("/", headers=fields).text == f"{fields.get('x-a')}{fields.get('x-b')}"
