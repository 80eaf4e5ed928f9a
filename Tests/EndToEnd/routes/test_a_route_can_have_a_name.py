"""Metrics, logs and `explain` use a route's name, wherever a reload moves the route. Other routes have their number."""

import json

from support.wait import eventually

ROUTES = {
    "users": "name: users, match: { path: /users/ }",
    "new": "name: new, match: { path: /new/ }",
    "rest": "match: { path: / }",
}


def configuration(url, log, *routes):
    items = "\n".join(f"  - {{ {ROUTES[route]} }}" for route in routes)
    return f"""
listen: 127.0.0.1:0
upstream: {url}
interceptors: [ metrics: {{}}, log: {{ to: {log} }} ]
routes:
{items}
"""


def by_route(proxy):
    return {labels["route"]: value for labels, value in proxy.metrics().select("martlet_rpc_handled_total")}


def test_a_route_keeps_its_series_when_it_moves(martlet, recorder, tmp_path):
    url, log = recorder().url, tmp_path / "calls.log"
    proxy = martlet(configuration(url, log, "users", "rest"))
    with proxy.http() as http:
        for path in ("/users/1", "/other"):
            assert http.get(path).status_code == 200
        eventually(lambda: by_route(proxy) == {"users": 1, "1": 1})
        proxy.reload(configuration(url, log, "new", "users", "rest"))
        for path in ("/users/2", "/new/1", "/other"):
            assert http.get(path).status_code == 200
        eventually(lambda: by_route(proxy) == {"users": 2, "new": 1, "1": 1, "2": 1})
    lines = eventually(lambda: len(lines := log.read_text().splitlines()) == 5 and lines)
    assert [json.loads(line)["route"] for line in lines] == ["users", 1, "users", "new", 2]


def test_explain_says_the_name(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(configuration("http://127.0.0.1:9", "stdout", "new", "users", "rest"))
    for path, route in (("/users/1", "users (1)"), ("/other", "2")):
        result = command("explain", "-c", file, "GET", path)
        assert f"route     {route}, chain interceptors" in result.stdout.text.splitlines()


def test_a_bad_name_is_reported_with_its_position(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text("listen: 127.0.0.1:0\nupstream: http://127.0.0.1:9\nroutes: [ { name: a b }, { name: 7 } ]\n")
    result = command("check", "-c", file)
    assert result.code == 78
    assert [line.removeprefix(f"{file}:") for line in result.stderr.text.splitlines() if str(file) in line] == [
        '3:19: "a b" is not a valid route name; use at most 64 lower-case letters, digits, "-", "_" and "."',
        '3:34: "7" is a number, which means a route without a name; add a letter',
    ]
