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
@pytest.mark.parametrize(
    "reference, target",
    [
        ("/b", "/b"),
        ("b", "/d/b"),
        ("./b", "/d/b"),
        ("../b", "/b"),
        ("../../b", "/b"),
        ("../x/../b", "/b"),
        ("?x=1", "/d/a?x=1"),
        ("b?t=1:2", "/d/b?t=1:2"),
        ("b#part", "/d/b"),
        ("//a.example/b", "/b"),
        ("http://a.example/b", "/b"),
        ("HTTP://A.example/d/../b?c", "/b?c"),
        ("http://a.example?c", "/?c"),
        ("http://a.example", "/"),
    ],
)
def test_what_the_response_points_to(start, name, reference, target):
    http = start(201, f"{name}: {reference}")
    http.get(target)
    http.post("/d/a")
    assert http.get(target).text == "2"


def test_a_host_that_is_changed_behind_the_cache(cached, recorder):
    """The key of the GET has the host that the cache has seen."""
    numbers = itertools.count(1)
    upstream = recorder(lambda request: response(next(numbers), FRESH, "location: /b"))
    proxy = cached(upstream, behind=[{"rewrite": {"authority": "inner.example"}}])
    with proxy.http() as http:
        assert [http.get("/a").text, http.get("/b").text] == ["1", "2"]
        http.post("/a")
        assert [http.get("/a").text, http.get("/b").text] == ["4", "5"]


@pytest.mark.parametrize("reference", ["ftp://a.example/b", "http:b", "mailto:a@a.example"])
def test_what_is_no_url_of_http(start, reference):
    http = start(201, f"location: {reference}")
    http.get("/b")
    http.post("/a")
    assert http.get("/b").text == "1"


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
