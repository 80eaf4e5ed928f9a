"""Stubs of plain HTTP: rules by URL, template, parameters, JSON and body; redirects, speed, raw bytes."""

import time

import pytest
from support.servers.eliza_messages import SERVICE

STUBS = """
listen: 127.0.0.1:0
{more}
mocks:
  movies:
    {options}
    rules: {rules}
interceptors: [ {{ mock: movies }} ]
"""


@pytest.fixture
def stubbed(martlet):
    def start(rules, options="", more=""):
        return martlet(STUBS.format(rules=rules, options=options, more=more))

    return start


MATCHERS = {
    "a URL": ("url: /v1/movies?page=2", ["/v1/movies?page=2"], ["/v1/movies?page=3", "/v1/movies"]),
    "a pattern": (r'url: { regex: "^/v1/.*[?&]page=[0-9]+$" }', ["/v1/movies?page=2", "/v1/?a=b&page=12"], ["/v1/movies?page=x"]),
    "a part of a URL": ("url: { contains: movies }", ["/v1/movies/7", "/?q=movies"], ["/v1/films"]),
    "a template": ("template: /v1/movies/{id}/cast", ["/v1/movies/7/cast"], ["/v1/movies//cast", "/v1/movies/7", "/v1/movies/7/cast/1"]),
    "a parameter": ("query: { page: 2 }", ["/a?page=2", "/a?x=1&page=2"], ["/a", "/a?page=20"]),
    "a parameter with escapes": ('query: { q: "a b&c" }', ["/a?q=a+b%26c", "/a?q=a%20b%26c"], ["/a?q=a", "/a?Q=a+b%26c"]),
    "no parameter": ("query: { page: absent }", ["/a", "/a?pages=1"], ["/a?page="]),
    "a header": ("header: { x-env: { regex: ^te } }", [], ["/a"]),
}


@pytest.mark.parametrize("name", MATCHERS)
def test_matchers_of_requests(stubbed, name):
    condition, good, bad = MATCHERS[name]
    proxy = stubbed(f"[ {{ when: {{ {condition} }}, respond: {{ body: here }} }} ]".replace("template: ", 'template: "').replace("/cast }", '/cast" }'))
    with proxy.http() as client:
        assert [client.get(url).text for url in good] == ["here"] * len(good)
        for url in bad:
            response = client.get(url)
            assert (response.status_code, response.json()["code"]) == (501, "unimplemented"), url
            assert "the rule at 7:14 asks for another" in response.json()["message"]


def test_parts_of_the_path_are_in_templates(stubbed):
    proxy = stubbed('[ { when: { template: "/v1/{kind}/{id}" }, respond: { json: { id: "{path:id}", of: "{path:kind}" } } } ]')
    with proxy.http() as client:
        response = client.get("/v1/movies/a%20b")
    assert (response.json(), response.headers["content-type"]) == ({"id": "a b", "of": "movies"}, "application/json")


def test_bodies_as_json_and_as_text(stubbed):
    proxy = stubbed(
        """
        [ { when: { json: { /title: { contains: Bird } } }, respond: { status: 201, json: { id: 7 } } },
          { when: { body: { regex: "^title=" } }, respond: { body: form } } ]
        """
    )
    with proxy.http() as client:
        created = client.post("/movies", json={"title": "The Birds"})
        assert (created.status_code, created.json()) == (201, {"id": 7})
        assert client.post("/movies", data={"title": "x"}).text == "form"
        other = client.post("/movies", content="x")
        assert (other.status_code, "another value at /title" in other.json()["message"]) == (501, True)


def test_other_requests_go_on_to_the_upstream(stubbed):
    upstream = stubbed("[ { respond: { echo: true, headers: { x-path: '{path}' } } } ]")
    proxy = stubbed(
        '[ { when: { path: /mocked, body: { contains: mock } }, respond: { body: mocked } } ]',
        options="unmatched: next",
        more=f"upstream: {upstream.url}",
    )
    with proxy.http() as client:
        assert client.post("/mocked", content="mock me").text == "mocked"
        assert client.post("/mocked", content="let me go " * 9000).text == "let me go " * 9000
        response = client.get("/other")
        assert (response.text, response.headers["x-path"]) == ("", "/other")


def test_a_redirect(stubbed):
    proxy = stubbed('[ { when: { path: /old }, respond: { redirect: { to: "/new{path}", status: 307 } } } ]')
    with proxy.http() as client:
        response = client.get("/old")
        assert (response.status_code, response.headers["location"], response.content) == (307, "/new/old", b"")
        rpc = client.post("/old", content=b"", headers={"content-type": "application/grpc-web+proto"})
        assert rpc.status_code == 200


def test_a_file_and_an_echo(stubbed, tmp_path):
    (tmp_path / "movie.json").write_bytes(b'{"a": 1}')
    proxy = stubbed(
        f"""
        [ {{ when: {{ path: /file }}, respond: {{ file: {tmp_path}/movie.json, headers: {{ content-type: application/json }} }} }},
          {{ when: {{ path: /echo }}, respond: {{ echo: true }} }} ]
        """
    )
    with proxy.http() as client:
        assert client.get("/file").json() == {"a": 1}
        assert client.post("/echo", content=bytes(range(256)) * 1000).content == bytes(range(256)) * 1000


@pytest.mark.waits
def test_a_response_has_its_speed(stubbed):
    proxy = stubbed('[ { respond: { speed: 56KiB, text: "%s" } } ]' % ("x" * 112 * 1024))

    def fetch():
        """The time of each piece of a response, and how long all of it took."""
        start, pieces = time.monotonic(), []
        with proxy.http() as client, client.stream("GET", "/") as response:
            for piece in response.iter_raw():
                pieces.append((time.monotonic() - start, len(piece)))
        assert sum(length for _, length in pieces) == 112 * 1024
        return pieces, time.monotonic() - start

    runs = [fetch() for _ in range(3)]
    assert all(took >= 1.8 for _, took in runs), runs
    # A machine that is busy may be late, but not each time.
    pieces, took = min(runs, key=lambda run: run[1])
    assert took <= 2.6, took
    # It comes bit by bit.
    half = next(when for when, _ in pieces if sum(length for time, length in pieces if time <= when) >= 56 * 1024)
    assert len(pieces) >= 20 and 0.8 <= half <= 1.6


def test_raw_responses_reach_the_caller_byte_by_byte(stubbed):
    proxy = stubbed(
        """
        [ { when: { path: /plain }, respond: { raw: { status: 418, headers: { x-a: [b, c], content-type: text/plain }, text: tea } } },
          { when: { header: { content-type: application/connect+json } }, respond: { raw: {
              headers: { content-type: application/connect+json },
              items: [ { text: "{}" }, { flags: 2, text: "{\\"error\\":{\\"code\\":\\"made_up\\"}}" }, { flags: 0, length: 99, hex: 00ff } ] } } } ]
        """
    )
    with proxy.http() as client:
        response = client.get("/plain")
        assert (response.status_code, response.text, response.headers["x-a"]) == (418, "tea", "b, c")
        stream = client.post(f"/{SERVICE}/Converse", content=b"", headers={"content-type": "application/connect+json"})
        assert stream.content.startswith(b"\0\0\0\0\x02{}\x02")
