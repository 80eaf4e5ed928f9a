"""The examples of `etc/examples` as they run: their servers are played on loopback."""

import re

import pytest
from support.martlet import ROOT
from support.servers.http_api import HTTPAPI


@pytest.fixture
def api(running):
    """Starts an HTTP API that responds as a function of the request says."""
    return lambda respond: running(HTTPAPI(respond))


@pytest.fixture
def example(martlet):
    """Runs an example, with an API in place of the servers that it names, and values of its environment."""

    def run(name, api, **environment):
        text = (ROOT / "etc/examples" / f"{name}.yaml").read_text()
        text = re.sub(r"https://[a-z.]+\.example", api.url, text)
        # No test knows the ports of other tests, and the admin socket is the test's.
        text = text.replace("listen: 127.0.0.1:8080", "listen: 127.0.0.1:0")
        text = re.sub(r"^admin: .*\n", "", text, flags=re.MULTILINE)
        return martlet(text, environment=environment)

    return run
