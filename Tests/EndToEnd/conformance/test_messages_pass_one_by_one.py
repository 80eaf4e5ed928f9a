"""A streamed message passes while nothing else does, and a call that one side cancels ends on the other within a second."""

import time

import pytest

from conformance.cases import DATA, DUPLEX, PAIRS, defined, name_of
from conformance.service import Request

EVERY = [pytest.param(pair, id=name_of(pair)) for pair in PAIRS]
BOTH_WAYS = [pytest.param(pair, id=name_of(pair)) for pair in DUPLEX]
# The published Connect client cannot cancel a unary call.
CANCELLED = [pytest.param(pair, id=name_of(pair)) for pair in PAIRS if not pair[0].startswith("connect")]


@pytest.mark.parametrize("pair", BOTH_WAYS, indirect=True)
def test_a_thousand_turns(pair):
    call = pair.open("BidiStream")
    call.send(Request(definition=defined(data=[b"0"], full_duplex=True, echo=True, brief=True)))
    for number in range(1000):  # each request is made when the response to the one before has come
        assert call.receive().data == b"%d" % number
        if number < 999:
            call.send(Request(data=b"%d" % (number + 1)))
    call.end()
    assert call.receive() is None
    assert call.outcome().code == "ok"


@pytest.mark.parametrize("pair", EVERY, indirect=True)
@pytest.mark.parametrize("method", ["ServerStream", "BidiStream"])
def test_the_first_message_comes_while_the_upstream_is_silent(pair, method):
    call = pair.open(method)
    call.send(Request(definition=defined("fields", data=[DATA], hang=True)))
    call.end()
    assert call.receive().data == DATA
    assert pair.upstream.hanging(call.name).wait(5)
    assert not pair.upstream.over(call.name).is_set()
    call.cancel()
    assert pair.upstream.over(call.name).wait(1)


@pytest.mark.parametrize("pair", CANCELLED, indirect=True)
@pytest.mark.parametrize("method", ["Unary", "ClientStream"])
def test_a_caller_cancels_before_any_message(pair, method):
    call = pair.open(method)
    call.send(Request(definition=defined(hang=True)))
    call.end()
    assert pair.upstream.hanging(call.name).wait(5)
    call.cancel()
    assert pair.upstream.over(call.name).wait(1)


@pytest.mark.parametrize("pair", BOTH_WAYS, indirect=True)
def test_a_caller_cancels_before_its_request_is_whole(pair):
    call = pair.open("BidiStream")
    call.send(Request(definition=defined(data=[DATA], full_duplex=True, hang=True)))
    assert call.receive().data == DATA
    assert pair.upstream.hanging(call.name).wait(5)
    call.cancel()
    assert pair.upstream.over(call.name).wait(1)


@pytest.mark.parametrize("pair", BOTH_WAYS, indirect=True)
def test_an_upstream_cancels_before_the_request_is_whole(pair):
    call = pair.open("BidiStream")
    call.send(Request(definition=defined("fields", [DATA], ("canceled", "enough", []), full_duplex=True)))
    assert call.receive().data == DATA
    began = time.monotonic()
    assert call.receive() is None
    assert time.monotonic() - began < 1
    outcome = call.outcome()
    assert (outcome.code, outcome.text, outcome.trailers["x-tail"]) == ("canceled", "enough", ["bing"])
    call.cancel()
