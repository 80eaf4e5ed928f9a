"""`martlet test` runs the real chain of a configuration without any network, and on a clock of its own."""

import json
import subprocess
import textwrap
import time
import xml.etree.ElementTree

import pytest
from support.martlet import BINARY
from support.servers.eliza_messages import SERVICE, descriptor_set

CONFIG = """
listen: 127.0.0.1:8080
upstreams:
  orders: { url: "https://orders.example" }
  slow: { url: "http://slow.example", timeouts: { attempt: 2s } }
routes:
  - { name: slow, match: { service: shop.v1.SlowService }, upstream: slow }
  - { match: { service: shop.v1.OrderService }, upstream: orders }
  - { name: files, match: { path: /files/ }, upstream: orders }
interceptors:
  - log: { to: /nowhere/access.log }
  - name: no-deletes
    when: { method: Delete }
    reject: { code: permission_denied, message: "deletes are not for you" }
  - name: auth
    when: { service: shop.v1.OrderService }
    token: { oauth2: { token_url: "https://id.example/token", client_id: a, client_secret: { value: b } } }
  - headers: { request: { set: { x-user: "{peer.uid}" }, remove: [x-internal] } }
  - name: again
    when: { method: Flaky }
    validate:
      max_retries: 3
      retry: { methods: [shop.v1.OrderService/Flaky] }
      rules: [ { when: { code: unavailable }, retry: { delayed: 3s } } ]
  - name: few
    when: { method: Few }
    limit: { rate: 2/s }
"""

GIVEN = """
given:
  tokens: { auth: [ { value: t1, lifetime: 1m }, { value: t2, lifetime: 1m } ] }
  upstreams:
    orders:
      mock:
        methods:
          Get: [ { times: 1, respond: { code: unauthenticated } }, { respond: { json: { id: 7 }, trailers: { x-cost: "1" } } } ]
          Flaky: [ { times: 2, respond: { code: unavailable } }, { respond: { json: { ok: true } } } ]
          Watch: [ { outputs: [ { send: { json: { n: 1 } } }, { wait: 1m }, { send: { json: { n: 2 } } } ] } ]
          Hang: [ { script: [ { wait: 1h } ] } ]
        rules: [ { when: { path: /files/ }, respond: { status: 201, body: "file {path}" } } ]
    slow: { mock: { methods: { Wait: [ { script: [ { wait: 1h } ] } ] } } }
"""


@pytest.fixture
def tested(command, tmp_path):
    """Runs tests; each text is what one has beside its name."""

    def run(*tests, config=CONFIG, given=GIVEN, options=()):
        (tmp_path / "martlet.yaml").write_text(textwrap.dedent(config))
        text = f"config: martlet.yaml\n{textwrap.dedent(given)}\ntests:\n"
        for number, test in enumerate(tests):
            text += f"  - name: test {number}\n" + textwrap.indent(textwrap.dedent(test).strip(), "    ") + "\n"
        (tmp_path / "a.tests.yaml").write_text(text)
        result = command("test", tmp_path / "a.tests.yaml", *options)
        result.text = result.stdout.text + result.stderr.text
        return result

    return run


PASSING = {
    "a rejected token is fetched again": """
        call: { method: shop.v1.OrderService/Get, json: { id: 7 } }
        expect:
          code: ok
          route: 1
          attempts: 2
          upstream: orders
          decided_by: upstream
          request: { method: POST, path: /shop.v1.OrderService/Get, headers: { authorization: "Bearer t2" }, json: { /id: 7 } }
          response: { json: { /id: 7 }, trailers: { x-cost: 1 }, headers: { content-type: application/json } }
          metrics: { 'martlet_upstream_attempts_total{upstream="orders",result="ok"}': 2 }
        """,
    "a rejection": """
        call: { method: shop.v1.OrderService/Delete }
        expect: { code: permission_denied, status: 403, decided_by: "interceptor:no-deletes", upstream: none, message: { contains: deletes } }
        """,
    "retries take their time": """
        call: { method: shop.v1.OrderService/Flaky }
        expect: { code: ok, attempts: 3, waits: [3s, 3s], time: { above: 6s, below: 6100ms } }
        """,
    "a time-out of an upstream": """
        call: { method: shop.v1.SlowService/Wait }
        expect: { code: deadline_exceeded, route: slow, time: 2s, message: { contains: timeouts.attempt } }
        """,
    "the time of the caller": """
        call: { method: shop.v1.OrderService/Hang, timeout: 500ms }
        expect: { code: deadline_exceeded, time: 500ms }
        """,
    "a caller that leaves": """
        call: { method: shop.v1.OrderService/Hang, cancel_after: 5s }
        expect: { code: canceled, time: 5s, attempts: 1 }
        """,
    "a stream": """
        call: { method: shop.v1.OrderService/Watch, protocol: connect_stream, messages: [ { a: 1 }, { a: 2 } ] }
        expect: { code: ok, time: 60s, request: { messages: [ { /a: 1 } ] }, response: { messages: [ { /n: 1 }, { /n: 2 } ] } }
        """,
    "plain HTTP": """
        call: { http: POST /files/a?b=c, text: hello, headers: { content-type: text/plain } }
        expect: { route: files, status: 201, request: { path: "/files/a?b=c" }, response: { body: file /files/a } }
        """,
    "a caller": """
        call: { method: shop.v1.OrderService/Flaky, headers: { x-internal: "1" }, peer: { uid: 1000 } }
        expect: { request: { headers: { x-user: "1000", x-internal: absent } } }
        """,
    "the log and metrics": """
        call: { method: shop.v1.OrderService/Delete }
        expect: { log: { code: permission_denied, "/trace/0/interceptor": no-deletes }, metrics: { 'martlet_retries_total{reason="rule",result="retried"}': 0 } }
        """,
    "steps share a worker": """
        steps:
          - { call: { method: shop.v1.OrderService/Few }, expect: { code: ok } }
          - { call: { method: shop.v1.OrderService/Few }, expect: { code: ok } }
          - { call: { method: shop.v1.OrderService/Few }, expect: { code: resource_exhausted, decided_by: "interceptor:few" } }
          - { after: 1s, call: { method: shop.v1.OrderService/Few }, expect: { code: ok } }
        """,
    "a token expires": """
        steps:
          - { call: { method: shop.v1.OrderService/Few }, expect: { request: { headers: { authorization: Bearer t1 } } } }
          - { after: 2m, call: { method: shop.v1.OrderService/Few }, expect: { request: { headers: { authorization: Bearer t2 } } } }
        """,
    "a fetch that fails": """
        given: { tokens: { auth: { error: no route to host } } }
        call: { method: shop.v1.OrderService/Get }
        expect: { code: unavailable, decided_by: "interceptor:auth", attempts: 0 }
        """,
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes(tested, name):
    result = tested(PASSING[name])
    assert (result.code, result.text.splitlines()) == (0, ["ok    test 0", "1 test, 0 failed"])


@pytest.mark.parametrize("protocol", ["connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web"])
@pytest.mark.parametrize("codec", ["json", "proto"])
def test_every_protocol(tested, tmp_path, protocol, codec):
    (tmp_path / "types").write_bytes(descriptor_set())
    result = tested(
        f"""
        call: {{ method: {SERVICE}/Say, protocol: {protocol}, codec: {codec}, json: {{ sentence: hi }} }}
        expect:
          code: not_found
          message: no hi
          request: {{ json: {{ /sentence: hi }}, headers: {{ content-type: {{ contains: application }} }} }}
          response: {{ trailers: {{ x-cost: "1" }} }}
        """.replace("headers: { content-type: { contains: application } }", "headers: {}" if protocol == "connect_get" else "headers: { content-type: { contains: application } }"),
        config="listen: 127.0.0.1:8080\ntypes: { files: [types] }\nupstream: h2c://127.0.0.1:1\n".replace("[types]", f"[{tmp_path}/types]"),
        given="given: { upstreams: { default: { mock: { methods: { Say: [ { respond: { code: not_found, message: 'no {json:/sentence}', trailers: { x-cost: '1' } } } ] } } } } }",
    )
    assert result.code == 0, result.text


@pytest.mark.parametrize("speaks", ["connect", "grpc", "grpc_web"])
def test_the_request_is_what_the_upstream_gets(tested, speaks):
    kind = {"connect": "application/json", "grpc": "application/grpc+json", "grpc_web": "application/grpc-web+json"}[speaks]
    result = tested(
        f"""
        call: {{ method: a.B/C, json: {{ a: 1 }} }}
        expect: {{ code: ok, request: {{ json: {{ /a: 1 }}, headers: {{ content-type: {kind} }} }}, response: {{ json: {{ /b: 2 }} }} }}
        """,
        config=f"listen: 127.0.0.1:8080\nupstreams: {{ default: {{ url: h2c://127.0.0.1:1, speaks: {speaks} }} }}\n",
        given="given: { upstreams: { default: { mock: { rules: [ { respond: { json: { b: 2 } } } ] } } } }",
    )
    assert result.code == 0, result.text


def test_a_failure_says_what_was_expected_and_seen_and_prints_the_trace(tested):
    start, end = CONFIG.index("  - name: no-deletes"), CONFIG.index("  - name: auth")
    config = CONFIG[:start] + CONFIG[end:]
    result = tested(PASSING["a rejection"], PASSING["retries take their time"], config=config)
    lines = [line.strip() for line in result.text.splitlines()]
    assert result.code == 1
    assert lines[0] == "FAIL  test 0" and lines[-1] == "2 tests, 1 failed"
    place = lines.index("code")
    assert lines[place + 1 : place + 3] == ["expected  permission_denied", "seen      ok"]
    assert any(line.startswith("|   auth") and "added authorization" in line for line in lines)
    assert "Bearer t1" not in result.text


def test_what_is_not_given_is_named(tested):
    result = tested(
        "call: { method: shop.v1.OrderService/Get }\nexpect: { code: ok }",
        "call: { method: shop.v1.SlowService/Get }\nexpect: { code: unavailable }",
        given="",
    )
    assert result.code == 1
    assert "no token for auth; add it to given.tokens" in result.text
    assert "no response for upstream slow; add it to given.upstreams" in result.text


def test_a_call_before_a_retry_is_given(tested):
    config = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:1
        calls: { login: { url: "http://127.0.0.1:2/login", method: POST } }
        interceptors:
          - validate:
              max_retries: 1
              retry: { methods: [a.B/C] }
              rules: [ { when: { code: unauthenticated }, retry: { immediate: {}, after: login } } ]
        """
    upstream = "upstreams: { default: { mock: { rules: [ { times: 1, respond: { code: unauthenticated } }, { respond: { json: {} } } ] } } }"
    test = "call: { method: a.B/C }\nexpect: { attempts: 2, code: ok }"
    result = tested(test, config=config, given=f"given: {{ {upstream}, calls: {{ login: {{ status: 200 }} }} }}")
    assert result.code == 0, result.text
    result = tested(test, config=config, given=f"given: {{ {upstream} }}")
    assert (result.code, "no response for call login; add it to given.calls" in result.text) == (1, True)


def test_a_wrong_file_is_rejected_with_the_places(tested):
    result = tested(
        """
        call: { metod: a.B/C }
        expect: { cod: ok, waits: [soon], request: { json: { id: 1 } } }
        """,
        given="given: { upstreams: { order: { mock: {} } }, time: today }",
    )
    assert result.code == 78
    for problem in [
        'unknown key "metod"; did you mean "method"?',
        'unknown key "cod"; did you mean "code"?',
        '"soon" is not a duration; write for example 250ms or 3s',
        '"id" is not a JSON Pointer',
        'no upstream is named "order"; did you mean "orders"?',
        '"time" cannot be "today"',
    ]:
        assert problem in result.text
    broken = tested("call: { method: a.B/C }", config="listen: 127.0.0.1:8080\ninterceptors: [ { nothing: {} } ]\n", given="")
    assert (broken.code, "martlet.yaml:2:19: unknown interceptor kind" in broken.text) == (78, True)


def test_output_for_machines(tested, tmp_path):
    tests = [PASSING["a rejection"], PASSING["a rejection"].replace("permission_denied", "not_found")]
    result = tested(*tests, options=["-o", "json", "--junit", tmp_path / "results.xml"])
    first, second = map(json.loads, result.stdout.text.splitlines())
    assert (first["name"], first["passed"], second["passed"]) == ("test 0", True, False)
    assert second["failures"] == [{"place": "code", "expected": "not_found", "seen": "permission_denied"}]
    (suite,) = xml.etree.ElementTree.parse(tmp_path / "results.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite[1].find("failure").get("message") == "code"


def test_coverage(tested):
    result = tested(PASSING["a rejection"], options=["--cover-min", "50"])
    assert (result.code, "not reached: interceptor auth" in result.text, "not reached: route slow" in result.text) == (1, True, True)
    result = tested(*PASSING.values(), options=["--cover"])
    assert (result.code, "100 % of routes and interceptors reached" in result.text) == (0, True), result.text


def test_one_test_of_many(tested):
    result = tested(*PASSING.values(), options=["--run", "test 1"])
    assert result.text.splitlines()[-1] == "4 tests, 0 failed"


def test_waiting_takes_no_time_and_no_network(tested, tmp_path):
    assert tested(*PASSING.values()).code == 0
    prefix = ["unshare", "-rn"] if subprocess.run(["unshare", "-rn", "true"]).returncode == 0 else ["unshare", "-n"]
    if subprocess.run([*prefix, "true"]).returncode:
        prefix = []
    start = time.monotonic()
    result = subprocess.run([*prefix, BINARY, "test", tmp_path / "a.tests.yaml"], capture_output=True, text=True)
    assert (result.returncode, time.monotonic() - start < 2) == (0, True), result.stdout
    assert not (tmp_path / "nowhere").exists()
    single = subprocess.run([BINARY, "test", tmp_path / "a.tests.yaml", "--run", "test 2", "-o", "json"], capture_output=True, text=True)
    assert json.loads(single.stdout)["ms"] < 2000  # and not the six seconds of its clock


def test_secrets_of_the_configuration_are_not_shown(tested):
    config = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:1
        interceptors: [ { token: { value: from-the-file, allow_clear_text: true } } ]
        """
    result = tested(
        "call: { method: a.B/C }\nexpect: { request: { headers: { authorization: Bearer other } } }",
        config=config,
        given="given: { upstreams: { default: { mock: {} } } }",
    )
    assert (result.code, "from-the-file" in result.text, "seen      ***" in result.text) == (1, False, True)


def test_a_mock_of_the_configuration_counts_as_an_upstream(tested):
    config = """
        listen: 127.0.0.1:8080
        mocks: { m: { methods: { Get: [ { respond: { code: not_found } } ] } } }
        interceptors: [ { mock: m } ]
        """
    result = tested("call: { method: a.B/Get }\nexpect: { upstream: m, attempts: 1, code: not_found, decided_by: 'interceptor:mock' }", config=config, given="")
    assert result.code == 0, result.text


def test_a_call_without_an_end_fails(tested):
    config = """
        listen: 127.0.0.1:8080
        mocks: { m: { methods: { Get: [ { script: [ { until: never } ] } ] } } }
        interceptors: [ { mock: m } ]
        """
    result = tested("call: { method: a.B/Get, protocol: connect_stream }\nexpect: {}", config=config, given="")
    assert (result.code, "none within a day of its clock" in result.text) == (1, True)


def test_no_test_is_a_failure(tested):
    result = tested(PASSING["a rejection"], options=["--run", "nothing"])
    assert (result.code, 'there is no test whose name contains "nothing"' in result.text) == (1, True)


def test_secrets_of_the_configuration_are_not_shown_in_bodies(tested, tmp_path):
    config = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:1
        interceptors: [ { token: { value: from-the-file, allow_clear_text: true, header: x-key } } ]
        """
    result = tested(
        "call: { method: a.B/C }\nexpect: { response: { json: { /key: other } } }",
        config=config,
        given='given: { upstreams: { default: { mock: { rules: [ { respond: { json: { key: "{header:x-key}" } } } ] } } } }',
        options=["--junit", tmp_path / "results.xml"],
    )
    assert result.code == 1
    assert "from-the-file" not in result.text and "from-the-file" not in (tmp_path / "results.xml").read_text()


def test_a_metric_must_exist_and_its_change_is_seen(tested):
    unknown = tested("call: { method: shop.v1.OrderService/Delete }\nexpect: { metrics: { martlet_retrys_total: 0 } }")
    assert (unknown.code, "no metric of this name" in unknown.text) == (1, True)
    assert tested("call: { method: shop.v1.OrderService/Flaky }\nexpect: { metrics: { martlet_log_lines_dropped_total: 0 } }").code == 0


def test_the_name_of_a_token_must_be_known(tested):
    result = tested(PASSING["a rejection"], given="given: { tokens: { aut: { value: t } } }")
    assert (result.code, 'no interceptor with a token is named "aut"; did you mean "auth"?' in result.text) == (78, True)


def test_a_token_that_no_call_needs_need_not_be_given(tested):
    given = "given: { upstreams: { slow: { mock: { methods: {} } }, orders: { mock: {} } } }"
    result = tested("call: { method: shop.v1.SlowService/Get }\nexpect: { code: ok }", given=given)
    assert result.code == 0, result.text
    result = tested("call: { method: shop.v1.OrderService/Get }\nexpect: { code: unavailable }", given=given)
    assert (result.code, "no token for auth; add it to given.tokens" in result.text) == (1, True)


LISTENERS = """
listeners:
  - { address: "127.0.0.1:8080" }
  - { address: "127.0.0.1:8081" }
routes:
  - { match: { host: inside.example }, chain: inside }
  - { chain: outside }
chains:
  inside: [ { redact: { headers: [x-number], json: [/password] } }, { respond: { json: { inside: true } } } ]
  outside:
    - reject:
        code: resource_exhausted
        message: slow down
        details: [ { type: google.rpc.RetryInfo, value: CgIIPA }, { type: shop.v1.Unknown, value: "" } ]
"""


def test_chains_hosts_listeners_and_what_is_redacted(tested):
    result = tested(
        "call: { method: a.B/C, host: inside.example, listener: 127.0.0.1:8081 }\n"
        "expect: { code: ok, chain: inside, redacted: [authorization, x-password, X-Number, /password, /password/inner] }",
        "call: { method: a.B/C }\nexpect: { chain: inside, redacted: [x-number, /password] }",
        config=LISTENERS,
        given="",
    )
    lines = [line.strip() for line in result.text.splitlines()]
    assert (result.code, lines[0]) == (1, "ok    test 0"), result.text
    assert lines[lines.index("chain") + 1 :][:2] == ["expected  inside", "seen      outside"]
    assert "expected  x-number is never shown" in lines and "expected  /password is never shown" in lines
    wrong = tested("call: { method: a.B/C, listener: 127.0.0.1:8082 }", config=LISTENERS, given="")
    assert (wrong.code, 'no listener has the address "127.0.0.1:8082"; did you mean' in wrong.text) == (78, True)


@pytest.mark.parametrize("protocol", ["connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web"])
def test_details_of_errors(tested, protocol):
    call = f"call: {{ method: a.B/C, protocol: {protocol} }}\nexpect: {{ details: "
    result = tested(
        call + "[ { type: google.rpc.RetryInfo, json: { /retryDelay: 60s } }, { type: shop.v1.Unknown } ] }",
        call + "[ { type: google.rpc.RetryInfo, json: { /retry_delay: 61s } } ] }",
        call + "[ { type: google.rpc.ErrorInfo } ] }",
        config=LISTENERS,
        given="",
    )
    lines = [line.strip() for line in result.text.splitlines()]
    assert (result.code, lines[0], lines[-1]) == (1, "ok    test 0", "3 tests, 2 failed"), result.text
    place = lines.index("details google.rpc.RetryInfo /retry_delay")
    assert lines[place + 1 : place + 3] == ['expected  "61s"', 'seen      "60s"']
    assert lines[lines.index("details") + 1 :][:2] == [
        "expected  google.rpc.ErrorInfo",
        "seen      google.rpc.RetryInfo, shop.v1.Unknown",
    ]


def test_texts_and_numbers_are_told_apart_in_failures(tested):
    result = tested(
        "call: { method: shop.v1.OrderService/Get }\nexpect: { response: { json: { /id: 8, /name: a } } }",
        given=GIVEN.replace("{ id: 7 }", '{ id: "7", name: 1 }'),
    )
    lines = [line.strip() for line in result.text.splitlines()]
    assert lines[lines.index("response.json /id") + 1 :][:2] == ["expected  8", 'seen      "7"']
    assert lines[lines.index("response.json /name") + 1 :][:2] == ['expected  "a"', "seen      1"]


def test_messages_in_protobuf_are_shown_as_json(tested, tmp_path):
    (tmp_path / "types").write_bytes(descriptor_set())
    for protocol in ("grpc", "connect_unary"):
        result = tested(
            f"call: {{ method: {SERVICE}/Say, protocol: {protocol}, codec: proto, json: {{ sentence: hi }} }}\nexpect: {{ code: aborted }}",
            config=f"listen: 127.0.0.1:8080\ntypes: {{ files: [{tmp_path}/types] }}\nupstream: h2c://127.0.0.1:1\n",
            given="given: { upstreams: { default: { mock: { methods: { Say: [ { respond: { json: { sentence: hello } } } ] } } } } }",
        )
        assert (result.code, '|   {"sentence":"hello"}' in result.text) == (1, True), result.text


def test_the_seed_decides_on_chance(tested):
    config = """
        listen: 127.0.0.1:8080
        mocks: { m: { rules: [ { respond: { json: { n: "{random:hex:8}" } } } ] } }
        interceptors: [ { fault: { code: aborted, percentage: "50" } }, { mock: m } ]
        """
    step = "{ call: { method: a.B/C }, expect: { response: { json: { /n: absent, /message: absent } } } }"

    def seen(seed):
        result = tested(f"given: {{ seed: {seed} }}\nsteps: [ {', '.join([step] * 12)} ]", config=config, given="", options=["-o", "json"])
        return [(failure["place"], failure["seen"]) for failure in json.loads(result.stdout.text.splitlines()[0])["failures"]]

    assert seen(1) == seen(1)
    assert len({str(seen(seed)) for seed in (1, 2, 3, 4)}) == 4


def test_what_is_redacted_is_not_shown_in_failures(tested):
    config = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:1
        interceptors: [ { redact: { json: [/password, /inner/key] } } ]
        """
    given = "given: { upstreams: { default: { mock: { rules: [ { respond: { json: { password: SECRET1, inner: { key: SECRET2 }, a: 1 } } } ] } } } }"
    result = tested(
        "call: { method: a.B/C }\nexpect: { response: { json: { /password: other, /inner: other, /a: 2 }, body: other } }",
        "call: { http: 'GET /a?access_token=SECRET3' }\nexpect: { request: { path: /b } }",
        config=config,
        given=given,
    )
    assert (result.code, "SECRET" in result.text) == (1, False), result.text
    assert 'seen      {"key":"***"}' in result.text and "seen      /a?access_token=***" in result.text


def test_conditions_of_a_wrong_shape_are_errors(tested):
    shapes = [
        "response: { json: x }",
        "response: { json: [a] }",
        "response: { headers: [a] }",
        "response: { trailers: x }",
        "request: { headers: x }",
        "response: { messages: [1] }",
        "log: x",
        "metrics: x",
        "route: [1]",
        "time: [1s]",
    ]
    for shape in shapes:
        result = tested(f"call: {{ method: a.B/C }}\nexpect: {{ {shape} }}")
        assert (result.code, "cannot be" in result.text) == (78, True), (shape, result.text)
    both = tested("call: { method: a.B/C, json: {}, text: a }")
    assert (both.code, '"json" and "text" cannot be set together' in both.text) == (78, True)


def test_time_that_passes_has_an_end(tested):
    config = """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:1
        interceptors: [ { name: auth, token: { oauth2: { token_url: "https://id.example/token", client_id: a, client_secret: { value: b } } } } ]
        """
    given = "given: { tokens: { auth: { value: t1, lifetime: 0s } }, upstreams: { default: { mock: {} } } }"
    start = time.monotonic()
    tested("steps: [ { after: 2400h, call: { method: a.B/C }, expect: {} } ]", config=config, given=given)
    assert time.monotonic() - start < 20


def test_the_configuration_of_the_command_line_counts(tested, command, tmp_path):
    assert tested("call: { method: shop.v1.OrderService/Delete }\nexpect: { code: permission_denied }").code == 0
    (tmp_path / "other.yaml").write_text("listen: 127.0.0.1:8080\ninterceptors: [ { reject: { code: aborted } } ]\n")
    (tmp_path / "b.tests.yaml").write_text("tests: [ { name: a, call: { method: a.B/C }, expect: { code: aborted } } ]\n")
    assert command("test", tmp_path / "b.tests.yaml", "-c", tmp_path / "other.yaml").code == 0
    lacking = command("test", tmp_path / "b.tests.yaml")
    assert (lacking.code, '1:1: "config" is missing; add for example config: ../martlet.yaml' in lacking.stderr.text) == (78, True)
    low = command("test", tmp_path / "a.tests.yaml", "--cover-min", "90")
    assert (low.code, "expected: at least 90 %" in low.stdout.text) == (1, True)


def test_given_mocks_are_compared_with_the_types(tested, tmp_path):
    (tmp_path / "types").write_bytes(descriptor_set())
    result = tested(
        f"call: {{ method: {SERVICE}/Say }}\nexpect: {{}}",
        config=f"listen: 127.0.0.1:8080\ntypes: {{ files: [{tmp_path}/types] }}\nupstream: h2c://127.0.0.1:1\n",
        given="given: { upstreams: { default: { mock: { methods: { Sey: [], Say: [ { respond: { json: { sentense: a } } } ] } } } } }",
    )
    assert (result.code, "the message is not valid" in result.text) == (78, True)
    warned = tested(
        f"call: {{ method: {SERVICE}/Say }}\nexpect: {{}}",
        config=f"listen: 127.0.0.1:8080\ntypes: {{ files: [{tmp_path}/types] }}\nupstream: h2c://127.0.0.1:1\n",
        given="given: { upstreams: { default: { mock: { methods: { Sey: [] } } } } }",
    )
    assert (warned.code, 'no service has a method "Sey"; did you mean Say?' in warned.text) == (0, True)
