"""What tests of large bodies share."""

import json

import pytest

from support.large_body import BodyServer, Upload

# Retried at once, whatever the method.
AGAIN = {"when": {"status": 503}, "retry": {"immediate": {}, "allow_non_idempotent": True}}


@pytest.fixture
def body_server(running):
    """Starts an upstream that hashes bodies."""
    return lambda *steps, **options: running(BodyServer(*steps, **options))


@pytest.fixture
def upload(running):
    """Begins to send a large body."""
    return lambda *arguments, **options: running(Upload(*arguments, **options))


@pytest.fixture
def spool(tmp_path):
    """A directory for spools, and the settings that name it."""
    directory = tmp_path / "spool"
    directory.mkdir()
    return {"to": str(directory)}


@pytest.fixture
def spooling(martlet, spool):
    """Starts a daemon with a spool that retries after 503."""

    def run(url, rules=(AGAIN,), upstream=None, workers=1, limits=None, **options):
        text = {
            "listen": "127.0.0.1:0",
            "workers": workers,
            "upstreams": {"default": {"url": url, "limits": {"spool": spool} if limits is None else limits} | (upstream or {})},
            "interceptors": options.pop("interceptors", [{"validate": {"max_retries": 3, "rules": list(rules)}}, "log"]),
        }
        return martlet("\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items()), **options)

    return run
