"""What arrives at the upstream, and what comes back, for the cases of the Connect conformance suite: every caller, every upstream."""

import pytest

from conformance.callers import grouped
from conformance.cases import KINDS, PAIRS, Case, cases, defined, errors, name_of, runs
from conformance.service import CODES, Request, Seen, pairs

RUNS = [(pair, kind) for pair in PAIRS for kind in KINDS if runs(kind, pair)]


def make(pair, case):
    """Makes a call as its kind demands; returns its responses and its outcome."""
    if not case.definition.full_duplex:
        return pair.call(case.method, *case.requests, fields=case.fields)
    call, responses = pair.open(case.method, case.fields), []
    for request in case.requests:  # each when the response to the one before has come
        call.send(request)
        if len(responses) < len(case.definition.data):
            responses.append(call.receive())
    call.end()
    responses += iter(call.receive, None)
    return responses, call.outcome()


def seen_requests(seen):
    result = []
    for packed in seen.requests:
        result.append(Request())
        assert packed.Unpack(result[-1])
    return result


def check_seen(seen, case, requests):
    """The upstream saw the requests, and the fields in order."""
    assert seen_requests(seen) == requests
    assert {field.name: list(field.values) for field in seen.headers} == grouped(case.fields)
    assert not seen.HasField("timeout_ms")


def check(case, responses, outcome):
    try:
        _check(case, responses, outcome)
    except AssertionError as error:
        error.add_note(f"{case.name}: {outcome}")
        raise


def _check(case, responses, outcome):
    definition = case.definition
    is_single = case.method not in ("ServerStream", "BidiStream")
    failed = definition.HasField("failure")
    data = list(definition.data) or ([b""] if is_single else [])
    assert [response.data for response in responses] == ([] if is_single and failed else data)
    details = outcome.details
    if failed and not responses:
        assert details[-1][0] == Seen.DESCRIPTOR.full_name
        check_seen(Seen.FromString(details[-1][1]), case, case.requests)
        details = details[:-1]
    for number, response in enumerate(responses):
        if definition.full_duplex:
            assert seen_requests(response.seen) == [case.requests[number]]
        elif number:
            assert not response.HasField("seen")
        else:
            check_seen(response.seen, case, case.requests)
    code = CODES[definition.failure.code]
    assert (outcome.code, outcome.text) == (code, definition.failure.text)
    assert details == [(detail.type, detail.value) for detail in definition.failure.details]
    headers, trailers = grouped(pairs(definition.headers)), grouped(pairs(definition.trailers))
    if outcome.is_trailers_only:
        headers, trailers = {}, headers | trailers
    assert {name: outcome.headers.get(name) for name in [*headers, *trailers]} == headers | dict.fromkeys(trailers)
    assert {name: outcome.trailers.get(name) for name in [*headers, *trailers]} == trailers | dict.fromkeys(headers)


def id_of(value):
    return value if isinstance(value, str) else name_of(value)


@pytest.mark.parametrize("pair, kind", RUNS, ids=id_of, indirect=["pair"])
def test_every_case(pair, kind):
    for case in cases(kind):
        check(case, *make(pair, case))


@pytest.mark.parametrize("method", ["Unary", "ServerStream"])
@pytest.mark.parametrize("pair", PAIRS, ids=name_of, indirect=True)
def test_every_error(pair, method):
    for case in errors(method):
        check(case, *make(pair, case))


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[1].startswith("connect")], ids=name_of, indirect=True)
def test_a_get_stays_one_if_its_message_does(pair):
    """Its message is in the URL, so Martlet sends POST when it has to convert it."""
    method = "Idempotent" if pair.names[0].startswith("connect") else "Unary"
    (response,), outcome = pair.call(method, Request(definition=defined(data=[b"here"])))
    assert (response.data, outcome.code) == (b"here", "ok")
    is_get = method == "Idempotent" and pair.names[0].endswith(pair.upstream.codec)
    assert response.seen.http_method == ("GET" if is_get else "POST")


@pytest.mark.parametrize("method", ["ClientStream", "BidiStream"])
@pytest.mark.parametrize("pair", PAIRS, ids=name_of, indirect=True)
def test_a_stream_without_requests(pair, method):
    responses, outcome = pair.call(method, fields=[("x-conformance", "Value1")])
    assert outcome.code == "ok"
    assert [seen_requests(response.seen) for response in responses] == ([[]] if method == "ClientStream" else [])


@pytest.mark.parametrize("pair", PAIRS, ids=name_of, indirect=True)
@pytest.mark.parametrize("text", [" begins", "ends "])
def test_an_error_whose_text_has_a_space_at_its_end(pair, text):
    case = Case(text, "Unary", defined("fields", [], ("internal", text, [])))
    check(case, *make(pair, case))


@pytest.mark.parametrize("pair", PAIRS, ids=name_of, indirect=True)
def test_a_method_that_the_server_lacks(pair):
    responses, outcome = pair.call("Missing", Request())
    assert (responses, outcome.code) == ([], "unimplemented")
