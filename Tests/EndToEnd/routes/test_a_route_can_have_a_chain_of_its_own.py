"""A list below `chain` of a route is a chain, with the places of its errors, and what it includes."""

import json


def test_it_applies_to_the_calls_of_the_route(martlet):
    routes = [
        {"match": {"path": "/a"}, "chain": [{"include": "both"}, {"respond": {"status": 201}}]},
        {"chain": [{"respond": {"status": 202}}]},
    ]
    chains = {"both": [{"headers": {"response": {"set": {"x-a": "b"}}}}], "route-0": [{"respond": {"status": 500}}]}
    proxy = martlet(f"listen: 127.0.0.1:0\nchains: {json.dumps(chains)}\nroutes: {json.dumps(routes)}\n")
    with proxy.http() as http:
        one, other = http.get("/a"), http.get("/b")
    assert (one.status_code, one.headers["x-a"], other.status_code) == (201, "b", 202)


def test_an_error_has_its_place(command, tmp_path):
    text = "listen: 127.0.0.1:0\nroutes:\n  - chain:\n      - respnd: {}\n"
    (tmp_path / "martlet.yaml").write_text(text)
    checked = command("check", "-c", "martlet.yaml", cwd=tmp_path)
    assert checked.code == 78
    assert any(line.startswith("martlet.yaml:4:9: ") for line in checked.stderr), checked.stderr.text
