import Bytes
import Protocols
import RPC
import Testing

@Suite struct RequestTranslatorTests {
    /// The body that goes upstream of one that comes in pieces of `size` bytes, or why it cannot.
    private func translated(
        _ body: [UInt8],
        from caller: RPCProtocol,
        isCompressed: Bool = false,
        saysLength: Bool = false,
        limit: Int = 1000,
        size: Int = 1000
    ) throws -> [UInt8] {
        let output = ByteQueue()
        let length = saysLength ? body.count : nil
        var translator = RequestTranslator(
            from: caller,
            isCompressed: isCompressed,
            length: length,
            limit: limit
        ) { ByteQueue() }
        translator.begin(length: length, into: output)
        for start in stride(from: 0, to: body.count, by: size) {
            try translator.add(body[start..<min(body.count, start + size)].span, into: output)
        }
        try translator.end(into: output)
        return output.readable.array
    }

    private static let enveloped: [UInt8] = [0, 0, 0, 0, 2] + Array("hi".utf8)

    @Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb], [1, 3, 1000])
    func `envelopes pass as they are`(_ caller: RPCProtocol, _ size: Int) throws {
        #expect(try translated(Self.enveloped, from: caller, size: size) == Self.enveloped)
    }

    @Test(arguments: [true, false], [1, 3, 1000])
    func `a bare message gets an envelope`(_ saysLength: Bool, _ size: Int) throws {
        let body = Array("hi".utf8)
        #expect(try translated(body, from: .connectUnary, saysLength: saysLength, size: size) == Self.enveloped)
        let packed = try translated(body, from: .connectUnary, isCompressed: true, saysLength: saysLength, size: size)
        #expect(packed == [1] + Self.enveloped.dropFirst())
    }

    @Test(arguments: [true, false])
    func `a message without bytes is one`(_ saysLength: Bool) throws {
        let packed = try translated([], from: .connectUnary, isCompressed: true, saysLength: saysLength)
        #expect(try translated([], from: .connectUnary, saysLength: saysLength) == [0, 0, 0, 0, 0])
        #expect(packed == [0, 0, 0, 0, 0])
    }

    @Test(arguments: [1, 3, 1000])
    func `text is decoded, with padding in the middle`(_ size: Int) throws {
        let text = ByteQueue()
        for _ in 0..<2 { text.append(base64: Self.enveloped.span, padded: true) }
        let body = try translated(text.readable.array, from: .grpcWebText, size: size)
        #expect(body == Self.enveloped + Self.enveloped)
    }

    @Test func `what is no base64 is rejected`() {
        for body in ["AAAA!", "AAAAA"] {
            let error = #expect(throws: RPCError.self) { try translated(Array(body.utf8), from: .grpcWebText) }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func `a message whose length is not said is held up to the limit`() {
        let error = #expect(throws: RPCError.self) {
            try translated(Array("hello".utf8), from: .connectUnary, limit: 4, size: 2)
        }
        #expect(error?.code == .resourceExhausted)
        #expect(error?.message == "a request message exceeds limits.held_message (4 bytes)")
        #expect(throws: Never.self) { try translated(Array("hello".utf8), from: .connectUnary, limit: 5) }
        #expect(throws: Never.self) {
            try translated(Array("hello".utf8), from: .connectUnary, saysLength: true, limit: 4)
        }
    }
}
