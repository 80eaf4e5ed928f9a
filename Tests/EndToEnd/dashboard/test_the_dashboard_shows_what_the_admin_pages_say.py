"""The dashboard shows the numbers of /metrics and what the other pages say, and keeps itself up to date."""

import re

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from support.wait import eventually, settled

CONFIGURATION = """
    listen: 127.0.0.1:0
    upstreams:
      orders: {{ url: "{url}", addresses: ["{address}", "127.0.0.1:9"] }}
    routes:
      - upstream: orders
    interceptors:
      - metrics: {{}}
      - name: access
        token: {{ value: "{token}" }}
      - name: closed
        reject: {{ code: permission_denied, message: not today }}
        when: {{ path: "/shop.Orders/Delete" }}
"""
# It ends in 2099, and nobody has signed it.
TOKEN = "eyJhbGciOiJub25lIn0.eyJleHAiOjQwNzA5MDg4MDB9."
ERROR = b'{"code":"not_found","message":"no such order"}'
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
NOT_FOUND = (
    b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ERROR) + ERROR
)


@pytest.fixture
def proxy(dashboard, recorder):
    upstream = recorder(lambda request: NOT_FOUND if "/Find" in request.target else OK)
    address = upstream.url.removeprefix("http://")
    return dashboard(CONFIGURATION.format(url=upstream.url, address=address, token=TOKEN))


def call(proxy, method, count=1):
    with httpx.Client(base_url=proxy.callers, trust_env=False) as client:
        for _ in range(count):
            client.post(f"/shop.Orders/{method}", json={})


def metrics(proxy):
    """The metrics, once nothing changes them but the dashboard itself."""
    text = httpx.get(f"{proxy.page}/metrics", trust_env=False).text
    return lambda pattern: sum(float(value) for value in re.findall(rf"^{pattern} (\S+)$", text, re.M))


def test_the_numbers_are_those_of_the_metrics(proxy, browser):
    call(proxy, "Get", 7)
    call(proxy, "Find", 3)
    call(proxy, "Delete", 2)
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    eventually(lambda: browser.value("#handled") == 12, what="twelve calls")
    call(proxy, "Get", 5)
    eventually(lambda: browser.value("#handled") == 17, what="five calls more")
    number = metrics(proxy)
    assert browser.value("#handled") == number(r"martlet_rpc_handled_total{.*}") == 17
    assert browser.value("#failed-all") == number(r"martlet_rpc_errors_total{.*}") == 5
    assert browser.value("#in-flight") == number("martlet_rpc_in_flight") == 0
    errors = dict(zip(browser.texts("#errors td:nth-child(-n+2)")[::2], browser.texts("#errors td:nth-child(2)")))
    assert errors == {"not_found": "upstream", "permission_denied": "interceptor:closed"}
    for row, (code, decider) in enumerate([("not_found", "upstream"), ("permission_denied", "interceptor:closed")], 1):
        exact = number(f'martlet_rpc_errors_total{{decided_by="{decider}",code="{code}"}}')
        assert browser.value(f"#errors tr:nth-child({row}) td:last-child") == exact
    calls = number(r'martlet_rpc_duration_seconds_count{.*rpc_method="Get"}')
    assert browser.text("#methods tr td").startswith("Get") and calls == 12
    assert browser.value("#methods tr td:nth-child(2) .second") == calls
    # A call here takes less than a second, and the buckets say so.
    assert 0 < browser.value("#methods tr td:nth-child(5) .second") < 1
    assert browser.log() == []


def test_upstreams_credentials_and_limits(proxy, browser):
    call(proxy, "Get")
    browser.open(proxy.page + "/").wait("#credentials", "access: valid")
    assert " d " in browser.text("#credentials") and "left" in browser.text("#credentials")
    assert "orders" in browser.text("#upstreams") and "127.0.0.1:9 " in browser.text("#upstreams")
    limit = metrics(proxy)("martlet_held_memory_limit_bytes")
    assert browser.run("return document.querySelector('#meters meter').max") == limit * 3 / 4
    facts = dict(zip(browser.texts("#facts dt"), browser.texts("#facts dd")))
    assert facts["Generation"] == "1" and facts["Last reload"] == "succeeded" and facts["File"] == str(proxy.file)


def test_a_call_shows_its_trace_and_times_when_it_is_opened(proxy, browser):
    call(proxy, "Get")
    call(proxy, "Delete")
    browser.open(proxy.page + "/").wait("#calls", "permission_denied")
    browser.click("#calls details:has(.code-bad) summary")
    browser.wait("#calls .opened", "not today")
    assert "closed request_head: reject" in browser.text("#calls .trace")
    assert browser.texts("#calls .stages .soft") == ["chain"]
    pairs = dict(zip(browser.texts("#calls .pairs dt"), browser.texts("#calls .pairs dd")))
    assert pairs["request"] == "POST /shop.Orders/Delete" and pairs["decided by"] == "interceptor:closed"


def test_a_filter_and_a_code_choose_calls(proxy, browser):
    for method in ["Get", "Find", "Delete"]:
        call(proxy, method)
    browser.open(proxy.page + "/").wait("#recent-count", "3")
    browser.click("#filter")
    browser.press("orders/find")
    browser.wait("#recent-count", "1 of 3")
    assert browser.texts("#calls .name") == ["shop.Orders/Find"]
    browser.press(*[Keys.BACKSPACE] * len("orders/find"))
    browser.run("const code = document.querySelector('#code'); code.value = 'failed'; code.dispatchEvent(new Event('change'))")
    browser.wait("#recent-count", "2 of 3")
    # What comes meanwhile is filtered, too; what is opened stays open.
    browser.click("#calls details summary")
    call(proxy, "Find")
    eventually(lambda: browser.value("#recent-count") == 3, what="a third failed call")
    assert browser.run("return document.querySelectorAll('#calls details[open]').length") == 1


def test_paused_calls_stay_as_they_are(proxy, browser):
    call(proxy, "Get")
    browser.open(proxy.page + "/").wait("#recent-count", "1")
    browser.click("#pause")
    call(proxy, "Find")
    eventually(lambda: browser.value("#handled") == 2, what="the second call in the numbers")
    assert browser.text("#recent-count") == "1"
    browser.click("#pause")
    browser.wait("#recent-count", "2")


def test_a_call_under_way_shows_its_progress(dashboard, recorder, browser):
    start = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n" + bytes(400)

    def script(peer):
        peer.request()
        peer.send(start)
        peer.receive()

    upstream = recorder(script=script)
    proxy = dashboard(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ninterceptors: [ metrics: {{}} ]\n")
    browser.open(proxy.page + "/")
    with httpx.stream("GET", f"{proxy.callers}/large", trust_env=False):
        browser.wait("#active", "GET /large")
        assert browser.value("#active-count") == 1
        progress = "const bar = document.querySelector('#active progress'); return [bar?.value, bar?.max]"
        eventually(lambda: browser.run(progress) == [400, 1000], what="the progress")
        eventually(lambda: browser.value("#in-flight") == 1, what="a call in flight")
    eventually(lambda: browser.is_shown("#active-empty"), what="no call under way")


def test_an_address_with_a_few_pages_shows_those(dashboard, browser):
    admin = '{ address: "127.0.0.1:0", pages: [dashboard, status, metrics] }'
    proxy = dashboard("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", admin)
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    eventually(lambda: browser.text("#in-flight") == "0", what="numbers")
    assert browser.is_shown("#upstreams-title") and browser.is_shown("#limits-title")
    for hidden in ["#reload", "#drain", "#recent", "#credentials-title", "#active-title"]:
        assert not browser.is_shown(hidden), hidden
    assert browser.log() == []


def test_the_page_says_that_the_daemon_is_away_and_recovers(dashboard, browser, martlet):
    # On an address where nothing else listens or connects from, so that the port is free for the second daemon.
    proxy = dashboard("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\n", '"127.9.8.7:0"')
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    assert "127.9.8.7" in proxy.page
    proxy.stop()
    browser.wait("#state-text", "Away")
    assert browser.is_shown("#away") and "does not respond since" in browser.text("#away-text")
    # Not in every second: the pauses grow.
    eventually(lambda: re.search(r"next try is in [48] s", browser.text("#away-text")), within=20, what="a pause")
    address = proxy.page.removeprefix("http://")
    configuration = re.sub("^admin:.*$", f'admin: "{address}"', proxy.file.read_text(), flags=re.M)
    martlet(configuration, wait=False).stderr.wait(r"\bready\b")
    browser.click("#retry")
    browser.wait("#state-text", "Ready")
    assert not browser.is_shown("#away")


def test_a_hidden_page_asks_nothing(proxy, browser):
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    requests = lambda: browser.run("return performance.getEntriesByType('resource').length")
    # A page that is seen asks once a second.
    count = settled(requests, during=2)
    browser.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    eventually(lambda: requests() > count, what="requests")
