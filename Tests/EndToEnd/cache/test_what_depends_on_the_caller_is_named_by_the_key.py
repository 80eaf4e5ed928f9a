"""A file does not load in which an interceptor, or an upstream, could bring a response for one caller to another."""

import json

import pytest

TENANT = "{header:x-tenant}"
SET = {"request": {"set": {"x-t": TENANT}}}
BEHIND = {
    "token": {"token": {"jwt": {"algorithm": "HS256", "key": {"value": "secret"}, "claims": {"sub": TENANT}}}},
    "header": {"headers": SET},
    "renamed header": {"headers": {"request": {"rename": {"x-tenant": "authorization"}}}},
    "path": {"rewrite": {"authority": f"{TENANT}.example"}},
    "message": {"message": {"on": "request", "set": {"/tenant": TENANT}}},
    "condition of a change": {"message": {"on": "response", "remove": ["/secret"]}, "when": {"header": {"x-tenant": "absent"}}},
    "condition of a rejection": {"reject": "permission_denied", "when": {"header": {"x-tenant": "absent"}}},
    "condition of a response": {"respond": {"status": 200}, "when": {"header": {"x-tenant": "present"}}},
    "named call": {"call": "who", "when": {"path": "/who"}},
    "login before a retry": {
        "validate": {
            "max_retries": 1,
            "rules": [{"when": {"status": 401}, "retry": {"after": "login"}}],
            "retry": {"after": "login", "capture": {"t": "json:/t"}, "set": {"authorization": "{t}"}},
        }
    },
}
MOCKS = {
    "header": {"rules": [{"when": {"header": {"x-tenant": "a"}}, "respond": {"body": "for a"}}, {"respond": {"body": "for all"}}]},
    "method": {"methods": {"Get": {"when": {"header": {"x-tenant": "a"}}, "respond": {"json": {}}}}},
    "template": {"rules": [{"respond": {"body": TENANT}}]},
    "state": {"rules": [{"state": {"of": TENANT, "is": "start", "becomes": "on"}, "respond": {"body": "first"}}, {"respond": {}}]},
}
CALLS = {name: {"url": "http://127.0.0.1:1/", "headers": {"x-t": TENANT}} for name in ("who", "login")}


@pytest.fixture
def errors(command, tmp_path):
    """What `martlet check` says of a chain."""

    def run(chain, **more):
        text = {"listen": "127.0.0.1:0", "upstreams": {"default": {"url": "http://127.0.0.1:1"}}, "caches": {"small": {}}}
        text |= {"calls": CALLS, "interceptors": chain} | more
        (tmp_path / "martlet.yaml").write_text(json.dumps(text))
        return [line for line in command("check", "-c", "martlet.yaml", cwd=tmp_path).stderr if "other callers" in line]

    return run


@pytest.mark.parametrize("item", BEHIND.values(), ids=BEHIND)
def test_behind_the_cache(errors, item):
    (error,) = errors([{"cache": {"in": "small"}}, item])
    assert "{header:x-tenant}" in error
    assert not errors([{"cache": {"in": "small", "key": TENANT}}, item])


@pytest.mark.parametrize("mock", MOCKS.values(), ids=MOCKS)
def test_a_mock_behind_the_cache(errors, mock):
    (error,) = errors([{"cache": {"in": "small"}}, {"mock": "some"}], mocks={"some": mock})
    assert "{header:x-tenant}" in error
    assert not errors([{"cache": {"in": "small", "key": TENANT}}, {"mock": "some"}], mocks={"some": mock})


def test_a_mock_for_all_callers(errors):
    mock = {"rules": [{"when": {"path": "/a"}, "respond": {"body": "{path}"}}]}
    assert not errors([{"cache": {"in": "small"}}, {"mock": "some"}], mocks={"some": mock})


def test_the_unit_of_a_caller_is_no_part_of_a_key(errors):
    (error,) = errors([{"cache": {"in": "small"}}, {"respond": {"status": 200}, "when": {"peer": {"unit": "a.service"}}}])
    assert error.endswith('a "key" cannot name units, so move "respond" before it')


@pytest.mark.parametrize("kind", ["log", "metrics", "trace", {"limit": {"rate": "1/s", "key": TENANT}}])
def test_what_only_watches_may_stand_there(errors, kind):
    item = {kind: {}} if isinstance(kind, str) else kind
    assert not errors([{"cache": {"in": "small"}}, item | {"when": {"header": {"x-tenant": "present"}}}])


def test_before_the_cache(errors):
    assert errors([{"headers": SET}, {"cache": {"in": "small"}}])
    assert not errors([{"headers": SET}, {"cache": {"in": "small", "key": "{header:x-t}"}}])


@pytest.mark.parametrize("part", ["headers", "query"])
def test_what_an_upstream_adds(errors, part):
    upstreams = {"default": {"url": "http://127.0.0.1:1", "defaults": {part: {"key": TENANT}}}}
    (error,) = errors([{"cache": {"in": "small"}}], upstreams=upstreams)
    assert "{header:x-tenant}" in error
    assert not errors([{"cache": {"in": "small", "key": TENANT}}], upstreams=upstreams)
