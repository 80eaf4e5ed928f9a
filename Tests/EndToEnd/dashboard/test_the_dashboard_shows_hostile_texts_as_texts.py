"""What callers and upstreams choose is shown as text, however it looks, and nothing leaves the window at any width."""

import json

import httpx
import pytest

from support.http1.peer import connect

HTML = "<img src=x onerror=document.title='owned'>"
SCRIPT = "<script>document.title='owned'</script>"
REVERSED = "\u202eexe.txt\u2066\u200f"
LONG = "a" * 6000
# Martlet rejects a request with "<" itself in its target.
PATH = "/%3Cimg%20src=x%20onerror=document.title='owned'%3E/&lt;b&gt;/%E2%80%AEexe.txt"
WIDTHS = [360, 768, 1280]


@pytest.fixture
def page(dashboard, recorder, browser):
    """The dashboard after calls whose paths and messages are hostile."""
    body = json.dumps({"code": "unavailable", "message": HTML + SCRIPT + REVERSED + LONG}).encode()
    head = b"HTTP/1.1 503 Unavailable\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    upstream = recorder(head + body)
    proxy = dashboard(f"listen: 127.0.0.1:0\nupstream: {upstream.url}\ninterceptors: [ metrics: {{}} ]\n")
    caller = connect(("127.0.0.1", int(proxy.callers.rpartition(":")[2])))
    caller.send(b"GET " + PATH.encode() + b" HTTP/1.1\r\nhost: a\r\n\r\n")
    caller.response()
    caller.send(b"GET /" + LONG.encode() + b" HTTP/1.1\r\nhost: a\r\n\r\n")
    caller.response()
    caller.close()
    httpx.post(f"{proxy.callers}/shop.Orders/{'Get' * 200}", json={}, trust_env=False)
    httpx.post(f"{proxy.callers}/shop.Orders/Get", json={}, trust_env=False)
    browser.open(proxy.page + "/").wait("#recent-count", "4")
    return browser


def test_texts(page):
    names = page.texts("#calls .name")
    assert f"GET {PATH}" in names
    assert f"GET /{LONG}" in names
    page.click("#calls details:first-child summary")
    page.wait("#calls .opened .error", HTML + SCRIPT + REVERSED + LONG)
    assert page.run("return document.querySelectorAll('main img, main script').length") == 0
    assert page.run("return document.title") == "Martlet"
    assert page.log() == []


def test_reversed_text_does_not_turn_what_is_beside_it(page):
    page.click("#calls details:first-child summary")
    turned = """
        const range = document.createRange();
        const name = document.querySelector('#calls .pairs dt').firstChild;
        const left = (index) => (range.setStart(name, index), range.setEnd(name, index + 1), range.getBoundingClientRect().left);
        return left(0) < left(3);
    """
    assert page.run(turned)


@pytest.mark.parametrize("width", WIDTHS)
def test_widths(page, width):
    page.resize(width, 800)
    for number in range(1, 5):
        page.run("document.querySelector(arguments[0]).open = true", f"#calls details:nth-child({number})")
    page.wait("#calls details:last-child .opened", "Copy as JSON")
    wide = """
        return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility())
            .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
            .map((one) => one.outerHTML.slice(0, 80));
    """
    assert page.run("return document.documentElement.scrollWidth") <= width
    # The list of calls scrolls by itself, and only up and down.
    assert page.run("const calls = document.querySelector('#calls'); return calls.scrollWidth - calls.clientWidth") == 0
    assert page.run(wide) == []


CONTRAST = """
    const numbers = (color) => {
        const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
    };
    const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    };
    const behind = (element) => {
        const layers = [];
        for (let one = element; one; one = one.parentElement) layers.unshift(numbers(getComputedStyle(one).backgroundColor));
        return layers.reduce((below, [r, g, b, a]) => [r, g, b].map((value, i) => (a ? value * a + below[i] * (1 - a) : below[i])), [1, 1, 1]);
    };
    return [...document.querySelectorAll("body *")]
        .filter((one) => one.checkVisibility() && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
        .map((one) => {
            const [a, b] = [light(numbers(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
            return [(a + 0.05) / (b + 0.05), one.outerHTML.slice(0, 80)];
        })
        .filter(([ratio]) => ratio < 4.5);
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(page, scheme):
    page.prefer(scheme)
    page.click("#calls details:first-child summary")
    ground = page.run("return getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0]")
    assert (int(ground) > 128) == (scheme == "light")
    assert page.run(CONTRAST) == []
