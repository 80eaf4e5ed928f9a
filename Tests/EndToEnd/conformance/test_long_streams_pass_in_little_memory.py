"""A hundred mebibytes of messages pass, converted, while Martlet holds few of them."""

import os

import pytest

from conformance.cases import defined, name_of
from conformance.service import Request

pytestmark = pytest.mark.alone

MIB = 1 << 20
COUNT = 100
CHUNK = os.urandom(MIB)
TRANSLATED = [("connect-1-proto", "grpc"), ("grpc", "connect-2"), ("grpc", "grpc-web")]
CONVERTED = [("connect-2-json", "grpc")]


def download(pair):
    call = pair.open("ServerStream")
    call.send(Request(definition=defined(data=[CHUNK], times=COUNT, brief=True)))
    call.end()
    assert all(response.data == CHUNK for response in (call.receive() for _ in range(COUNT)))
    assert call.receive() is None
    assert call.outcome().code == "ok"


def upload(pair):
    requests = [Request(definition=defined(brief=True)), *[Request(data=CHUNK)] * COUNT]
    (response,), outcome = pair.call("ClientStream", *requests)
    assert (outcome.code, response.seen.bytes) == ("ok", COUNT * MIB)


WAYS = [(pair, way) for pair in TRANSLATED for way in (download, upload)] + [(pair, download) for pair in CONVERTED]


def id_of(value):
    return name_of(value) if isinstance(value, tuple) else value.__name__


@pytest.mark.parametrize("pair, way", WAYS, ids=id_of, indirect=["pair"])
def test_a_hundred_mebibytes(pair, way):
    assert pair.call("Unary", Request())[1].code == "ok"  # which makes connections and buffers
    before = pair.proxy.own_memory()
    pair.proxy.reset_peak_memory()
    way(pair)
    assert pair.proxy.own_peak_memory() - before <= 16 * MIB
