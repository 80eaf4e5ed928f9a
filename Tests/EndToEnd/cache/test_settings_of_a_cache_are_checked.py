"""What makes no sense is an error of the file, with its position; all options but `in` have defaults."""

import re

import pytest

FILE = "listen: 127.0.0.1:0\nupstream: http://127.0.0.1:1\ncaches: {caches}\ninterceptors:\n  - cache: {cache}\n"
SMALL = "{ small: { bytes: 16MiB, object: 1MiB } }"


@pytest.fixture
def check(command, tmp_path):
    def run(caches=SMALL, cache="{ in: small }"):
        (tmp_path / "martlet.yaml").write_text(FILE.format(caches=caches, cache=cache))
        return command("check", "-c", "martlet.yaml", cwd=tmp_path)

    return run


@pytest.mark.parametrize(
    "cache",
    [
        "{ in: small }",
        '{ in: small, key: "{header:x-tenant}", heuristic: 10%, stale_if_error: 10m, stale_while_revalidate: 30s, cookies: ignore }',
        "{ in: small, rpc: { methods: [shop.v1.Catalog/*], ttl: 30s } }",
        "{ in: small, rpc: { methods: [shop.v1.Catalog/Get] } }",
    ],
)
def test_what_is_right(check, cache):
    checked = check(cache=cache)
    assert checked.code == 0, checked.stderr.text


@pytest.mark.parametrize("caches", ["{ small: {} }", "{ small: { bytes: 1MiB } }", "{ small: { bytes: 1GiB, object: 64KiB } }"])
def test_what_is_right_of_a_store(check, caches):
    checked = check(caches=caches)
    assert checked.code == 0, checked.stderr.text


@pytest.mark.parametrize(
    "cache, says",
    [
        ("{}", "in"),
        ("{ in: large }", "large"),
        ("{ in: small, cookies: some }", "cookies|some"),
        ("{ in: small, stale_if_error: soon }", "soon"),
        ('{ in: small, key: "{nothing}" }', "nothing"),
        ("{ in: small, rpc: { methods: [Catalog], ttl: 30s } }", "Catalog"),
        ("{ in: small, ttl: 30s }", "ttl"),
    ],
)
def test_what_is_wrong(check, cache, says):
    checked = check(cache=cache)
    assert checked.code == 78
    assert any(re.match(rf"martlet\.yaml:5:\d+: .*({says})", line) for line in checked.stderr), checked.stderr.text


@pytest.mark.parametrize("caches", ["{ small: { bytes: 1MiB, object: 2MiB } }", "{ small: { bytes: 0B } }", "{ small: { size: 1MiB } }"])
def test_what_is_wrong_of_a_store(check, caches):
    checked = check(caches=caches)
    assert checked.code == 78
    assert any(re.match(r"martlet\.yaml:3:\d+: ", line) for line in checked.stderr), checked.stderr.text
