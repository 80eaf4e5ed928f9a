"""Of hostile HTTP/1, Martlet forwards only what nginx or HAProxy forward too, and what can be read in only one way."""

import pytest

from http1.hostile.inputs import INPUTS as REQUESTS
from http1.hostile.inputs import NEXT, get
from http1.hostile.proxies import OK, Outcome, Proxies, in_bytes
from http1.hostile.reader import responses, requests
from http1.hostile.responses import HEADLESS
from http1.hostile.responses import INPUTS as RESPONSES
from http1.hostile.rule import ambiguity, response_ambiguity, first_response, leniency

# Seconds on a machine that has nothing else to do.
pytestmark = [pytest.mark.timeout(240)]

# Inputs that only Martlet forwards, and why it may.
EXCEPTIONS = {
    "head OPTIONS of an absolute target": "RFC 9112 §3.2.4: the last proxy MUST send `*` for an empty path",
    "head HTTP/1.0 without a host": "RFC 9112 §3.2: without an authority, an empty Host MUST be sent; the others send none",
    **dict.fromkeys(
        [
            "absolute http://a.example/p at a.example:80",
            "absolute http://a.example:80/p at A.example",
            "absolute http://a.example:80/p at a.example",
            "target 'http://a.example:/p'",
            "target 'http://a.example:80/p'",
        ],
        "RFC 9112 §3.2.2: Host MUST be made from the target's; the others send the caller's, or drop the default port",
    ),
    "head HTTP/1.0 with an absolute target and no host": "RFC 9112 §3.2.2: Host MUST be made from the target's",
}
# The response is HTTP/2.
PREFACE = "head the preface of HTTP/2"
# Statuses of Martlet's own making, which no server of these tests sends.
OWN = (502, 503, 504)


def methods_of(data):
    """The methods of the requests in `data`, as far as responses depend on them; there are never more than four."""
    return [b"HEAD" if data.startswith(b"HEAD ") else b"GET", *[b"GET"] * 3]


def found_errors(peers, inputs, find_error, **options):
    """The outcomes of all inputs, and what is wrong with some of them.

    Those have a second chance with more time, because a machine may be slow.
    """
    all_outcomes = {}
    for wait in (0.3, 2.0):
        outcomes = peers.outcomes(inputs, wait=wait, **options)
        all_outcomes |= outcomes
        found = {name: what for name in inputs if (what := find_error(name, outcomes[name]))}
        inputs = {name: inputs[name] for name in found}
    return all_outcomes, found


def test_requests(running, tmp_path):
    peers = Proxies(running, tmp_path)

    def find_error(name, outcome):
        mine, *others = (outcome[kind] for kind in Proxies.KINDS)
        lenient = leniency(mine, others)
        if name in EXCEPTIONS:
            lenient = None if lenient else "no longer needs an exception"
        unclear = None if name == PREFACE else response_ambiguity(mine.response, methods_of(REQUESTS[name]))
        return lenient or ambiguity(mine.pieces) or unclear

    outcomes, found = found_errors(peers, REQUESTS, find_error)
    assert found == {}
    assert EXCEPTIONS.keys() <= REQUESTS.keys()
    # Without these the rest would prove nothing.
    forwarded = {kind: sum(bool(each[kind].requests) for each in outcomes.values()) for kind in Proxies.KINDS}
    print(f"{len(REQUESTS)} inputs, forwarded: {forwarded}")
    assert len(REQUESTS) >= 250 and min(forwarded.values()) >= 100
    assert forwarded["martlet"] < forwarded["nginx"] and forwarded["martlet"] < forwarded["haproxy"]


def test_requests_that_come_byte_by_byte(running, tmp_path):
    peers = Proxies(running, tmp_path, width=6, kinds=("martlet",))
    whole = peers.outcomes(REQUESTS, wait=1.0)

    def find_error(name, outcome):
        expected, found = whole[name]["martlet"].requests, outcome["martlet"].requests
        return None if expected == found else f"{expected} become {found}"

    assert found_errors(peers, REQUESTS, find_error, pieces=in_bytes)[1] == {}


def test_responses(running, tmp_path):
    names = list(RESPONSES)

    def response(request):
        target = request.start[1]
        if target.startswith(b"/response/"):
            return RESPONSES[names[int(target.removeprefix(b"/response/"))]]
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(target), target), False

    def ask(number, name):
        method = b"HEAD" if any(name.startswith(f"response to {each}") for each in HEADLESS) else b"GET"
        following = NEXT.replace(b"/next", b"/next/%d" % number)
        return get(b"/response/%d" % number, method=method) + following

    inputs = {name: ask(number, name) for number, name in enumerate(names)}
    peers = Proxies(running, tmp_path, response, width=6)

    def find_error(name, outcome):
        methods = methods_of(inputs[name])[:2]
        mine = outcome["martlet"].response
        if unclear := response_ambiguity(mine, methods):
            return unclear
        for following in [one for one in responses(mine, methods)[1:] if one.is_whole]:
            if following.start != (200,) or following.body != b"/next/%d" % names.index(name):
                return f"responds to the next request with {following}"
        first = first_response(mine, methods)
        if first and first[0] not in OWN:
            if first not in [first_response(outcome[kind].response, methods) for kind in Proxies.KINDS[1:]]:
                return f"passes {first} on, and nobody else does"
        return None

    outcomes, found = found_errors(peers, inputs, find_error, last=0.3)
    assert found == {}
    firsts = [first_response(outcomes[name]["martlet"].response, methods_of(inputs[name])) for name in names]
    passed = sum(first is not None and first[0] not in OWN for first in firsts)
    print(f"{len(names)} responses, passed on: {passed}")
    assert 100 <= passed < len(names) / 2


TWO = b"GET /a HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\nhost: a\r\n\r\n"


def outcome(data, response=OK):
    return Outcome(requests(data, is_strict=False), [data], response)


@pytest.mark.parametrize(
    "mine, theirs",
    [
        (TWO, b""),
        (TWO, TWO[: len(TWO) // 2]),
        (TWO[: len(TWO) // 2], TWO),
        (TWO, TWO.replace(b"/b", b"/c")),
        (TWO, TWO.replace(b"GET /b", b"PUT /b")),
        (TWO, TWO.replace(b"host: a", b"host: b")),
        (TWO.replace(b"\r\n\r\n", b"\r\nx-a: 1\r\n\r\n"), TWO),
        (TWO[:-2] + b"content-length: 1\r\n\r\nx", TWO[:-2] + b"content-length: 1\r\n\r\ny"),
        (TWO[:-2] + b"content-length: 1\r\n\r\nx", TWO[:-2] + b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
    ],
)
def test_leniency_is_found(mine, theirs):
    assert leniency(outcome(mine), [outcome(b""), outcome(theirs)])
    assert leniency(outcome(mine), [outcome(b""), outcome(mine)]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"GET /a HTTP/1.1\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nx: a\nb: c\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nx: a\x01\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\nx : a\r\n\r\n",
        b"GET /a HTTP/1.1\r\nhost: a\r\n b\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nhost: a\r\n\r\n",
        b"POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
        b"POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\nhost: b\r\n\r\n",
        b"POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0x0\r\n\r\n",
    ],
)
def test_ambiguity_is_found(data):
    assert ambiguity([data])
    assert ambiguity([TWO, data])
    assert ambiguity([TWO]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 O\x01K\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx: a\rb\r\n\r\nok",
        b"HTTP/1.1 204 OK\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 103 a\r\ncontent-length: 2\r\n\r\nok" + OK,
        OK + OK,
    ],
)
def test_ambiguity_of_responses_is_found(data):
    assert response_ambiguity(data, [b"GET"])
    assert response_ambiguity(OK, [b"GET"]) is None
