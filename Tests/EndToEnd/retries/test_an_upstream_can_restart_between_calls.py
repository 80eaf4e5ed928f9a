"""A gRPC server restarts while there is no call. The next call succeeds."""

import pytest

pytestmark = pytest.mark.alone


@pytest.mark.parametrize("grace", [0.0, 1.0], ids=["at once", "in good order"])
def test_restart(martlet, grpc_service, grpc_channel, grace):
    first = grpc_service()
    channel = grpc_channel(martlet(upstream=first.url))
    service = first
    for number in range(3):
        assert channel.unary(b"%d" % number, timeout=5) == b"%d" % number
        service.stop(grace)
        service = grpc_service(port=first.port)
    assert channel.unary(b"last", timeout=5) == b"last"


def test_restart_on_a_unix_socket(martlet, grpc_service, grpc_channel, tmp_path):
    service = grpc_service(path=tmp_path / "up.sock")
    channel = grpc_channel(martlet(upstream=service.url))
    for number in range(3):
        assert channel.unary(b"%d" % number, timeout=5) == b"%d" % number
        service.stop()
        service = grpc_service(path=tmp_path / "up.sock")
    assert channel.unary(b"last", timeout=5) == b"last"
