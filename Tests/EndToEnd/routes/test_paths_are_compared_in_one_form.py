"""Everything that a path is compared with holds for each way to write the same path; the upstream gets what was sent."""

import itertools

import pytest

# The same path in two ways each, and two paths that are not the same.
SAME = [("/~a/x", "/%7Ea/x"), ("/%7ea/x", "/%7Ea/x"), ("/@a/x", "/%40a/x"), ("/a%2fb/x", "/a%2Fb/x"), ("/%c3%a4/x", "/%C3%A4/x"), ("/./a/x", "/b/../a/x")]
OTHER = [("/a%2Fb/x", "/a/b/x"), ("/a:b/x", "/a%3Ab/x"), ("/a;b/x", "/a%3Bb/x"), ("/a+b/x", "/a%2Bb/x"), ("/a%2561/x", "/aa/x"), ("//a/x", "/a/x")]
BOTH_WAYS = [pair for one in SAME for pair in (one, one[::-1])]


def get(proxy, path, version=1, method="GET"):
    """The response to a request with these bytes as its path."""
    if version == 2:
        peer = proxy.connect_h2()
        stream = peer.open([(":method", method), (":scheme", "http"), (":authority", "a"), (":path", path)], end=True)
        peer.finish(stream)
        return stream.status, bytes(stream.body).decode()
    caller = proxy.connect()
    caller.send(f"{method} {path} HTTP/1.1\r\nhost: a\r\n{'content-length: 0' + chr(13) + chr(10) if method == 'POST' else ''}\r\n".encode())
    response = caller.response()
    caller.close()
    return response.status, response.body.decode()


@pytest.fixture
def numbered(recorder):
    """An upstream whose responses have numbers; a POST to /change?PATH names the path in a header."""

    def start(*fields):
        numbers = itertools.count(1)

        def respond(request):
            path, _, named = request.target.partition("?")
            lines = [*fields, *([named] if path == "/change" else [])]
            body = str(next(numbers)).encode()
            head = "".join(f"{line}\r\n" for line in ["HTTP/1.1 200 OK", f"content-length: {len(body)}", *lines, ""])
            return head.encode() + body

        return recorder(respond)

    return start


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("sent", ["/a%2fb/x", "/a%2Fb/x", "/@me", "/%40me", "/7:x", "/7%3ax", "/%c3%a4", "/a;b", "/a%3bb"])
def test_the_upstream_gets_what_was_sent(martlet, recorder, sent, version):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { when: { path: [/a%2Fb/, /@me] }, headers: { request: { set: { x-a: b } } } } ]")
    assert get(proxy, sent + "?q=%7e", version)[0] == 200
    assert upstream.requests[0].target == sent + "?q=%7e"


# `check` rejects conditions with needless escapes and dot segments.
@pytest.mark.parametrize("written, sent", [pair for pair in BOTH_WAYS if not any(text in pair[0].lower() for text in ("%7e", "/.", "%61"))])
def test_routes_and_conditions(martlet, recorder, written, sent):
    upstream = recorder()
    for path in (written, written[:-1]):
        proxy = martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{upstream.url}" }} }}
            chains: {{ found: [ {{ when: {{ path: "{path}" }}, respond: {{ body: both }} }}, {{ respond: {{ body: route }} }} ] }}
            routes: [ {{ match: {{ path: "{path}" }}, chain: found }}, {{ upstream: default }} ]
            """
        )
        for version in (1, 2):
            assert get(proxy, sent, version) == (200, "both"), path


@pytest.mark.parametrize("written, sent", OTHER)
def test_paths_that_are_not_the_same(martlet, recorder, written, sent):
    proxy = martlet(upstream=recorder().url, more=f"interceptors: [ {{ when: {{ path: '{written}' }}, reject: {{ code: aborted }} }} ]")
    assert get(proxy, sent)[0] == 200
    assert get(proxy, written)[0] == 409


@pytest.mark.parametrize("sent", ["/admin/x", "/%61dmin/x", "/./admin/x", "/x/../admin/x", "/x/%2e%2e/admin/x", "/%2e/%41dmin/../admin/x", "/admin/./x", "/admin/y/../x"])
@pytest.mark.parametrize("version", [1, 2])
def test_no_way_to_write_a_path_leads_past_a_rejection(martlet, recorder, sent, version):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { when: { path: /admin/ }, reject: { code: permission_denied } } ]")
    assert get(proxy, sent, version)[0] == 403 and upstream.bytes == b""


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_mocks(martlet, written, sent):
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        mocks:
          url: {{ unmatched: next, rules: [ {{ when: {{ url: "{written}?q=1" }}, respond: {{ body: url }} }} ] }}
          part: {{ unmatched: next, rules: [ {{ when: {{ url: {{ contains: "{written}?q=2" }} }}, respond: {{ body: part }} }} ] }}
          template: {{ unmatched: next, rules: [ {{ when: {{ template: "{written[:-1]}{{id}}" }}, respond: {{ body: "template {{path:id}}" }} }} ] }}
        interceptors: [ {{ mock: url }}, {{ mock: part }}, {{ mock: template }}, {{ respond: {{ body: none }} }} ]
        """
    )
    assert get(proxy, sent + "?q=1") == (200, "url")
    assert get(proxy, sent) == (200, "template x")
    assert get(proxy, sent + "y") == (200, "template xy")
    if "/." not in written and "/.." not in written:
        assert get(proxy, sent + "?q=2")[1] in ("part", "template x")
    assert get(proxy, "/other/y/z") == (200, "none")


def test_a_regular_expression_sees_the_normal_form(martlet):
    proxy = martlet(
        """
        listen: 127.0.0.1:0
        mocks: { m: { unmatched: next, rules: [ { when: { url: { regex: "^/@a/a%2Fb[?]q=%7e$" } }, respond: { body: "yes" } } ] } }
        interceptors: [ { mock: m }, { respond: { body: "no" } } ]
        """
    )
    assert [get(proxy, path)[1] for path in ("/%40a/a%2fb?q=%7e", "/@a/%61%2Fb?q=%7e", "/@a/a/b?q=%7e")] == ["yes", "yes", "no"]


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_rewrites_of_prefixes_and_patterns(martlet, recorder, written, sent):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {upstream.url}
        interceptors: [ {{ rewrite: {{ path: {{ prefix: "{'/a/x' if '/.' in written else written}", with: /new }} }} }} ]
        """
    )
    # The rest stays as it was sent.
    get(proxy, sent + "/a%2fb/%40?q=%7e")
    assert upstream.requests[0].target == "/new/a%2fb/%40?q=%7e"


def test_rewrites_of_patterns_see_the_normal_form(martlet, recorder):
    upstream = recorder()
    proxy = martlet(upstream=upstream.url, more="interceptors: [ { rewrite: { path: { pattern: '^/@me/', with: /users/7/ } } } ]")
    for path in ("/%40me/x", "/@me/x", "/%40you/a%2fb"):
        get(proxy, path)
    assert [request.target for request in upstream.requests] == ["/users/7/x", "/users/7/x", "/%40you/a%2fb"]


@pytest.mark.parametrize("written, sent", SAME)
def test_a_cache_stores_a_path_once(martlet, numbered, written, sent):
    upstream = numbered("cache-control: max-age=60")
    proxy = martlet(upstream=upstream.url, more="caches: { c: {} }\ninterceptors: [ { cache: { in: c } } ]")
    assert get(proxy, written) == get(proxy, sent) == (200, "1")
    assert get(proxy, sent + "?q=%7e")[1] == "2" and get(proxy, sent + "?q=~")[1] == "3"


@pytest.mark.parametrize("written, sent", OTHER)
def test_a_cache_keeps_other_paths_apart(martlet, numbered, written, sent):
    upstream = numbered("cache-control: max-age=60")
    proxy = martlet(upstream=upstream.url, more="caches: { c: {} }\ninterceptors: [ { cache: { in: c } } ]")
    assert [get(proxy, path)[1] for path in (written, sent, written)] == ["1", "2", "1"]


@pytest.mark.parametrize("field", ["location", "content-location"])
@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_an_unsafe_request_invalidates(martlet, numbered, written, sent, field):
    upstream = numbered("cache-control: max-age=60")
    proxy = martlet(upstream=upstream.url, more="caches: { c: {} }\ninterceptors: [ { cache: { in: c } } ]")
    assert get(proxy, sent)[1] == get(proxy, sent)[1] == "1"
    get(proxy, f"/change?{field}:{written}", method="POST")
    assert get(proxy, sent)[1] == "3"
    get(proxy, written, method="POST")
    assert get(proxy, sent)[1] == "5"


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_a_purge(martlet, numbered, written, sent):
    upstream = numbered("cache-control: max-age=60")
    proxy = martlet(upstream=upstream.url, more="caches: { c: {} }\ninterceptors: [ { cache: { in: c } } ]")
    for path in (written, written[:-1]):
        first = get(proxy, sent)[1]
        assert proxy.admin("/cache/purge?path=" + path.replace("%", "%25"), "POST").text == "removed 1 response\n"
        assert get(proxy, sent)[1] != first


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_cookies(martlet, numbered, written, sent):
    folder = written[:-2]
    upstream = numbered(f"set-cookie: a=1; Path={folder}")
    proxy = martlet(f"listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: {upstream.url}, cookies: jar }} }}")
    for path in (written, sent, sent + "/z"):
        get(proxy, path)
    get(proxy, "/other")
    assert [request.header("cookie") for request in upstream.requests] == [None, "a=1", "a=1", None]


@pytest.mark.parametrize("written, sent", SAME)
def test_limits_by_path(martlet, recorder, written, sent):
    proxy = martlet(upstream=recorder().url, more="interceptors: [ { limit: { rate: 1/h, key: '{path}' } } ]")
    assert [get(proxy, path)[0] for path in (written, sent, "/other")] == [200, 429, 200]


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_tapes(martlet, written, sent, tmp_path):
    tape = tmp_path / "tape.yaml"
    tape.write_text(
        f"---\ncall: GET {written}?q=%7e\nprotocol: http\nscript:\n  - closed: true\n  - respond: {{ body: played }}\n...\n"
    )
    proxy = martlet(f"listen: 127.0.0.1:0\nmocks: {{ m: {{ tape: {tape} }} }}\ninterceptors: [ {{ mock: m }} ]")
    assert get(proxy, sent + "?q=%7e") == (200, "played")


@pytest.mark.parametrize("written, sent", BOTH_WAYS)
def test_expectations_of_tests(command, tmp_path, written, sent):
    (tmp_path / "martlet.yaml").write_text("listen: 127.0.0.1:8080\nupstream: http://127.0.0.1:1\n")
    (tmp_path / "a.tests.yaml").write_text(
        f"config: martlet.yaml\ngiven: {{ upstreams: {{ default: {{ mock: {{ rules: [ {{ respond: {{ body: x }} }} ] }} }} }} }}\ntests:\n  - name: a\n    call: {{ http: 'GET {sent}' }}\n    expect: {{ request: {{ path: '{written}' }} }}\n"
    )
    result = command("test", tmp_path / "a.tests.yaml")
    assert result.code == 0, result.stdout.text + result.stderr.text
