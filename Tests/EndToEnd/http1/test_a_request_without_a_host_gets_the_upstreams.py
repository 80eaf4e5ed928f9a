"""HTTP/1.0 without a Host: the upstream gets a host that is not empty, in either HTTP version."""

import pytest

# How the upstream is named, whether its requests keep the host of the caller, and whether it is a Unix socket.
UPSTREAMS = [(http, keeps, unix) for http in (1, 2) for keeps in (False, True) for unix in (False, True)]
HOSTS = [(b"", None), (b"host: a.example\r\n", b"a.example"), (b"host: a.example:81\r\n", b"a.example:81")]


@pytest.mark.parametrize(("http", "keeps", "unix"), UPSTREAMS)
@pytest.mark.parametrize(("field", "host"), HOSTS)
def test_host(martlet, recorder, h2_recorder, tmp_path, http, keeps, unix, field, host):
    options = {"path": str(tmp_path / "upstream.sock")} if unix else {}
    upstream = recorder(**options) if http == 1 else h2_recorder(**options)
    host_option = ", host: caller" if keeps else ""
    caller = martlet(f'listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: "{upstream.url}"{host_option} }} }}\n').connect()
    caller.send(b"GET / HTTP/1.0\r\n" + field + b"\r\n")
    assert caller.response().status == 200
    own = b"localhost" if unix else upstream.url.split("//")[-1].encode()
    expected = host if host and (keeps or unix) else own
    if http == 1:
        assert upstream.requests[0].header("host").encode() == expected
    else:
        assert upstream.streams[0].values(":authority") == [expected]
        assert upstream.streams[0].values("host") == []


def test_an_absolute_target_names_the_host(martlet, h2_recorder):
    upstream = h2_recorder()
    caller = martlet(f'listen: 127.0.0.1:0\nupstreams: {{ default: {{ url: "{upstream.url}", host: caller }} }}\n').connect()
    caller.send(b"GET http://b.example/x HTTP/1.0\r\n\r\n")
    assert caller.response().status == 200
    assert upstream.streams[0].values(":authority") == [b"b.example"]
