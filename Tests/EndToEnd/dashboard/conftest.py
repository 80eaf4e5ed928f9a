"""Fixtures of the tests of the dashboard."""

import textwrap

import pytest

from support.browser import Browser


@pytest.fixture(scope="module")
def chromium():
    """One browser for a file of tests, since it needs seconds to start."""
    browser = Browser()
    yield browser
    browser.stop()


@pytest.fixture
def browser(chromium):
    """The browser without a page."""
    chromium.reset()
    yield chromium
    chromium.open("about:blank")


@pytest.fixture
def dashboard(martlet):
    """Starts a daemon with the dashboard on a loopback port; `url` is where."""

    def start(configuration, admin='"127.0.0.1:0"', **options):
        proxy = martlet(f"admin: {admin}\n{textwrap.dedent(configuration)}", wait=False, **options)
        proxy.stderr.wait(r"\bready\b")
        proxy.page = next(f"http://{m[1]}" for m in proxy.stderr.matches(r"address=(127\S+) for=admin"))
        callers = [m[1] for m in proxy.stderr.matches(r"address=(\S+)(?! for=admin)$")]
        proxy.callers = f"http://{callers[0]}" if callers else None
        return proxy

    return start
