import Protocols
import RPC
import Testing

@Suite struct `The reader of messages that may be too large` {
    private func reader(_ rpcProtocol: RPCProtocol, _ type: String, status: Int = 200, length: Int? = nil)
        -> ResponseReader
    {
        var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: .proto, messageLimit: 8)
        reader.head(status: status, contentType: type.bytes.span, compression: .identity, contentLength: length)
        return reader
    }

    @Test(arguments: [
        (RPCProtocol.connectStream, "application/connect+proto"), (.grpc, "application/grpc"),
        (.grpcWeb, "application/grpc-web"), (.grpcWebText, "application/grpc-web"),
    ])
    func `reports of one as soon as its envelope has come`(rpcProtocol: RPCProtocol, type: String) {
        var reader = reader(rpcProtocol, type)
        reader.body((Vectors.message + "00000000").unhexed.span)
        #expect(!reader.isOverLimit)
        reader.body([9].span)
        #expect(reader.isOverLimit)
        #expect(reader.messages == 1)
        #expect(reader.overLimitError.code == .resourceExhausted)
    }

    @Test func `reports of a bare one by its length or its growth`() {
        #expect(reader(.connectUnary, "application/proto", length: 9).isOverLimit)
        var growing = reader(.connectUnary, "application/proto")
        growing.body([UInt8](repeating: 0, count: 9).span)
        #expect(growing.isOverLimit)
    }

    @Test func `lets an error be as long as it likes`() {
        var failed = reader(.connectUnary, "application/json", status: 503, length: 100)
        failed.body([UInt8](repeating: 0x20, count: 100).span)
        #expect(!failed.isOverLimit)
        #expect(failed.messages == 0)
    }
}
