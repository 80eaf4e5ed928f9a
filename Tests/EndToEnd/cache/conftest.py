"""A daemon with a cache before an upstream of the test."""

import json

import pytest


@pytest.fixture
def cached(martlet):
    """Starts a daemon with `cache` in its chain, between the interceptors `before` and `behind` it.

    `options` are those of `cache`, `store` those of its store, `settings` those of the upstream, and `file` is what else the
    file has. `configuration` makes the text of the same file, for reloads.
    """

    def start(upstream, **parts):
        return martlet(configuration(upstream, **parts))

    def configuration(upstream, before=(), behind=(), store=None, settings=None, file=None, **options):
        text = {
            "listen": "127.0.0.1:0",
            "caches": {"small": {"bytes": "16MiB", "object": "1MiB"} | (store or {})},
            "upstreams": {"default": {"url": upstream.url} | (settings or {})},
            "interceptors": [*before, {"cache": {"in": "small"} | options}, *behind],
        }
        text |= file or {}
        if "listeners" in text:
            del text["listen"]
        return "\n".join(f"{key}: {json.dumps(value)}" for key, value in text.items())

    start.configuration = configuration
    return start
