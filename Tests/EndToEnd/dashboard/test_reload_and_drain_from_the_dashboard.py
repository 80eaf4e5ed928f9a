"""The buttons of the dashboard change the daemon, and all of the page can be used with the keyboard."""

import httpx
import pytest
from selenium.webdriver.common.keys import Keys

from support.wait import eventually

CONFIGURATION = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\ninterceptors: [ metrics: {} ]\n"


@pytest.fixture
def proxy(dashboard):
    return dashboard(CONFIGURATION)


def test_reload(proxy, browser):
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.click("#reload")
    browser.wait("#result-text", "Martlet uses generation 2 now.")
    browser.wait("#facts", "Generation2")
    assert browser.log() == []


def test_a_rejected_reload_shows_every_error(proxy, browser):
    proxy.write(proxy.file.read_text() + "listn: 1\nworkrs: 2\n")
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.click("#reload")
    browser.wait("#result-text", 'unknown key "listn"; did you mean "listen"?')
    assert 'unknown key "workrs"' in browser.text("#result-text")
    browser.wait("#facts", 'unknown key "listn"')
    browser.click("#dismiss")
    assert not browser.is_shown("#result")


def test_drain_asks_first(proxy, browser):
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.click("#drain")
    assert browser.is_shown("#drain-dialog")
    browser.click("#drain-cancel")
    assert not browser.is_shown("#drain-dialog") and proxy.process.poll() is None
    browser.click("#drain")
    browser.click("#drain-confirm")
    assert proxy.exit_code() == 0
    browser.wait("#state-text", "Away")


def test_the_keyboard_reaches_every_control(proxy, browser):
    httpx.get(f"{proxy.callers}/orders", trust_env=False)
    browser.open(proxy.page + "/").wait("#calls", "GET /orders")
    passed = browser.tab_to("#calls details summary")
    assert passed[0] == "a"  # the link that skips
    assert [one for one in passed if one in {"reload", "drain", "filter", "code", "pause"}] == [
        "reload", "drain", "filter", "code", "pause"
    ]
    controls = "button, input, select, summary, a[href]"
    unseen = browser.run(
        """
        const controls = [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility());
        return controls.filter((one) => (one.focus({ focusVisible: true }), getComputedStyle(one).outlineStyle === "none"))
            .map((one) => one.id || one.localName);
        """,
        controls,
    )
    assert unseen == []
    browser.run("document.querySelector('#calls summary').focus()")
    browser.press(Keys.ENTER)
    browser.wait("#calls .opened", "Copy as JSON")
    browser.press(Keys.TAB)
    assert browser.run("return document.activeElement.textContent") == "Copy as JSON"


def test_the_keyboard_reloads_and_drains(proxy, browser):
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.tab_to("#reload")
    browser.press(Keys.ENTER)
    browser.wait("#result-text", "generation 2")
    assert browser.run("return document.activeElement.id") == "reload"
    browser.press(Keys.TAB)
    browser.press(Keys.SPACE)
    # The safe button has the focus, and the dialog keeps it.
    assert browser.run("return document.activeElement.id") == "drain-cancel"
    browser.press(Keys.ESCAPE)
    assert not browser.is_shown("#drain-dialog")
    assert browser.run("return document.activeElement.id") == "drain"
    browser.press(Keys.ENTER, Keys.TAB, Keys.ENTER)
    assert proxy.exit_code() == 0


def test_the_page_can_skip_to_the_calls(proxy, browser):
    browser.open(proxy.page + "/").wait("#state-text", "Ready")
    browser.press(Keys.TAB)
    assert browser.run("return document.activeElement.getBoundingClientRect().left >= 0")
    browser.press(Keys.ENTER)
    eventually(lambda: browser.run("return document.activeElement.id") == "recent", what="the focus at the calls")
