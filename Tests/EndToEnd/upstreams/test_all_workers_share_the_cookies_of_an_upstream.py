"""A cookie that one worker receives from an upstream is sent by all workers, until a reload changes the upstream."""

import pytest

from support.http1.recorder import OK

# The kernel gives each connection to any of the workers.
CALLS = 40


def text(upstream, cookies="jar", more=""):
    settings = f"url: {upstream.url}, cookies: {cookies}{more}"
    return f"listen: 127.0.0.1:0\nworkers: 4\nupstreams: {{ default: {{ {settings} }} }}\n"


def login(request):
    return OK.replace(b"\r\n\r\n", b"\r\nset-cookie: a=1; Path=/\r\n\r\n") if request.target == "/login" else OK


def call(proxy, path):
    """Makes a call on a connection of its own."""
    with proxy.http() as http:
        return http.get(path)


def sent(upstream, path):
    return [request.header("cookie") for request in upstream.requests if request.target == path]


@pytest.mark.parametrize("cookies", ["jar", "expose"])
def test_cookies(martlet, recorder, cookies):
    upstream = recorder(login)
    proxy = martlet(text(upstream, cookies))
    assert ("set-cookie" in call(proxy, "/login").headers) == (cookies == "expose")
    for _ in range(CALLS):
        call(proxy, "/next")
    assert sent(upstream, "/next") == ["a=1"] * CALLS


@pytest.mark.parametrize("more, expected", [("", "a=1"), (", connect_wait: 9s", None)])
def test_a_reload(martlet, recorder, more, expected):
    upstream = recorder(login)
    proxy = martlet(text(upstream))
    call(proxy, "/login")
    # Another upstream beside it changes the file in each case.
    proxy.reload(text(upstream, more=more).replace("{ default", "{ other: http://127.0.0.1:9, default") + "routes: [ { upstream: default } ]\n")
    for _ in range(CALLS):
        call(proxy, "/next")
    assert sent(upstream, "/next") == [expected] * CALLS
