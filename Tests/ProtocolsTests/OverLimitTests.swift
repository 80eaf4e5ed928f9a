import Protocols
import RPC
import Testing

/// Where a response stops that has a message over the limit.
@Suite struct OverLimitTests {
    private func complete(_ pieces: [String], limit: Int) -> Int {
        var reader = ResponseReader(rpcProtocol: .grpc, codec: .proto, messageLimit: limit)
        reader.head(status: 200, contentType: "application/grpc".bytes.span, compression: .identity)
        for piece in pieces { reader.body(piece.unhexed.span) }
        return reader.complete
    }

    @Test func `all whole messages of a piece are complete while none is over the limit`() {
        #expect(complete([Vectors.message + Vectors.message + "0000"], limit: 8) == 26)
    }

    @Test func `nothing is complete from a message over the limit on, though it has come whole`() {
        #expect(complete([Vectors.message + Vectors.responseMessage + Vectors.message], limit: 8) == 13)
        #expect(complete([Vectors.responseMessage + Vectors.message], limit: 8) == 0)
        #expect(complete([Vectors.responseMessage, Vectors.message], limit: 8) == 0)
    }

    @Test func `the content of an end frame reports how the call went`() {
        let lines = "Grpc-Status: 5\r\ngrpc-message: no%21\r\n".bytes
        #expect(Conclusion(endFrame: lines, of: .grpcWeb) == .code(.notFound, message: "no!".bytes))
        #expect(Conclusion(endFrame: lines, of: .grpcWebText) == .code(.notFound, message: "no!".bytes))
        #expect(Conclusion(endFrame: [], of: .grpcWeb) == .code(.unknown))
        let json = "{}".bytes
        #expect(Conclusion(endFrame: json, of: .connectStream) == .json(json, fallback: .unknown, isEndStream: true))
    }
}
