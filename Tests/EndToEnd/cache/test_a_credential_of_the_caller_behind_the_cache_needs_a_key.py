"""A token behind the cache that depends on the call is an error of the file, unless `key` names what it depends on."""

import json

import pytest

OAUTH2 = {"token_url": "https://id.example/token", "client_id": "a", "client_secret": {"value": "b"}}
DEPENDENT = {
    "exchange": {"token": {"exchange": OAUTH2 | {"subject_token": "{header:x-user}"}}},
    "oauth2 with a template": {"token": {"oauth2": OAUTH2 | {"parameters": {"user": "{header:x-user}"}}}},
    "exec with a template": {"token": {"exec": {"command": ["/bin/echo", "{header:x-user}"]}}},
    "header from the call": {"headers": {"request": {"set": {"authorization": "{header:x-user}"}}}},
    "peer": {"token": {"exec": {"command": ["/bin/echo", "{peer.uid}"]}}},
}
SAME = {
    "value": {"token": {"value": "s3cret"}},
    "oauth2": {"token": {"oauth2": OAUTH2}},
    "header": {"headers": {"request": {"set": {"authorization": "s3cret"}}}},
}


@pytest.fixture
def check(command, tmp_path):
    """Checks a file whose chain has an interceptor behind, or before, a cache with these options."""

    def run(*chain):
        text = {
            "listen": "127.0.0.1:0",
            "upstream": "https://api.example",
            "caches": {"small": {"bytes": "16MiB"}},
            "interceptors": [{"cache": {"in": "small"} | one} if one.keys() <= {"key"} else one for one in chain],
        }
        (tmp_path / "martlet.yaml").write_text("\n".join(f"{name}: {json.dumps(value)}" for name, value in text.items()))
        return command("check", "-c", "martlet.yaml", cwd=tmp_path)

    return run


def of_cache(checked):
    """The errors that speak of the cache and its key."""
    return [line for line in checked.stderr if "cache" in line and "key" in line]


@pytest.mark.parametrize("behind", DEPENDENT)
def test_without_a_key(check, behind):
    checked = check({}, DEPENDENT[behind])
    assert checked.code == 78
    assert len(of_cache(checked)) == 1, checked.stderr.text


@pytest.mark.parametrize("behind", DEPENDENT)
def test_with_a_key_that_names_something_else(check, behind):
    assert of_cache(check({"key": "{header:x-tenant}"}, DEPENDENT[behind]))


@pytest.mark.parametrize("behind", DEPENDENT)
def test_with_a_key_that_names_it(check, behind):
    key = "{peer.uid}" if behind == "peer" else "{header:x-tenant}/{header:x-user}"
    assert not of_cache(check({"key": key}, DEPENDENT[behind]))


@pytest.mark.parametrize("behind", DEPENDENT)
def test_before_the_cache(check, behind):
    """There the request has it where the cache looks."""
    assert not of_cache(check(DEPENDENT[behind], {}))


@pytest.mark.parametrize("behind", SAME)
def test_a_credential_that_is_the_same_for_all_calls(check, behind):
    checked = check({}, SAME[behind])
    assert checked.code == 0, checked.stderr.text


def test_a_phantom_token(check):
    """Only callers who know it get the token; the cache would serve the others, too."""
    checked = check({}, {"token": {"value": "s3cret", "phantom": {"value": {"value": "p" * 32}}}})
    assert checked.code == 78
    assert of_cache(checked), checked.stderr.text
