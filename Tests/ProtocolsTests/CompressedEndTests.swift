import Protocols
import RPC
import Testing

/// What is concluded from a frame at the end of a body that somebody has decompressed.
@Suite struct CompressedEndTests {
    /// A compressed frame with these flags, and what it is said to mean.
    private func conclusion(_ rpcProtocol: RPCProtocol, _ type: String, flags: UInt8, _ end: String?) -> Conclusion {
        var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: .json)
        reader.head(status: 200, contentType: type.bytes.span, compression: .gzip)
        reader.body([flags | 1, 0, 0, 0, 2, 0x1f, 0x8b].span)
        if let end { reader.end(decompressed: end.bytes.span) }
        return reader.end()
    }

    @Test func `a Connect stream ends with the error that is in it`() {
        let type = "application/connect+json"
        let error = #"{"error":{"code":"aborted"}}"#
        #expect(
            conclusion(.connectStream, type, flags: 2, error)
                == .json(error.bytes, fallback: .unknown, isEndStream: true)
        )
        #expect(conclusion(.connectStream, type, flags: 2, "{}") == .code(.ok))
        #expect(conclusion(.connectStream, type, flags: 2, nil) == .code(.unknown))
    }

    @Test func `gRPC-Web ends with the status that is in it`() {
        let type = "application/grpc-web+json"
        let lines = "x-a: b\r\ngrpc-status: 10\r\ngrpc-message: no%21\r\n"
        #expect(conclusion(.grpcWeb, type, flags: 0x80, lines) == .code(.aborted, message: "no!".bytes))
        #expect(conclusion(.grpcWeb, type, flags: 0x80, nil) == .code(.unknown))
    }
}
