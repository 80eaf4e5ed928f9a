"""Everything in `martlet test` asks the clock of the test, however far that is from the date of the machine."""

import textwrap

import pytest

YEARS = [2001, 2040]


@pytest.fixture
def tested(command, tmp_path):
    """Runs one test that begins at the start of a year."""

    def run(year, config, mock, steps):
        (tmp_path / "martlet.yaml").write_text(f"listen: 127.0.0.1:8080\n{textwrap.dedent(config)}")
        text = f"""
config: martlet.yaml
given:
  time: {year}-01-01T00:00:00Z
  upstreams: {{ default: {{ mock: {{ rules: {mock.replace("YEAR", str(year))} }} }} }}
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
