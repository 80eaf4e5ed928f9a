"""A path calls the method of its template, however the caller and the template write the same characters."""

import json

import pytest
from support.http1.recorder import JSON
from support.schemas import compiled

from rest.things import SCHEMAS

SERVICE = "rest.v1.Paths"
PATHS = [
    ("/v1/%7Ehome/7", "Tilde", "7"),
    ("/v1/%7ehome/7", "Tilde", "7"),
    ("/v1/~home/7", "Tilde", "7"),
    ("/v1/~h%6Fme/7", "Tilde", "7"),
    ("/v1/./x/../~home/7", "Tilde", "7"),
    ("/v1/~bare/7", "Bare", "7"),
    ("/v1/%7Ebare/7", "Bare", "7"),
    ("/v1/@me/7", "At", "7"),
    ("/v1/%40me/7", "At", "7"),
    ("/v1/@me/%40me", "At", "@me"),
    ("/v1/%40me/a%2Fb", "At", "a/b"),
    ("/v1/@you/7", "EscapedAt", "7"),
    ("/v1/%40you/7", "EscapedAt", "7"),
    ("/v1/a%2fb/7", "Slash", "7"),
    ("/v1/a%2Fb/7", "Slash", "7"),
    ("/v1/jobs/7:cancel", "Cancel", "7"),
    ("/v1/jobs/7:%63ancel", "Cancel", "7"),
    ("/v1/jobs/%37:cance%6c", "Cancel", "7"),
    ("/v1/jobs/7:stop@once", "Stop", "7"),
    ("/v1/jobs/7:stop%40once", "Stop", "7"),
    # An escaped colon is part of the ID.
    ("/v1/jobs/7%3acancel", "Job", "7:cancel"),
    ("/v1/jobs/7%3Acancel", "Job", "7:cancel"),
    ("/@all/@some/7", "First", "@some/7"),
    ("/%40all/%40some/7", "First", "@some/7"),
]


@pytest.fixture
def proxy(martlet, tmp_path):
    file = tmp_path / "paths.binpb"
    file.write_bytes(compiled(SCHEMAS, "paths.proto"))

    def start(upstream, settings):
        return martlet(
            f"""
            listen: 127.0.0.1:0
            upstreams: {{ default: {{ url: "{upstream.url}", {settings} }} }}
            types: {{ files: [{file}], rest: [{SERVICE}] }}
            """
        )

    return start


def test_requests_of_callers(proxy, recorder):
    upstream = recorder(JSON)
    martlet = proxy(upstream, "speaks: connect, codecs: [json]")
    for path, _, _ in PATHS:
        caller = martlet.connect()
        caller.send(f"GET {path} HTTP/1.1\r\nhost: a\r\n\r\n".encode())
        assert caller.response().status == 200, path
        caller.close()
    assert [(one.target, json.loads(one.body)) for one in upstream.requests] == [
        (f"/{SERVICE}/{method}", {"id": value}) for _, method, value in PATHS
    ]


@pytest.mark.parametrize("path", ["/v1/a/b/7", "/v1/jobs/7%2F8/9", "/v1/%2Fhome/7", "/v1/%25%37%45home/7"])
def test_paths_of_no_template(proxy, recorder, path):
    upstream = recorder(JSON)
    caller = proxy(upstream, "speaks: connect, codecs: [json]").connect()
    caller.send(f"GET {path} HTTP/1.1\r\nhost: a\r\n\r\n".encode())
    caller.response()
    assert all(SERVICE not in request.target for request in upstream.requests)


@pytest.mark.parametrize(
    "method, value, target",
    [
        # What goes upstream is what the template says.
        ("Tilde", "7", "/v1/%7Ehome/7"),
        ("At", "7", "/v1/@me/7"),
        ("EscapedAt", "7", "/v1/%40you/7"),
        ("Slash", "7", "/v1/a%2fb/7"),
        ("Cancel", "7", "/v1/jobs/7:%63ancel"),
        ("Job", "7:cancel", "/v1/jobs/7%3Acancel"),
        ("First", "@some/7", "/@all/%40some/7"),
    ],
)
def test_requests_to_a_rest_server(proxy, recorder, method, value, target):
    upstream = recorder(JSON)
    with proxy(upstream, "speaks: rest").http() as http:
        assert http.post(f"/{SERVICE}/{method}", json={"id": value}).status_code == 200
    assert [request.target for request in upstream.requests] == [target]
