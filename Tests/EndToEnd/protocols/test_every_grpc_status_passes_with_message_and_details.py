"""The upstream's gRPC status reaches the caller unchanged: each code, any Unicode in the message, and the details."""

import grpc
import pytest

CODES = list(grpc.StatusCode)
MESSAGES = ["", "not today: 100%", "☃ kullanıcı bulunamadı\n\ttab", "😀" * 100, "%41 is no escape"]


@pytest.fixture
def channel(martlet, grpc_service, grpc_channel):
    def end(context):
        asked = dict(context.invocation_metadata())
        context.set_code(next(code for code in CODES if code.value[0] == int(asked["x-code"])))
        context.set_details(asked["x-message-bin"].decode())
        context.set_trailing_metadata([("grpc-status-details-bin", asked["x-details-bin"])])

    def unary(request, context):
        end(context)
        return b"response"

    def download(request, context):
        yield b"first"
        end(context)

    return grpc_channel(martlet(upstream=grpc_service({"Unary": unary, "Download": download}).url))


def metadata(code, message="", details=b""):
    return [("x-code", str(code.value[0])), ("x-message-bin", message.encode()), ("x-details-bin", details)]


def ending(call):
    return call.code(), call.details(), dict(call.trailing_metadata())["grpc-status-details-bin"]


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_codes(channel, code):
    message = "why ☃" if code is not grpc.StatusCode.OK else ""  # which goes with errors only
    details = b"\x08" + bytes([code.value[0]]) + bytes(range(256))
    asked = metadata(code, message, details)
    unary = channel.unary.future(b"", metadata=asked, timeout=10)
    assert ending(unary) == (code, message, details)
    stream = channel.download(b"", metadata=asked, timeout=10)
    assert next(stream) == b"first"
    assert ending(stream) == (code, message, details)


@pytest.mark.parametrize("message", MESSAGES, ids=range(len(MESSAGES)))
def test_messages(channel, message):
    call = channel.unary.future(b"", metadata=metadata(grpc.StatusCode.ABORTED, message), timeout=10)
    assert ending(call) == (grpc.StatusCode.ABORTED, message, b"")


def test_an_unknown_method(martlet, grpc_service, grpc_channel):
    proxy = martlet(upstream=grpc_service().url)
    with grpc.insecure_channel(proxy.addresses[0], options=[("grpc.enable_http_proxy", 0)]) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary("/martlet.test.Bytes/Nothing")(b"", timeout=10)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
