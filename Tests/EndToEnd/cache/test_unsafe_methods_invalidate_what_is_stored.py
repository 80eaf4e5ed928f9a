"""After POST, PUT, PATCH or DELETE nobody gets the state before it."""

import itertools

import pytest
from cache.origin import FRESH, response


@pytest.fixture
def start(cached, recorder):
    """A client; GETs have numbers, other methods the status and the fields that are given."""

    def run(status=200, *fields):
        numbers = itertools.count(1)
        upstream = recorder(lambda request: response(next(numbers), FRESH) if request.method == "GET" else response(b"", *fields, status=status))
        return running.append(cached(upstream).http(headers={"host": "a.example"})) or running[-1]

    running = []
    yield run
    for one in running:
        one.close()


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("status", [200, 201, 204, 302])
def test_the_target(start, method, status):
    http = start(status)
    assert http.get("/a").text == "1"
    http.request(method, "/a")
    assert http.get("/a").text == "2"


@pytest.mark.parametrize("status", [400, 404, 500])
def test_an_error_changes_nothing(start, status):
    http = start(status)
    http.get("/a")
    http.post("/a")
    assert http.get("/a").text == "1"


@pytest.mark.parametrize("method", ["OPTIONS"])
def test_a_safe_method_changes_nothing(start, method):
    http = start()
    http.get("/a")
    http.request(method, "/a")
    assert http.get("/a").text == "1"


def test_other_urls_stay(start):
    http = start()
    http.get("/a?b")
    http.post("/a")
    assert http.get("/a?b").text == "1"


@pytest.mark.parametrize("name", ["location", "content-location"])
@pytest.mark.parametrize("target", ["/b", "b", "http://a.example/b"])
def test_what_the_response_points_to(start, name, target):
    http = start(201, f"{name}: {target}")
    http.get("/b")
    http.post("/a")
    assert http.get("/b").text == "2"


@pytest.mark.parametrize("name", ["location", "content-location"])
def test_what_it_points_to_at_another_authority_stays(start, name):
    http = start(201, f"{name}: http://b.example/b")
    assert http.get("/b", headers={"host": "b.example"}).text == "1"
    http.post("/a")
    assert http.get("/b", headers={"host": "b.example"}).text == "1"


def test_all_variants_of_the_target(cached, recorder):
    numbers = itertools.count(1)
    upstream = recorder(lambda request: response(next(numbers), FRESH, "vary: x-a"))
    with cached(upstream).http() as http:
        assert [http.get("/", headers={"x-a": value}).text for value in "12"] == ["1", "2"]
        http.post("/")
        assert [http.get("/", headers={"x-a": value}).text for value in "12"] == ["4", "5"]


def test_a_get_that_began_before_is_not_stored_after_it(cached, recorder):
    """Its response may be of the state before: who calls after the POST does not get it."""
    from threading import Event, Thread

    began, posted = Event(), Event()
    numbers = itertools.count(1)

    def send(request):
        number = next(numbers)
        if request.method == "GET" and number == 1:
            began.set()
            assert posted.wait(10)
        return response(number, FRESH)

    proxy = cached(recorder(send))

    def call():
        with proxy.http() as http:
            http.get("/")

    first = Thread(target=call)
    first.start()
    assert began.wait(5)
    with proxy.http() as http:
        http.post("/")
        posted.set()
        first.join(10)
        assert http.get("/").text != "1"
