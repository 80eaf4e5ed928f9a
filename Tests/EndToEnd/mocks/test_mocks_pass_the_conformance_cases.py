"""Mocks serve the cases of the conformance suites to every caller: each case is a rule, made of what its server would do."""

import base64
import json
from dataclasses import replace

import pytest
from conformance.callers import CALLERS
from conformance.cases import KINDS, cases, errors, runs
from conformance.conftest import Pair
from conformance.service import CODES, DESCRIPTOR_SET, READ, Failed, Head, Response, advance, behave
from conformance.test_every_pair_passes_every_case import check, make
from google.protobuf.json_format import MessageToDict
from support.martlet import Martlet

ERRORS = {"errors of calls": "Unary", "errors of streams": "ServerStream"}
EVERY = {kind: list(cases(kind)) for kind in KINDS} | {name: list(errors(method)) for name, method in ERRORS.items()}
EVERY = {kind: [(f"{kind} {number}", case) for number, case in enumerate(all)] for kind, all in EVERY.items()}


def braces(value):
    """Texts with what means something in a template doubled."""
    if isinstance(value, str):
        return value.replace("{", "{{").replace("}", "}}")
    if isinstance(value, list):
        return [braces(each) for each in value]
    return {name: braces(each) for name, each in value.items()} if isinstance(value, dict) else value


def grouped(pairs):
    result = {}
    for name, value in pairs:
        result.setdefault(name, []).append(value)
    return result


def steps(case, http_method):
    """What the server of the suite would do, as the steps of a script."""
    server = behave(case.method, case.fields, None, http_method)
    requests, result, trailers = list(case.requests), [], {}
    step = next(server)
    while step is not None:
        given = None
        if step == READ:
            given = requests.pop(0) if requests else None
            result.append({"expect": {}} if given else {"closed": True})
        elif isinstance(step, Head):
            result.append({"headers": grouped(step.headers)})
            trailers = grouped(step.trailers)
        elif isinstance(step, Response):
            result.append({"send": {"json": braces(MessageToDict(step))}})
        elif isinstance(step, Failed):
            details = [{"type": kind, "base64": base64.b64encode(value).decode()} for kind, value in step.details]
            end = {"code": CODES[step.code], "message": braces(step.text), "details": details}
            return [*result, {"end": {**end, "trailers": trailers}}]
        step = advance(server, given)
    return [*result, {"end": {"trailers": trailers}}]


@pytest.fixture(scope="module")
def mock(binary, tmp_path_factory):
    """Martlet with a mock of the whole suite."""
    directory = tmp_path_factory.mktemp("mock")
    (directory / "types").write_bytes(DESCRIPTOR_SET)
    rules = [{"when": {"header": {"x-case": name}}, "script": steps(case, "")} for all in EVERY.values() for name, case in all]
    mocks = {"suite": {"unmatched": "unimplemented", "rules": rules}}
    proxy = Martlet(
        f"listen: 127.0.0.1:0\ntypes: {{ files: {directory / 'types'} }}\nmocks: {json.dumps(mocks, ensure_ascii=False)}\ninterceptors: [ {{ mock: suite }} ]\n",
        directory,
    )
    yield proxy
    proxy.stop()


RUNS = [(caller, kind) for caller in CALLERS for kind in EVERY if kind not in KINDS or runs(kind, (caller, "grpc"))]


@pytest.mark.parametrize("caller, kind", RUNS)
def test_every_case(mock, caller, kind):
    make_caller, *arguments = CALLERS[caller]
    own = make_caller(mock.url, *arguments)
    pair = Pair((caller, "grpc"), own, None, mock)
    try:
        for name, case in EVERY[kind]:
            sent = replace(case, fields=(*case.fields, ("x-case", name)))
            check(case, *make(pair, sent))
    finally:
        own.stop()
