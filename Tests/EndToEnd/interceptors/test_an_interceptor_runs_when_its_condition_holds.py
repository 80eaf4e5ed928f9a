"""`when` looks at service, method, path, host, header and peer. All given conditions must hold.

The host is the one that the call goes to. Whoever calls cannot say another, so that a token stays where it belongs.
"""

import os

import pytest

from support.protocol import CONNECT_UNARY_JSON, SAY

SERVICE = "connectrpc.eliza.v1.ElizaService"
# name: (condition, calls it holds for, calls it does not hold for); a call is (path, headers).
CASES = {
    "service": (f"service: {SERVICE}", [(SAY, {})], [("/other.v1.Service/Say", {}), ("/", {})]),
    "services": (f"service: [a.B, {SERVICE}]", [(SAY, {}), ("/a.B/C", {})], [("/c.D/Say", {})]),
    "method": ("method: Say", [(SAY, {}), ("/a.B/Say", {})], [("/a.B/say", {})]),
    "path": ("path: /exact", [("/exact", {}), ("/exact?q=1", {})], [("/exact/", {}), ("/exactly", {})]),
    "prefix": ("path: /admin/", [("/admin/", {}), ("/admin/x", {})], [("/admin", {}), ("/Admin/", {})]),
    "host": ("host: b.example", [("/", {"host": "b.example"})], [("/", {"host": "c.example"})]),
    "the host of the upstream": ("host: 127.0.0.1", [("/", {})], [("/", {"host": "b.example"})]),
    "exact header": ("header: { x-a: one }", [("/", {"x-a": "one"})], [("/", {"x-a": "One"}), ("/", {})]),
    "present": ("header: { x-a: present }", [("/", {"x-a": "one"})], [("/", {})]),
    "absent": ("header: { x-a: absent }", [("/", {})], [("/", {"x-a": "one"})]),
    "regex": ('header: { x-a: { regex: "^v[0-9]+$" } }', [("/", {"x-a": "v12"})], [("/", {"x-a": "v"})]),
    "the word present": ("header: { x-a: { exact: present } }", [("/", {"x-a": "present"})], [("/", {"x-a": "1"})]),
    "header list": ("header: { x-a: [one, two] }", [("/", {"x-a": "two"})], [("/", {"x-a": "three"})]),
    "both": ("method: Say, header: { x-a: one }", [(SAY, {"x-a": "one"})], [(SAY, {}), ("/", {"x-a": "one"})]),
    "peer": ("peer: { uid: 0 }", [], [(SAY, {})]),  # a TCP caller has no user id
}


@pytest.mark.parametrize("name", CASES)
def test_conditions(martlet, recorder, name):
    condition, holds, fails = CASES[name]
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstream: {recorder().url}
        interceptors:
          - when: {{ {condition} }}
            headers: {{ response: {{ set: {{ x-ran: "yes" }} }} }}
        """
    )
    with proxy.http() as http:
        for calls, expected in [(holds, "yes"), (fails, None)]:
            for path, headers in calls:
                response = CONNECT_UNARY_JSON.call(http, path, headers)
                assert response.headers.get("x-ran") == expected, (path, headers)


@pytest.mark.parametrize(
    "condition, holds, fails",
    [("a.example", "A.Example:81", "b.a.example"), ('"*.example"', "a.b.example", "example")],
    ids=["exact", "suffix"],
)
def test_the_host_is_the_one_that_the_caller_sends(martlet, recorder, condition, holds, fails):
    upstream = recorder()
    proxy = martlet(
        f"""
        listen: 127.0.0.1:0
        upstreams: {{ default: {{ url: "{upstream.url}", host: caller }} }}
        interceptors:
          - when: {{ host: {condition} }}
            headers: {{ response: {{ set: {{ x-ran: "{{host}}" }} }} }}
        """
    )
    with proxy.http() as http:
        assert http.get("/", headers={"host": holds}).headers.get("x-ran") == holds
        assert http.get("/", headers={"host": fails}).headers.get("x-ran") is None
    assert [request.header("host") for request in upstream.requests] == [holds, fails]


@pytest.mark.parametrize("uid", [os.getuid(), f"[7, {os.getuid()}]", os.getuid() + 1])
def test_the_user_behind_a_unix_socket(martlet, recorder, tmp_path, uid):
    proxy = martlet(
        f"""
        listen: unix:{tmp_path}/rpc.sock
        upstream: {recorder().url}
        interceptors:
          - when: {{ peer: {{ uid: {uid}, gid: {os.getgid()} }} }}
            headers: {{ response: {{ set: {{ x-ran: "{{peer.uid}} {{peer.gid}}" }} }} }}
        """
    )
    with proxy.http() as http:
        expected = None if uid == os.getuid() + 1 else f"{os.getuid()} {os.getgid()}"
        assert http.get("/").headers.get("x-ran") == expected
