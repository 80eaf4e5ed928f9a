"""A headless Chromium, as Debian has it, without a network but loopback."""

import shutil

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.wait import eventually

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.*, EXCLUDE localhost",
]


class Browser:
    """One window, which tests use one after the other."""

    def __init__(self):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        # With the path of the driver, nothing is asked for one.
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)

    def stop(self):
        self.driver.quit()

    # What the window is like

    def reset(self):
        """Makes it as good as new: no page, no cookie, no log."""
        self.driver.get("about:blank")
        self.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        self.resize(1280, 900)
        self.prefer("light")
        self.log()

    def resize(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def prefer(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    # What it shows

    def open(self, url):
        self.driver.get(url)
        return self

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        """What the first such element has as its text, whether it is seen or not."""
        return self.run("return document.querySelector(arguments[0])?.textContent", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def value(self, selector):
        """The exact number behind what is shown."""
        return float(self.run("return document.querySelector(arguments[0])?.dataset.value ?? NaN", selector))

    def is_shown(self, selector):
        return self.run("return document.querySelector(arguments[0])?.checkVisibility() ?? false", selector)

    def wait(self, selector, text, within=10):
        eventually(lambda: text in (self.text(selector) or ""), within, f"{text!r} in {selector}")

    def log(self):
        """What the console has said since the last look: errors, and what the policy for contents rejects."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    # What a person does

    def click(self, selector):
        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def press(self, *keys):
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def tab_to(self, selector, most=60):
        """Presses Tab until the element has the focus; returns what had it before, by id or name of the element."""
        passed = []
        for _ in range(most):
            self.press(Keys.TAB)
            if self.run("return document.activeElement.matches(arguments[0])", selector):
                return passed
            passed.append(self.run("return document.activeElement.id || document.activeElement.localName"))
        raise AssertionError(f"Tab does not lead to {selector}, but to {passed}")
