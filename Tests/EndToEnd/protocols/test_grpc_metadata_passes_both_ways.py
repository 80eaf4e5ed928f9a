"""Metadata of gRPC calls arrives as it was sent: in headers and trailers, repeated, and with any bytes."""

import pytest

EVERY_BYTE = bytes(range(256))
SENT = [
    ("x-one", "1"),
    ("x-twice", "first"),
    ("x-twice", "second"),
    ("x-empty", ""),
    ("x-text", "~ !\"#%&'()*+,-./:;<=>?@[]^_`{|}"),
    ("x-every-bin", EVERY_BYTE),
    ("x-twice-bin", b"\x00"),
    ("x-twice-bin", b"\xff\xfe"),
    ("x-empty-bin", b""),
]


def own(metadata):
    return [(key, value) for key, value in metadata if key.startswith("x-")]


@pytest.fixture
def seen():
    return []


@pytest.fixture
def channel(martlet, grpc_service, grpc_channel, seen):
    def unary(request, context):
        seen.extend(own(context.invocation_metadata()))
        context.send_initial_metadata([("x-from", "head"), *SENT])
        context.set_trailing_metadata([("x-from", "trailers"), *SENT])
        return request

    def download(request, context):
        yield unary(request, context)

    return grpc_channel(martlet(upstream=grpc_service({"Unary": unary, "Download": download}).url))


def by_name(pairs):
    return {name: [value for key, value in pairs if key == name] for name, _ in pairs}


def test_unary(channel, seen):
    _, call = channel.unary.with_call(b"", metadata=SENT, timeout=10)
    assert by_name(seen) == by_name(SENT)
    assert by_name(own(call.initial_metadata())) == {"x-from": ["head"], **by_name(SENT)}
    assert by_name(own(call.trailing_metadata())) == {"x-from": ["trailers"], **by_name(SENT)}


def test_stream(channel, seen):
    call = channel.download(b"", metadata=SENT, timeout=10)
    assert by_name(own(call.initial_metadata())) == {"x-from": ["head"], **by_name(SENT)}
    assert list(call) == [b""]
    assert by_name(own(call.trailing_metadata())) == {"x-from": ["trailers"], **by_name(SENT)}
    assert by_name(seen) == by_name(SENT)


def test_kilobytes_of_metadata(channel, seen):
    # Above 8 KiB in all, this server rejects calls at random.
    much = [(f"x-{number}-bin", bytes([number]) * 1000) for number in range(5)]
    channel.unary(b"", metadata=much, timeout=10)
    assert by_name(seen) == by_name(much)
