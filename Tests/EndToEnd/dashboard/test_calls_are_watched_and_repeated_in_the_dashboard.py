"""The dashboard shows calls while they happen, and the line that repeats one, if the address has a tap."""

import subprocess

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from support.http1.recorder import OK
from support.wait import eventually

TAP = '{ address: "127.0.0.1:0", tap: true }'
CHAIN = "interceptors: [ { redact: { json: [/card] } }, { when: { path: /no }, reject: { code: aborted, message: <b>no</b> } } ]"


@pytest.fixture
def upstream(recorder):
    return recorder(OK)


@pytest.fixture
def proxy(dashboard, upstream):
    return dashboard(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\n{CHAIN}", admin=TAP)


def post(proxy, path, json):
    with httpx.Client(base_url=proxy.callers, trust_env=False) as client:
        return client.post(path, json=json)


def watch(proxy, browser):
    """Opens the page and begins to watch; calls that begin now are shown."""
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    eventually(lambda: browser.is_shown("#watch"), what="the button")
    browser.click("#watch")

    def is_watching():
        post(proxy, "/probe", {})
        return "/probe" in (browser.text("#watched") or "")

    eventually(is_watching, what="the tap")


def test_calls_are_watched(proxy, browser):
    watch(proxy, browser)
    post(proxy, "/orders", {"id": "<img src=x onerror=alert(1)>", "card": "4111-1111"})
    eventually(lambda: "POST /orders" in browser.text("#watched"), what="the call")
    browser.click("#watched summary")
    eventually(lambda: "ok" in browser.text("#watched details[open] summary"), what="its end")
    shown = browser.texts("#watched details[open] li")
    assert any("→ http POST /orders" in text for text in shown), shown
    assert any('{"id":"<img src=x onerror=alert(1)>","card":"***"}' in text for text in shown), shown
    assert "4111-1111" not in browser.text("body")
    browser.click("#watch")
    eventually(lambda: browser.run("return document.getElementById('watch').ariaPressed") == "false", what="the end")
    post(proxy, "/later", {})
    browser.wait("#recent-count", "")
    assert "/later" not in browser.text("#watched")
    assert browser.log() == []


@pytest.mark.parametrize("button", ["Show curl line", "For the upstream"])
def test_a_watched_call_is_repeated(proxy, upstream, browser, button):
    watch(proxy, browser)
    post(proxy, "/orders", {"id": "it's $HOME"})
    eventually(lambda: "POST /orders" in browser.text("#watched"), what="the call")
    browser.click("#watched summary")
    eventually(lambda: button in browser.texts("#watched details[open] button"), what="the button")
    browser.run("[...document.querySelectorAll('#watched details[open] button')].find((one) => one.textContent === arguments[0]).click()", button)
    browser.wait("#watched details[open] pre", "curl")
    subprocess.run(["sh", "-c", browser.text("#watched details[open] pre")], check=True, capture_output=True, timeout=20)
    bodies = [request.body for request in upstream.requests if request.target == "/orders"]
    assert len(bodies) == 2 and bodies[0] == bodies[1]
    assert browser.log() == []


def test_by_keyboard(proxy, browser):
    post(proxy, "/no", {})
    browser.open(proxy.page + "/").wait("#calls", "/no")
    browser.tab_to("#watch")
    browser.press(Keys.ENTER)
    eventually(lambda: browser.is_shown("#watched-part"), what="the part")
    browser.press(Keys.ENTER)
    browser.tab_to("#calls summary")
    browser.press(Keys.ENTER)
    browser.tab_to("#calls details[open] button")
    browser.press(Keys.ENTER)
    browser.wait("#calls details[open] pre", "curl")
    assert "<b>no</b>" in browser.text("#calls")
    browser.tab_to("#calls details[open] pre")


def test_without_a_tap_there_are_no_such_buttons(dashboard, upstream, browser):
    proxy = dashboard(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\n{CHAIN}")
    post(proxy, "/no", {})
    browser.open(proxy.page + "/").wait("#calls", "/no")
    browser.click("#calls summary")
    eventually(lambda: browser.texts("#calls details[open] button") == ["Copy as JSON"], what="one button")
    assert not browser.is_shown("#watch")
    assert browser.log() == []
