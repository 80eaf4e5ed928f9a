"""Everything in `martlet test` asks the clock of the test, however far that is from the date of the machine."""

import base64
import json
import textwrap
from datetime import datetime, timezone

import pytest

YEARS = [2001, 2040]


@pytest.fixture
def tested(command, tmp_path):
    """Runs one test that begins at the start of a year."""

    def run(year, config, mock, steps, given=""):
        (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:8080\n{textwrap.dedent(config)}")
        text = f"""
config: martlet.yaml
given:
  time: {year}-01-01T00:00:00Z
  upstreams: {{ default: {{ mock: {{ rules: {mock.replace("YEAR", str(year))} }} }} }}
  {given}
tests:
  - name: a
    steps: {steps.replace("YEAR", str(year))}
"""
        (tmp_path / "a.tests.yaml").write_text(text)
        result = command("test", tmp_path / "a.tests.yaml")
        return result.code, result.stdout.text + result.stderr.text

    return run


RETRY = """
upstream: http://a.example
interceptors: [ { validate: { max_retries: 1, rules: [ { when: { status: 503 }, retry: { immediate: {} } } ] } } ]
"""


def day(year):
    return {2001: "Mon", 2040: "Sun"}[year]


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("after, seen", [("00:00:10", "10s"), ("00:00:01", "1s"), ("00:00:20", "20s")])
def test_a_date_in_retry_after(tested, year, after, seen):
    date = f"{day(year)}, 01 Jan {year} {after} GMT"
    mock = f'[ {{ times: 1, respond: {{ status: 503, headers: {{ retry-after: "{date}" }} }} }}, {{ respond: {{ status: 200 }} }} ]'
    steps = f"[ {{ call: {{ http: GET /a }}, expect: {{ status: 200, attempts: 2, time: {seen} }} }} ]"
    code, text = tested(year, RETRY, mock, steps)
    assert code == 0, text


DIRECT = """
upstream: http://a.example
"""


@pytest.mark.parametrize(
    "rule, seen",
    [
        ("respond: { body: a, delay: { each: 1h } }", "1h"),
        ("respond: { body: a, delay: { from: 30m, each: 1h } }", "90m"),
        ("script: [ { send: { text: a } }, { send: { text: b } }, { send: { text: c } } ], delay: { each: 1h }", "3h"),
        ("script: [ { send: { text: a } }, { wait: 1m }, { send: { text: b } } ], delay: { from: 1s, each: 1h }", "7261s"),
    ],
)
def test_the_delay_of_each_message(tested, rule, seen):
    steps = f"[ {{ call: {{ http: GET /a }}, expect: {{ status: 200, time: {seen} }} }} ]"
    code, text = tested(2001, DIRECT, f"[ {{ {rule} }} ]", steps)
    assert code == 0, text


CACHED = """
upstream: http://a.example
caches: { c: {} }
interceptors: [ { cache: c } ]
"""


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize(
    "fields, pause, body",
    [
        ('date: "DAY, 01 Jan YEAR 00:00:00 GMT", expires: "DAY, 01 Jan YEAR 01:00:00 GMT"', "30m", "one"),
        ('date: "DAY, 01 Jan YEAR 00:00:00 GMT", expires: "DAY, 01 Jan YEAR 01:00:00 GMT"', "2h", "two"),
        ('expires: "DAY, 01 Jan YEAR 01:00:00 GMT"', "30m", "one"),
        ('expires: "DAY, 01 Jan YEAR 01:00:00 GMT"', "2h", "two"),
        ('date: "DAY, 01 Jan YEAR 00:00:00 GMT", cache-control: "max-age=3600"', "30m", "one"),
        ('cache-control: "max-age=3600", age: "3000"', "30m", "two"),
    ],
    ids=["fresh", "stale", "fresh-undated", "stale-undated", "max-age", "age"],
)
def test_dates_at_a_cache(tested, year, fields, pause, body):
    fields = fields.replace("DAY", day(year))
    mock = f'[ {{ times: 1, respond: {{ status: 200, headers: {{ {fields} }}, body: one }} }}, {{ respond: {{ status: 200, body: two }} }} ]'
    steps = (
        "[ { call: { http: GET /a }, expect: { status: 200 } }, "
        f"{{ after: {pause}, call: {{ http: GET /a }}, expect: {{ response: {{ body: {body} }} }} }} ]"
    )
    code, text = tested(year, CACHED, mock, steps)
    assert code == 0, text


COOKIES = """
upstreams: { default: { url: "http://a.example", cookies: jar } }
interceptors: []
"""


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize(
    "attributes, pause, cookie",
    [
        ("Expires=DAY, 01 Jan YEAR 01:00:00 GMT", "30m", "a=1"),
        ("Expires=DAY, 01 Jan YEAR 01:00:00 GMT", "3599s", "a=1"),
        ("Expires=DAY, 01 Jan YEAR 01:00:00 GMT", "61m", "absent"),
        ("Expires=DAY, 01-Jan-YEAR 01:00:00 GMT", "30m", "a=1"),
        ("Expires=Thu, 31 Dec LAST 23:59:59 GMT", "0s", "absent"),
        ("Expires=Thu, 31 Dec NEXT 23:59:59 GMT", "8000h", "a=1"),
        ("Max-Age=3600", "30m", "a=1"),
        ("Max-Age=3600", "61m", "absent"),
        ("Max-Age=0", "0s", "absent"),
        ("Max-Age=3600; Expires=Thu, 31 Dec LAST 23:59:59 GMT", "30m", "a=1"),
        ("Path=/", "8000h", "a=1"),
    ],
)
def test_the_time_of_a_cookie(tested, year, attributes, pause, cookie):
    attributes = attributes.replace("DAY", day(year)).replace("LAST", str(year - 1)).replace("NEXT", str(year + 1))
    mock = f'[ {{ times: 1, respond: {{ status: 200, headers: {{ set-cookie: "a=1; {attributes}" }} }} }}, {{ respond: {{ status: 200 }} }} ]'
    steps = (
        "[ { call: { http: GET /a }, expect: { status: 200 } }, "
        f"{{ after: {pause}, call: {{ http: GET /a }}, expect: {{ request: {{ headers: {{ cookie: {cookie} }} }} }} }} ]"
    )
    code, text = tested(year, COOKIES, mock, steps)
    assert code == 0, text


PLAIN = """
upstream: http://a.example
interceptors: [ { log: {} } ]
"""


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("pause, time", [("0s", "00:00:00"), ("90m", "01:30:00"), ("86399s", "23:59:59")])
def test_the_time_in_texts_and_logs(tested, year, pause, time):
    """`{now}` of a mock, and the time of a line in the access log."""
    mock = '[ { respond: { status: 200, headers: { x-now: "{now}" }, body: "at {now}" } } ]'
    now = f'{{ regex: "^YEAR-01-01T{time}(\\\\.000)?Z$" }}'
    steps = (
        f"[ {{ after: {pause}, call: {{ http: GET /a }}, expect: {{ response: {{ headers: {{ x-now: {now} }}, "
        f'body: {{ regex: "at YEAR-01-01T{time}" }} }}, log: {{ /time: {now} }} }} }} ]'
    )
    code, text = tested(year, PLAIN, mock, steps)
    assert code == 0, text


@pytest.mark.parametrize("year", YEARS)
def test_the_date_of_a_stored_response(tested, year):
    mock = '[ { respond: { status: 200, headers: { cache-control: "max-age=3600" }, body: one } } ]'
    steps = (
        "[ { call: { http: GET /a }, expect: { status: 200 } }, { after: 30m, call: { http: GET /a }, expect: { attempts: 0, "
        f'response: {{ headers: {{ date: "{day(year)}, 01 Jan YEAR 00:00:00 GMT", age: "1800" }} }} }} }} ]'
    )
    code, text = tested(year, CACHED, mock, steps)
    assert code == 0, text


def unsigned(**claims):
    """A JWT whose signature nobody checks."""
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()  # noqa: E731
    return f"{part({'alg': 'HS256'})}.{part(claims)}.c2lnbmF0dXJl"


def seconds(year, hours=0):
    return int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp()) + 3600 * hours


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize(
    "hours, pause, status",
    [(1, "0s", 200), (1, "30m", 200), (1, "61m", 503), (24, "23h", 200), (24, "25h", 503), (0, "0s", 503), (-1, "0s", 503)],
)
def test_the_end_of_a_jwt(tested, year, hours, pause, status):
    """Of one that is in the configuration, which cannot be fetched again."""
    token = unsigned(exp=seconds(year, hours))
    config = f'upstream: https://a.example\ninterceptors: [ {{ token: {{ value: "{token}" }} }} ]\n'
    steps = f"[ {{ after: {pause}, call: {{ http: GET /a }}, expect: {{ status: {status} }} }} ]"
    code, text = tested(year, config, "[ { respond: { status: 200 } } ]", steps)
    assert code == 0, text


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize(
    "pause, number",
    [("0s", 1), ("30m", 1), ("3540s", 1), ("61m", 2), ("119m", 2), ("121m", 3)],
)
def test_the_end_of_a_jwt_that_is_fetched(tested, year, pause, number):
    """The claim `exp` counts where the source says nothing of the lifetime."""
    tokens = [unsigned(number=hours, exp=seconds(year, hours)) for hours in (1, 2, 3)]
    config = "upstream: https://a.example\ninterceptors: [ { token: { exec: { command: [/bin/true] } }, name: auth } ]\n"
    given = ", ".join(f"{{ value: {token} }}" for token in tokens)
    steps = (
        "[ { call: { http: GET /a }, expect: { status: 200 } }, { after: 1s, call: { http: GET /a }, expect: { status: 200 } }, "
        f'{{ after: {pause}, call: {{ http: GET /a }}, expect: {{ request: {{ headers: {{ authorization: "Bearer {tokens[number - 1]}" }} }} }} }} ]'
    )
    code, text = tested(year, config, "[ { respond: { status: 200 } } ]", steps, f"tokens: {{ auth: [ {given} ] }}")
    assert code == 0, text
