"""`martlet explain` shows offline what the chain does with a request, and shows no secret."""

import pytest

CONFIGURATION = """
listen: 127.0.0.1:8080
upstreams:
  orders: h2c://127.0.0.1:9
interceptors:
  - name: auth
    token: { env: SECRET }
  - headers: { request: { set: { x-env: prod }, remove: [x-internal], rename: { x-old: x-new } } }
  - name: closed
    when: { method: Delete }
    reject: { code: permission_denied, message: "no deletes" }
  - name: streams
    applies: stream
    metrics: {}
  - name: slow
    when: { header: { x-slow: present } }
    fault: { delay: 20ms }
routes:
  - match: { path: /nowhere }
    chain: empty
  - upstream: orders
chains:
  empty: [ { respond: { body: "here\\n" } } ]
"""


@pytest.fixture
def explain(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text(CONFIGURATION)

    def run(*arguments):
        result = command("explain", "-c", file, *arguments, environment={"SECRET": "s3cret"})
        assert result.code == 0, result.stderr.text
        assert "s3cret" not in result.stdout.text
        return [line.strip() for line in result.stdout.text.splitlines()]

    return run


def shown(lines, name):
    return next(line.removeprefix(name).strip() for line in lines if line.split()[0] == name)


def test_a_request_that_goes_upstream(explain):
    lines = explain("POST", "/shop.v1.Orders/Get", "-H", "x-internal: 1", "-H", "x-old: 2")
    assert shown(lines, "route") == "1, chain interceptors"
    assert shown(lines, "protocol") == "connect_unary"
    assert shown(lines, "auth").startswith("request_head: next, added authorization (")
    assert shown(lines, "headers").startswith("request_head: next, removed x-internal, renamed x-old, added x-env (")
    assert shown(lines, "closed") == "does not apply: when"
    assert shown(lines, "streams") == "does not apply: applies"
    assert shown(lines, "upstream") == "orders, h2c://127.0.0.1:9"
    head = lines[next(index for index, line in enumerate(lines) if line.startswith("upstream")) + 1 :]
    assert head == [
        "POST /shop.v1.Orders/Get",
        "host: 127.0.0.1:9",
        "x-new: 2",
        "content-type: application/json",
        "authorization: ***",
        "x-env: prod",
    ]


def test_a_request_that_is_rejected(explain):
    lines = explain("POST", "/shop.v1.Orders/Delete", "-H", "content-type: application/grpc")
    assert shown(lines, "closed").startswith("request_head: reject")
    assert shown(lines, "streams") == "not reached"
    assert shown(lines, "response") == "by interceptor closed"
    assert "grpc-status: 7" in lines and "grpc-message: no deletes" in lines


def test_a_request_that_the_chain_responds_to(explain):
    lines = explain("GET", "/nowhere")
    assert shown(lines, "route") == "0, chain empty"
    assert shown(lines, "respond").startswith("request_head: respond")
    assert lines[-1] == "here"


def test_explain_waits_for_an_interceptor(explain):
    lines = explain("POST", "/shop.v1.Orders/Get", "-H", "x-slow: 1")
    event, time = shown(lines, "slow").removesuffix(" ms)").split(" (")
    assert event == "request_head: suspend" and float(time) >= 20
    assert shown(lines, "upstream") == "orders, h2c://127.0.0.1:9"


@pytest.mark.parametrize(
    "arguments, problem",
    [
        ([], "explain needs METHOD and PATH"),
        (["POST"], "explain needs PATH"),
        (["POST", "nowhere"], '"nowhere" is not a valid path'),
        (["POST", "/a", "-H", "nothing"], '"nothing" is not a valid header'),
        (["POST", "/a", "-x", "1"], 'unknown option "-x"'),
    ],
)
def test_a_wrong_command_line(command, arguments, problem):
    result = command("explain", *arguments)
    assert result.code == 2
    assert problem in result.stderr.text


def test_a_bad_file(command, tmp_path):
    file = tmp_path / "martlet.yaml"
    file.write_text("listen: 127.0.0.1:1\nupstraem: http://127.0.0.1:2\n")
    result = command("explain", "-c", file, "GET", "/")
    assert result.code == 78
    assert "martlet.yaml:2:1: unknown key" in result.stderr.text
