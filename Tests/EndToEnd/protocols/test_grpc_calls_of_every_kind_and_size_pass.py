"""The published gRPC client and server: each kind of call, over TCP and Unix sockets, from empty to 16 MiB."""

import pytest

KIB, MIB = 1 << 10, 1 << 20
SIZES = [0, 1, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, MIB, 16 * MIB]


@pytest.fixture(params=["tcp-tcp", "tcp-unix", "unix-tcp", "unix-unix"])
def channel(request, martlet, grpc_service, grpc_channel, tmp_path):
    caller, upstream = request.param.split("-")
    service = grpc_service(path=tmp_path / "up.sock" if upstream == "unix" else None)
    listen = f"unix:{tmp_path}/rpc.sock" if caller == "unix" else "127.0.0.1:0"
    return grpc_channel(martlet(f"listen: {listen}\nupstream: {service.url}\n"))


def message(size, seed=0):
    pattern = bytes((7 * number + seed) % 251 for number in range(251))
    return (pattern * (size // 251 + 1))[:size]


def test_unary(channel):
    for size in SIZES:
        assert channel.unary(message(size), timeout=20) == message(size), size


def test_client_stream(channel):
    messages = [message(size, seed) for seed, size in enumerate(SIZES)]
    assert channel.upload(iter(messages), timeout=20) == b"".join(messages)


def test_server_stream(channel):
    assert list(channel.download(b"100", timeout=20)) == [b"%d" % number for number in range(100)]
    assert list(channel.download(b"0", timeout=20)) == []


def test_both_stream(channel):
    messages = [message(size, seed) for seed, size in enumerate(SIZES)]
    assert list(channel.converse(iter(messages), timeout=20)) == messages


def test_both_stream_nothing(channel):
    assert list(channel.converse(iter([]), timeout=20)) == []
