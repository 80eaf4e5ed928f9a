"""`martlet dashboard` brings the dashboard of a Unix socket to browsers of whoever sees its output, and to nobody else."""

import re
import signal

import httpx
import pytest

from support.martlet import Command
from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\ninterceptors: [ metrics: {} ]\n"
TOKEN = r"(http://127\.0\.0\.1:\d+)/\?token=([0-9a-f]{32,})"


class Dashboard(Command):
    """The command at work."""

    def __init__(self, *arguments):
        super().__init__("dashboard", *arguments)
        self.base = self.stdout.wait(TOKEN)[1]

    def token(self, number=1):
        return self.stdout.wait(TOKEN, count=number)[0]


@pytest.fixture
def proxy(martlet):
    return martlet(CONFIGURATION)


@pytest.fixture
def served(proxy, running):
    return running(Dashboard("-c", proxy.file))


@pytest.fixture
def client(served):
    with httpx.Client(base_url=served.base, trust_env=False) as client:
        yield client


def enter(client, served, number=1):
    """Uses the token up."""
    response = client.get(served.token(number))
    assert (response.status_code, response.headers["location"]) == (303, "/")
    return response


def test_the_token_works_once(client, served):
    first = served.token()
    assert client.head(first).status_code == 403  # as a preview of a link asks
    cookie = enter(client, served).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert client.get("/status").text.startswith("ready")
    with httpx.Client(trust_env=False) as other:
        response = other.get(first)
        assert response.status_code == 403 and "was used already" in response.text
        assert "set-cookie" not in response.headers
    # The next one is another one, and its browser has a cookie of its own.
    assert served.token(2) != first
    with httpx.Client(base_url=served.base, trust_env=False) as other:
        enter(other, served, 2)
        assert other.get("/status").status_code == client.get("/status").status_code == 200
    # Whoever is in may load the old address again.
    assert client.get(first).headers["location"] == "/"


@pytest.mark.parametrize("path", ["/", "/metrics", "/dashboard.js", "/calls/recent?follow=true", "/?token=", "/?token=0", "/none"])
def test_nothing_without_the_cookie(client, served, path):
    wrong = {"cookie": f"martlet-dashboard-{served.base.rpartition(':')[2]}=0123456789abcdef0123456789abcdef"}
    for headers in [{}, wrong, {"cookie": "=; ;x"}]:
        for method in ["GET", "POST"]:
            response = client.request(method, path, headers=headers)
            assert response.status_code == 403 and "open the " in response.text


def test_only_its_own_pages_may_ask(client, served):
    enter(client, served)
    for headers in [
        {"host": "evil.example"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": served.base.replace("127.0.0.1", "localhost")},
    ]:
        assert client.get("/metrics", headers=headers).status_code == 403
        assert client.post("/reload", headers=headers).status_code == 403
    own = {"origin": served.base, "sec-fetch-site": "same-origin"}
    assert client.post("/reload", headers=own).json() == {"generation": 2}


def test_streams_pass(client, served, proxy):
    enter(client, served)
    with client.stream("GET", "/calls/recent?follow=true") as response:
        lines = response.iter_lines()
        for path in ["/first", "/second"]:
            httpx.get(proxy.url + path, trust_env=False)
            assert f'"path":"{path}"' in next(lines)


def test_in_a_browser(served, proxy, browser):
    httpx.get(proxy.url + "/orders", trust_env=False)
    browser.open(served.token()).wait("#state-text", "Ready")
    assert browser.run("return location.pathname + location.search") == "/"
    browser.wait("#calls", "GET /orders")
    eventually(lambda: browser.value("#handled") == 1, what="the number of calls")
    browser.click("#reload")
    browser.wait("#result-text", "generation 2")
    assert browser.log() == []
    proxy.stop()
    browser.wait("#state-text", "Away")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends(served, client, number):
    enter(client, served)
    with client.stream("GET", "/calls/recent?follow=true"):
        served.signal(number)
        assert served.exit_code() == 0
    assert served.stderr.text == ""


def test_over_tcp_and_by_address(martlet, running):
    proxy = martlet(CONFIGURATION + 'admin: "127.0.0.1:0"\n', wait=False)
    admin = proxy.stderr.wait(r"address=(\S+) for=admin")[1]
    served = running(Dashboard("--admin", admin, "--listen", "localhost:0"))
    with httpx.Client(base_url=served.base, trust_env=False) as client:
        enter(client, served)
        assert client.get("/healthz").text == "ok\n"
        assert "<title>Martlet</title>" in client.get("/", headers={"accept": "text/html"}).text


@pytest.mark.parametrize("address", ["0.0.0.0:0", "10.0.0.1:80", "unix:/tmp/x", "here"])
def test_only_loopback(command, proxy, address):
    result = command("dashboard", "-c", proxy.file, "--listen", address)
    assert result.code == 2 and "is not a loopback address" in result.stderr.text


def test_without_a_daemon_and_without_the_page(command, martlet, tmp_path):
    result = command("dashboard", "--admin", f"unix:{tmp_path}/none.sock")
    assert result.code == 1 and "is Martlet running?" in result.stderr.text
    socket = tmp_path / "few.sock"
    martlet(f"{CONFIGURATION}admin: {{ address: 'unix:{socket}', pages: [metrics] }}\n", wait=False).stderr.wait(r"\bready\b")
    result = command("dashboard", "--admin", f"unix:{socket}")
    assert result.code == 1 and "add dashboard to its pages" in result.stderr.text


def test_help_and_address(command):
    text = command("dashboard", "--help").stdout.text
    assert re.search(r"works\s+once", text) and "--listen ADDRESS" in text
