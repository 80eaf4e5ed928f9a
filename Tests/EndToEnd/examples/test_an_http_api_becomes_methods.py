"""`resources.yaml` and `resources-bodies.yaml`: methods of RPC are exact requests to an HTTP API."""

import json

import pytest
from support.martlet import BINARY, ENVIRONMENT
from support.program import Program
from support.servers.http_api import response

PAGE = {"page": 1, "results": {"first": "The Birds"}, "total_pages": 1}
CONNECT = {"connect-protocol-version": "1"}


def call(proxy, method, message):
    with proxy.http() as http:
        return http.post(f"/{method}", json=message, headers=CONNECT)


@pytest.fixture
def movies(example, api):
    server = api(lambda request, number: response(200, PAGE))
    return example("resources", server, MOVIES_TOKEN="secret"), server


def test_a_search(movies):
    proxy, server = movies
    assert call(proxy, "Movies/Search", {"query": "the birds"}).json() == PAGE
    assert call(proxy, "Movies/Search", {"query": "birds", "year": 1963, "includeAdult": True}).json() == PAGE
    assert server.targets == [
        "/3/search/movie?query=the%20birds&include_adult=false",
        "/3/search/movie?query=birds&include_adult=true&year=1963",
    ]
    assert {request.header("authorization") for request in server.requests} == {"Bearer secret"}
    missing = call(proxy, "Movies/Search", {})
    assert missing.json() == {"code": "invalid_argument", "message": "the parameter query is required"}
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["upcoming", "popular", "top_rated"])
def test_a_ranking(movies, name):
    proxy, server = movies
    assert call(proxy, "Rankings/List", {"list": name}).json() == PAGE["results"]
    assert call(proxy, "Rankings/List", {"list": name, "page": 2}).json() == PAGE["results"]
    assert server.targets == [f"/3/movie/{name}?page=1", f"/3/movie/{name}?page=2"]


def test_a_ranking_that_is_none(movies):
    proxy, server = movies
    wrong = call(proxy, "Rankings/List", {"list": "worst"}).json()
    assert wrong["message"] == "the parameter list must be one of: upcoming, popular, top_rated"
    assert call(proxy, "Rankings/Sort", {}).json() == {"code": "unimplemented", "message": "there is no such method"}
    assert server.requests == []


def test_the_command_of_the_example(movies, running, tmp_path):
    proxy, server = movies
    file = tmp_path / "command.yaml"
    file.write_text(proxy.file.read_text().replace("127.0.0.1:0", proxy.addresses[0]))
    words = [BINARY, "call", "-c", file, "Movies/Search", "query=the birds", "year=1963"]
    command = running(Program(words, env=ENVIRONMENT | {"MOVIES_TOKEN": "x"}))
    assert command.exit_code() == 0, command.stderr.text
    assert json.loads(command.stdout.text) == PAGE
    assert server.targets == ["/3/search/movie?query=the%20birds&include_adult=false&year=1963"]


@pytest.fixture
def blog(example, api):
    server = api(lambda request, number: response(201, {"id": 101}))
    return example("resources-bodies", server), server


def test_a_part_of_the_path(blog):
    proxy, server = blog
    assert call(proxy, "Todos/Get", {"id": 1}).json() == {"id": 101}
    assert call(proxy, "Todos/Get", {"id": "1/2"}).status_code == 200
    # A server may decode the slashes.
    for value in ("1/../2", "../1", "1\\..", "1\0"):
        assert call(proxy, "Todos/Get", {"id": value}).json()["code"] == "invalid_argument"
    assert call(proxy, "Todos/Get", {"id": ".."}).json()["code"] == "invalid_argument"
    assert call(proxy, "Todos/Get", {"id": ""}).json()["code"] == "invalid_argument"
    assert server.targets == ["/todos/1", "/todos/1%2F2"]


def test_json_keeps_its_types(blog):
    proxy, server = blog
    call(proxy, "Posts/Create", {"title": "foo", "body": 'b"ar', "userId": 1})
    call(proxy, "Posts/Create", {"title": "foo", "body": "bar", "user_id": 1, "draft": True})
    assert [(request.method, request.target, request.body) for request in server.requests] == [
        ("POST", "/posts", b'{"title":"foo","body":"b\\"ar","userId":1}'),
        ("POST", "/posts", b'{"title":"foo","body":"bar","userId":1,"draft":true}'),
    ]
    assert server.requests[0].header("content-type") == "application/json"


def test_a_form(blog):
    proxy, server = blog
    with proxy.http() as http:
        http.post("/Accounts/LogIn", json={"username": "Michael Bublé", "password": "a&b"}, headers=CONNECT | {"user-agent": "me"})
    (request,) = server.requests
    assert (request.method, request.target) == ("POST", "/login?full=1&autosignout=30")
    assert request.body == b"username=Michael%20Bubl%C3%A9&pwd=a%26b"
    assert request.header("content-type") == "application/x-www-form-urlencoded"
    assert request.header("x-client") == "me"
