"""A page of another origin reaches no admin page, and the dashboard is a page with a strict policy for its contents."""

import httpx
import pytest

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n"
HTML = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
POLICY = {
    "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
    "img-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
}


@pytest.fixture
def client(dashboard):
    proxy = dashboard(CONFIGURATION)
    with httpx.Client(base_url=proxy.page, trust_env=False) as client:
        client.proxy = proxy
        yield client


@pytest.mark.parametrize("path, kind", [("/", "text/html"), ("/dashboard.css", "text/css"), ("/dashboard.js", "text/javascript")])
def test_the_page(client, path, kind):
    response = client.get(path, headers=HTML)
    assert response.status_code == 200
    assert response.headers["content-type"] == f"{kind}; charset=utf-8"
    directives = dict(one.strip().split(" ", 1) for one in response.headers["content-security-policy"].split(";"))
    assert directives == POLICY
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in response.headers
    head = client.head(path, headers=HTML)
    assert head.headers["content-length"] == response.headers["content-length"] and not head.text


def test_curl_gets_the_list_of_pages(client):
    for headers in [{"accept": "*/*"}, {"accept": "text/plain"}]:
        response = client.get("/", headers=headers)
        assert response.headers["content-type"].startswith("text/plain") and response.headers["vary"] == "accept"
        assert "GET    /metrics" in response.text and "dashboard.js" not in response.text
    assert client.get("/", headers=HTML).headers["vary"] == "accept"


def table(url):
    """What a request may have, and whether GET and POST are allowed with it."""
    other = url.replace("127.0.0.1", "localhost")
    return [
        ({}, True, True),
        ({"sec-fetch-site": "same-origin", "origin": url}, True, True),
        ({"sec-fetch-site": "same-origin"}, True, True),
        ({"origin": url}, True, True),
        ({"sec-fetch-site": "none"}, True, False),
        ({"sec-fetch-site": "same-site", "origin": url}, False, False),
        ({"sec-fetch-site": "cross-site"}, False, False),
        ({"sec-fetch-site": "same-origin", "origin": other}, False, False),
        ({"origin": other}, False, False),
        ({"origin": "null"}, False, False),
        ({"origin": "http://evil.example"}, False, False),
        ({"host": "evil.example"}, False, False),
        ({"host": "evil.example", "origin": "http://evil.example", "sec-fetch-site": "same-origin"}, False, False),
    ]


def test_who_may_ask(client):
    url = str(client.base_url).rstrip("/")
    for headers, may_read, may_change in table(url):
        for path in ["/", "/config", "/calls/recent", "/dashboard.js"]:
            response = client.get(path, headers=HTML | headers)
            assert response.status_code == (200 if may_read else 403), (path, headers)
        changed = client.post("/reload", headers=headers)
        assert changed.status_code == (200 if may_change else 403), headers
        assert not any(name.startswith("access-control-") for name in changed.headers)
    assert client.options("/reload", headers={"origin": "http://evil.example"}).status_code == 403


def test_a_page_of_another_origin_reads_and_changes_nothing(client, dashboard, browser):
    """In a real browser: the dashboard of one daemon is a page of another origin for the other."""
    foreign = dashboard(CONFIGURATION)
    browser.open(foreign.page + "/").wait("#state-text", "Ready")
    # Its own policy forbids it to ask others, so that is out of the way first.
    browser.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    try:
        browser.open(foreign.page + "/").wait("#state-text", "Ready")
        ask = """
            const [url, done] = arguments;
            fetch(url, { method: "POST", mode: "no-cors" }).then(() => done("sent"), (error) => done(String(error)));
        """
        assert browser.driver.execute_async_script(ask, f"{client.proxy.page}/reload") == "sent"
    finally:
        browser.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
    assert client.get("/config").json()["generation"] == 1


@pytest.mark.parametrize("pages", ["[metrics, healthz]", "[status]"])
def test_an_address_without_the_dashboard(dashboard, pages):
    proxy = dashboard(CONFIGURATION, f'{{ address: "127.0.0.1:0", pages: {pages} }}')
    response = httpx.get(proxy.page, headers=HTML, trust_env=False)
    assert response.headers["content-type"].startswith("text/plain")
    assert httpx.get(f"{proxy.page}/dashboard.js", trust_env=False).status_code == 404


def test_not_for_other_machines(dashboard, command, tmp_path):
    remote = '{ address: "0.0.0.0:0", allow_remote: true, pages: [metrics, healthz] }'
    proxy = dashboard(CONFIGURATION, f'[ "127.0.0.1:0", {remote} ]')
    port = next(m[1] for m in proxy.stderr.matches(r"address=0\.0\.0\.0:(\d+) for=admin"))
    url = f"http://127.0.0.1:{port}"
    assert httpx.get(url, headers=HTML, trust_env=False).headers["content-type"].startswith("text/plain")
    for headers in [{"origin": url}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}]:
        assert httpx.get(f"{url}/metrics", headers=headers, trust_env=False).status_code == 403
    (tmp_path / "m.yaml").write_text(CONFIGURATION + "admin: " + remote.replace("metrics,", "metrics, dashboard,"))
    result = command("check", "-c", tmp_path / "m.yaml")
    assert result.code == 78 and "the page dashboard is only for this machine" in result.stderr.text
