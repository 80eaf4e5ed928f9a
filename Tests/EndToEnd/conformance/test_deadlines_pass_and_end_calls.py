"""The upstream sees what is left of the caller's deadline, in its own form, and the call ends on both sides when it is over."""

import time

import pytest
from support.concurrency import at_once

from conformance.callers import grouped
from conformance.cases import DATA, DUPLEX, PAIRS, defined, name_of
from conformance.service import Request

pytestmark = pytest.mark.waits

METHODS = ["Unary", "ServerStream", "ClientStream", "BidiStream"]
# The field with the deadline that a server of each kind shows; grpcio keeps it to itself.
FORMS = {"grpc": set(), "connect-1": {"connect-timeout-ms"}, "connect-2": {"connect-timeout-ms"}, "grpc-web": {"grpc-timeout"}}
EVERY = [pytest.param(pair, id=name_of(pair)) for pair in PAIRS]


@pytest.mark.parametrize("pair", EVERY, indirect=True)
def test_the_upstream_sees_what_is_left(pair):
    for method in METHODS:
        for timeout in (1500, 60000):
            responses, outcome = pair.call(method, Request(definition=defined(data=[DATA])), timeout=timeout)
            assert outcome.code == "ok"
            seen = responses[0].seen
            assert timeout - 500 <= seen.timeout_ms <= timeout * 1.02  # grpcio rounds up what it sends
            assert {field.name for field in seen.headers} == FORMS[pair.names[1]]


@pytest.mark.parametrize("pair", EVERY, indirect=True)
def test_both_sides_see_the_expiry(pair):
    duplex = [True] if pair.names in DUPLEX else []

    def call(number):
        """A call whose upstream sends nothing, or one message if both sides send at the same time."""
        is_duplex = number == len(METHODS)
        began = time.monotonic()
        call = pair.open("BidiStream" if is_duplex else METHODS[number], timeout=300)
        call.send(Request(definition=defined(data=[DATA] if is_duplex else [], full_duplex=is_duplex, hang=True)))
        if not is_duplex:
            call.end()
        responses = list(iter(call.receive, None))
        took = time.monotonic() - began
        assert [response.data for response in responses] == ([DATA] if is_duplex else [])
        assert call.outcome().code == "deadline_exceeded"
        assert 0.25 <= took < 2
        assert pair.upstream.over(call.name).wait(5)
        call.cancel()

    at_once(len(METHODS) + len(duplex), call)


def test_a_time_that_is_longer_than_connect_can_say(pairs):
    """Connect has ten digits of milliseconds; gRPC says more."""
    pair = pairs("grpc-web-1", "connect-1")
    call = pair.caller.open("Unary", [("grpc-timeout", "99999999H")])
    call.send(Request(definition=defined(data=[DATA])))
    call.end()
    (response,) = iter(call.receive, None)
    assert call.outcome().code == "ok"
    assert grouped((field.name, list(field.values)) for field in response.seen.headers) == {}
