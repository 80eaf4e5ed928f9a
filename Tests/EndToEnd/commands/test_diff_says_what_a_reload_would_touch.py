"""`martlet diff OLD NEW` names what a reload opens, closes, keeps and replaces. The daemon goes by the same rules."""

import pytest

OLD = """\
listeners: [{ address: "127.0.0.1:1001" }, { address: "127.0.0.1:1002" }, { address: "127.0.0.1:1003" }]
upstreams:
  same: { url: "http://127.0.0.1:3001" }
  other: { url: "http://127.0.0.1:3002" }
  gone: { url: "http://127.0.0.1:3003" }
interceptors:
  - { name: kept, token: { value: s3cret-kept } }
  - { name: auth, token: { value: s3cret-old, header: x-auth } }
  - { name: last, token: { file: /nowhere/token, header: x-last } }
  - { name: calm, limit: { rate: 5/s } }
  - { name: fast, limit: { rate: 5/s } }
chains: { old: [], both: [{ reject: { code: aborted } }] }
caches: { pages: { bytes: 1MiB }, stays: { bytes: 1MiB } }
routes:
  - { name: a, match: { path: /a }, upstream: same, chain: old }
  - { name: b, match: { path: /b }, upstream: gone }
  - { upstream: other }
"""
NEW = """\
listeners: [{ address: "127.0.0.1:1001" }, { address: "127.0.0.1:1002", timeouts: { idle: 5s } }, { address: "127.0.0.1:1004" }]
upstreams:
  same: { url: "http://127.0.0.1:3001" }
  other: { url: "http://127.0.0.1:3002", timeouts: { connect: 9s } }
  more: { url: "http://127.0.0.1:3004" }
interceptors:
  - { name: renamed, token: { value: s3cret-kept } }
  - { name: auth, token: { value: s3cret-new, header: x-auth } }
  - { name: calm, limit: { rate: 5/s } }
  - { name: fast, limit: { rate: 6/s } }
chains: { both: [{ reject: { code: aborted } }] }
caches: { pages: { bytes: 2MiB }, stays: { bytes: 1MiB } }
routes:
  - { name: a, match: { path: /a }, upstream: same, chain: both }
  - { upstream: other }
drain: { generation: 1h }
workers: 7
core_dumps: true
"""
EXPECTED = """\
listener 127.0.0.1:1001: kept
listener 127.0.0.1:1002: kept, with other settings for what begins now
listener 127.0.0.1:1004: opened
listener 127.0.0.1:1003: closed, when its connections have ended
upstream more: added
upstream other: replaced; new calls open new connections
upstream same: kept
upstream gone: removed; its connections close after their calls
token renamed (value): kept
token auth (value): replaced; Martlet gets the new one
token last (file): removed
chain interceptors: changed
chain both: kept
chain old: removed
route a: changed
route 1: added
route b: removed
route 2: removed
count calm (limit): kept
count fast (limit): replaced; it starts at zero
cache pages: replaced; it starts empty
cache stays: kept
drain: changed
workers: requires a restart
core_dumps: requires a restart
"""


@pytest.fixture
def diff(command, tmp_path):
    def run(old, new):
        files = tmp_path / "old.yaml", tmp_path / "new.yaml"
        for file, text in zip(files, (old, new)):
            file.write_text(text)
        return command("diff", *files)

    return run


def test_all_sorts_of_things(diff):
    result = diff(OLD, NEW)
    assert result.code == 0, result.stderr.text
    assert list(result.stdout) == EXPECTED.splitlines()
    assert "s3cret" not in result.stdout.text + result.stderr.text


def test_a_file_and_itself(diff):
    result = diff(OLD, OLD)
    assert result.code == 0
    assert all(line.endswith(": kept") for line in result.stdout.text.splitlines())


def test_routes_in_another_order(diff):
    routes = "routes:\n  - { name: a, upstream: x, match: { path: /a } }\n  - { name: b, upstream: x, match: { path: /b } }\n"
    start = 'listen: 127.0.0.1:1001\nupstreams: { x: { url: "http://127.0.0.1:3001" } }\n'
    first, *rows = routes.splitlines(keepends=True)
    result = diff(start + routes, start + first + "".join(reversed(rows)))
    assert "route a: kept" in list(result.stdout)
    assert list(result.stdout)[-1] == "routes: in another order"


def test_a_credential_that_only_the_service_has(diff):
    text = "listen: 127.0.0.1:1001\nupstream: http://127.0.0.1:3001\ninterceptors: [{ token: { credential: token } }]\n"
    result = diff(text, text)
    assert result.code == 0 and "token token (file): kept\n" in result.stdout.text


def test_errors_of_both_files(diff):
    result = diff("listn: 1\n", "upstreem: 1\n")
    assert result.code == 78 and result.stdout.text == ""
    assert 'old.yaml:1:1: unknown key "listn"' in result.stderr.text
    assert 'new.yaml:1:1: unknown key "upstreem"' in result.stderr.text


def test_one_file_is_bad_usage(command, tmp_path):
    assert command("diff", tmp_path / "one.yaml").code == 2


def test_the_daemon_does_what_it_says(martlet, command, recorder, tmp_path):
    """An upstream that is kept keeps its connection, and one that is replaced gets a new one."""
    upstream = recorder()
    text = "listen: 127.0.0.1:0\nupstreams: {{ a: {{ url: '{url}', timeouts: {{ connect: {connect} }} }} }}\ndrain: {{ max: {max} }}\n"
    versions = [text.format(url=upstream.url, connect=c, max=m) for c, m in [("2s", "1s"), ("2s", "2s"), ("3s", "2s")]]
    files = []
    for number, version in enumerate(versions):
        files.append(tmp_path / f"version{number}.yaml")
        files[-1].write_text(version)
    proxy = martlet(versions[0])
    proxy.admin("/config")
    with proxy.http() as http:
        for number, expected in [(1, "kept"), (2, "replaced; new calls open new connections")]:
            http.get("/")
            before = len(upstream.connections)
            said = command("diff", files[number - 1], files[number]).stdout.text
            assert f"upstream a: {expected}\n" in said
            proxy.reload(versions[number])
            for _ in range(4):
                http.get("/")
            assert (len(upstream.connections) > before) == (expected != "kept")
