"""A property: `martlet explain`, `martlet test` and the running daemon agree on random chains and requests."""

import json
import random

import pytest

NAMES = ["x-a", "x-b", "x-c"]
METHODS = ["shop.v1.OrderService/Get", "shop.v1.OrderService/Delete", "shop.v1.UserService/Get"]
CODES = ["permission_denied", "not_found", "unavailable", "invalid_argument"]


def condition(chance):
    name = chance.choice(NAMES)
    return chance.choice(
        [
            {"method": chance.choice(["Get", "Delete"])},
            {"service": chance.choice(["shop.v1.OrderService", "shop.v1.UserService"])},
            {"header": {name: chance.choice(["present", "absent", "1", {"regex": "^[12]$"}])}},
            {"path": chance.choice(["/shop.v1.OrderService/", "/shop.v1.UserService/Get"])},
            {"protocol": "connect"},
        ]
    )


def interceptor(chance, number):
    kind = chance.choice(["headers", "headers", "headers", "reject", "rewrite", "respond", "deadline", "message"])
    name = chance.choice(NAMES)
    options = {
        "headers": {"request": chance.choice([{"set": {name: f"s{number}"}}, {"remove": [name]}, {"set": {name: "{header:x-a}{method}"}}])},
        "reject": {"code": chance.choice(CODES), "message": f"no {number}"},
        "rewrite": {"path": {"prefix": "/shop.v1.UserService/", "with": "/shop.v2.UserService/"}},
        "respond": {"json": {"by": number}},
        "deadline": {"default": "5s"},
        "message": {"on": "request", "set": {"/n": number}},
    }[kind]
    result = {"name": f"{kind}-{number}", kind: options}
    if kind in ("reject", "respond") or chance.random() < 0.5:
        result["when"] = condition(chance)
    return result


def configuration(chance, upstream, log):
    chain = [interceptor(chance, number) for number in range(chance.randint(1, 6))]
    return {
        "listen": "127.0.0.1:0",
        "upstreams": {"orders": upstream, "users": upstream},
        "routes": [
            {"name": "orders", "match": {"service": "shop.v1.OrderService"}, "upstream": "orders"},
            {"name": "users", "match": {"service": "shop.v1.UserService"}, "upstream": "users", **chance.choice([{"chain": "other"}, {}])},
        ],
        "chains": {"other": [{"log": {"to": log}}, interceptor(chance, 8)]},
        "interceptors": [{"log": {"to": log}}, *chain],
    }


def request(chance):
    headers = {name: str(chance.randint(1, 3)) for name in NAMES if chance.random() < 0.5}
    return chance.choice(METHODS), headers, {"n": chance.randint(0, 9)}


def live(proxy, upstream, log, method, headers, message):
    """What the daemon does with a call: its log line, and the request that the upstream gets."""
    upstream.admin("/mocks/reset", "POST")
    before = log.read_text().count("\n") if log.exists() else 0
    with proxy.http() as client:
        client.post(f"/{method}", json=message, headers=headers)
    while not log.exists() or log.read_text().count("\n") == before:
        pass
    calls = json.loads(upstream.admin("/mocks/up/calls").text)["calls"]
    return json.loads(log.read_text().splitlines()[-1]), calls[0] if calls else None


def expectation(line, sent):
    expected = {key: line[key] for key in ("code", "decided_by", "route")}
    expected["upstream"] = line["upstream"] if sent else "none"
    if sent:
        own = {name: sent["request"]["headers"].get(name, "absent") for name in NAMES}
        expected["request"] = {"path": f"/{sent['request']['call']}", "headers": own, "json": {"/n": sent["received"][0]["json"]["n"]}}
    return expected


def explained(command, file, method, headers, message):
    """The upstream, the headers that go there, and who responds, as explain says it."""
    options = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    result = command("explain", "POST", f"/{method}", "-c", file, *options, "-d", json.dumps(message))
    assert result.code == 0, result.stderr.text
    lines = [line.strip() for line in result.stdout.text.splitlines()]
    fields = dict(line.split(": ", 1) for line in lines if line.startswith("x-"))
    upstream = next((line.split()[1].rstrip(",") for line in lines if line.startswith("upstream ")), None)
    decider = next((line.removeprefix("response  by ") for line in lines if line.startswith("response ")), None)
    path = next((line.split()[1] for line in lines if line.startswith("POST ")), None)
    return upstream, decider, path, {name: fields.get(name, "absent") for name in NAMES}


@pytest.mark.parametrize("seed", range(8))
def test_they_agree(martlet, command, tmp_path, seed):
    chance = random.Random(seed)
    upstream = martlet("listen: 127.0.0.1:0\nmocks: { up: { unmatched: empty } }\ninterceptors: [ { mock: up } ]\n")
    log = tmp_path / "access.log"
    settings = configuration(chance, upstream.url, str(log))
    text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in settings.items())
    (tmp_path / "live.yaml").write_text(text)
    proxy = martlet(text)
    requests = [request(chance) for _ in range(25)]
    tests = []
    for method, headers, message in requests:
        line, sent = live(proxy, upstream, log, method, headers, message)
        expected = expectation(line, sent)
        tests.append({"name": f"{method} {headers}", "call": {"method": method, "headers": headers, "json": message}, "expect": expected})
        to, decider, path, fields = explained(command, tmp_path / "live.yaml", method, headers, message)
        if sent:
            assert (to, path, fields) == (expected["upstream"], expected["request"]["path"], expected["request"]["headers"])
        else:
            assert (to, f"interceptor:{decider.removeprefix('interceptor ')}") == (None, expected["decided_by"])
    given = {"upstreams": {name: {"mock": {"unmatched": "empty"}} for name in ("orders", "users")}}
    text = json.dumps({"config": "live.yaml", "given": given, "tests": tests})
    # In quotes it would be a value.
    (tmp_path / "live.tests.yaml").write_text(text.replace('"absent"', "absent"))
    result = command("test", tmp_path / "live.tests.yaml")
    assert result.code == 0, result.stdout.text
