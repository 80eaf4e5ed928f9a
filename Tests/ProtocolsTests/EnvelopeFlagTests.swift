import Bytes
import Protocols
import RPC
import Testing

/// The flags of envelopes: those that a protocol does not know, and the one of a compressed message.
@Suite struct EnvelopeFlagTests {
    private static let callers = [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText]
    private static let message: [UInt8] = [0, 0, 0, 0, 2] + Array("hi".utf8)

    private func flagged(_ flags: UInt8) -> [UInt8] { [flags] + Self.message.dropFirst() }

    private func text(_ bytes: [UInt8]) -> [UInt8] {
        let queue = ByteQueue()
        queue.append(base64: bytes.span, padded: true)
        return queue.readable.array
    }

    /// What goes upstream of a request in pieces of `size` bytes, and the error that ends it.
    private func translated(
        _ body: [UInt8],
        from caller: RPCProtocol,
        isCompressed: Bool,
        size: Int
    ) -> (sent: [UInt8], error: RPCError?) {
        let output = ByteQueue()
        var translator = RequestTranslator(from: caller, isCompressed: isCompressed, length: nil, limit: 1000) {
            ByteQueue()
        }
        let body = caller == .grpcWebText ? text(body) : body
        do throws(RPCError) {
            for start in stride(from: 0, to: body.count, by: size) {
                let piece = Array(body[start..<min(body.count, start + size)])
                let before = output.readable.array
                do throws(RPCError) {
                    try translator.add(piece.span, into: output)
                } catch {
                    return (before, error)
                }
            }
            try translator.end(into: output)
        } catch {
            return (output.readable.array, error)
        }
        return (output.readable.array, nil)
    }

    @Test(arguments: callers, [1, 2, 3, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x81, 0x83, 0xff] as [UInt8])
    func `a request with a flag that means nothing fails with internal`(_ caller: RPCProtocol, _ flags: UInt8) {
        for size in [1, 4, 1000] {
            let sent = translated(Self.message + flagged(flags), from: caller, isCompressed: false, size: size)
            #expect(sent.error?.code == .internal, "\(size)")
            // What goes out before is the first message, and nothing behind the envelope.
            #expect(sent.sent.count <= Self.message.count + 4, "\(size)")
        }
    }

    @Test(arguments: callers, [2, 3, 4, 0x80, 0x81, 0xff] as [UInt8])
    func `a named compression allows no other flag`(_ caller: RPCProtocol, _ flags: UInt8) {
        let error = translated(flagged(flags), from: caller, isCompressed: true, size: 1000).error
        #expect(error == RPCError(.internal, "a request message has flags that are unknown in its protocol"))
    }

    @Test(arguments: callers, [1, 3, 1000])
    func `a compressed message passes if a header names the compression`(_ caller: RPCProtocol, _ size: Int) {
        let body = flagged(1) + Self.message + flagged(1)
        let (sent, error) = translated(body, from: caller, isCompressed: true, size: size)
        #expect(error == nil)
        #expect(sent == body)
    }

    @Test(arguments: callers, 1..<7)
    func `a request that ends within an envelope or a message fails`(_ caller: RPCProtocol, _ count: Int) {
        let body = Self.message + Self.message.prefix(count)
        let error = translated(body, from: caller, isCompressed: false, size: 1000).error
        #expect(error == RPCError(.invalidArgument, "the request ends in the middle of a message"))
    }

    @Test(
        arguments: [
            (RPCProtocol.grpc, Direction.request, [1], "a request message"),
            (.grpc, .response, [1], "a response message"),
            (.connectStream, .request, [1], "a request message"),
            (.connectStream, .response, [1], "a response message"),
            (.connectStream, .response, [3], "the end of the response"),
            (.grpcWeb, .response, [1], "a response message"),
            (.grpcWeb, .response, [0x81], "the end of the response"), (.grpcWeb, .request, [1], "a request message"),
            (.grpcWebText, .request, [1], "a request message"),
            (.grpcWebText, .response, [0x81], "the end of the response"),
        ] as [(RPCProtocol, Direction, [UInt8], String)]
    )
    func `a reader finds a compression that no header names`(
        _ rpcProtocol: RPCProtocol,
        _ direction: Direction,
        _ flags: [UInt8],
        _ subject: String
    ) {
        let plain = flagged(flags[0])
        let body = rpcProtocol == .grpcWebText ? text(plain) : plain
        for needsMessages in [true, false] {
            var reader = MessageReader(
                rpcProtocol,
                direction,
                needsMessages: needsMessages,
                messageLimit: 100,
                held: ByteQueue(),
                allowsCompressed: false
            )
            var position = 0
            let error = RPCError(.internal, "\(subject) is compressed, but no header names the compression")
            #expect(reader.next(in: body.span, from: &position) == .error(error))
        }
    }

    @Test(arguments: callers, [2, 4, 0x80] as [UInt8])
    func `one message may not have unknown flags`(_ caller: RPCProtocol, _ flags: UInt8) {
        var meter = MessageMeter(caller, .request)
        let body = caller == .grpcWebText ? text(flagged(flags)) : flagged(flags)
        meter.add(body.span)
        meter.end()
        #expect(meter.errorOfOneMessage(compression: .gzip)?.code == .internal)
    }
}
