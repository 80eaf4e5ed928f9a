import Bytes
import Protocols
import RPC
import Testing

@Test func `an envelope is read and written`() {
    let queue = ByteQueue()
    queue.append(Envelope(flags: 0x81, length: 0x0102_0304))
    #expect(queue.readable.array == [0x81, 1, 2, 3, 4])
    #expect(Envelope(queue.readable) == Envelope(flags: 0x81, length: 0x0102_0304))
    #expect(Envelope("00000000".unhexed.span) == nil)
}

@Test func `a payload is put into an envelope`() {
    let queue = ByteQueue()
    queue.append(enveloping: "0a0668656c6c6f21".unhexed.span)
    #expect(queue.readable.array == Vectors.message.unhexed)
}

/// The payloads a scanner finds in the pieces, with their flags.
private func scan(_ pieces: [[UInt8]]) -> (found: [(flags: UInt8, payload: [UInt8])], isBetweenMessages: Bool) {
    var scanner = EnvelopeScanner()
    var found: [(flags: UInt8, payload: [UInt8])] = []
    var current = (flags: UInt8(0), payload: [UInt8]())
    for piece in pieces {
        var position = 0
        while let event = scanner.next(in: piece.span, from: &position) {
            switch event {
            case .envelope(let envelope): current = (envelope.flags, [])
            case .payload(let range, let isLast):
                current.payload += piece[range]
                if isLast { found.append(current) }
            }
        }
        #expect(position == piece.count)
    }
    return (found, scanner.isBetweenMessages)
}

@Test func `envelopes are found wherever the stream is cut`() {
    let stream = (Vectors.responseMessage + Vectors.emptyMessage + Vectors.connectEnd).unhexed
    for first in 0...stream.count {
        for second in first...stream.count {
            let pieces = [Array(stream[..<first]), Array(stream[first..<second]), Array(stream[second...])]
            let (found, isBetweenMessages) = scan(pieces)
            #expect(found.map(\.flags) == [0, 0, 2])
            #expect(found.map(\.payload) == ["0a0e68692c2069276d20656c697a6121".unhexed, [], "{}".bytes])
            #expect(isBetweenMessages)
        }
    }
}

@Test(arguments: ["00000000", "00000000080a0668656c6c", "0000000001"])
func `a stream cut off in a message does not end between messages`(stream: String) {
    let (found, isBetweenMessages) = scan([stream.unhexed])
    #expect(found.isEmpty)
    #expect(!isBetweenMessages)
}

@Test func `an empty stream ends between messages`() {
    #expect(scan([[], []]).isBetweenMessages)
}

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText])
func `the messages of a request are counted`(rpcProtocol: RPCProtocol) {
    let stream = (Vectors.message + Vectors.emptyMessage + Vectors.compressedMessage).unhexed
    let sent = rpcProtocol == .grpcWebText ? stream.base64.bytes : stream
    for cut in 0...sent.count {
        var body = EnvelopedBody(rpcProtocol)
        body.add(sent.span.extracting(..<cut))
        body.add(sent.span.extracting(cut...))
        #expect(body.messages == 3)
        #expect(body.canEnd)
    }
}

@Test(arguments: [
    (RPCProtocol.grpc, "0200000000"), (.grpc, "8000000000"), (.connectStream, "8000000000"),
    (.connectStream, "0400000000"),
    (.grpcWeb, "0200000000"), (.connectStream, Vectors.connectEnd + Vectors.message),
])
func `flags a protocol does not know and messages after the end break a body`(rpcProtocol: RPCProtocol, stream: String)
{
    var body = EnvelopedBody(rpcProtocol)
    body.add(stream.unhexed.span)
    #expect(body.isBroken)
    #expect(!body.canEnd)
}

@Test func `base64 encoded in several padded pieces is one body`() {
    var body = EnvelopedBody(.grpcWebText)
    body.add((Vectors.message.unhexed.base64 + Vectors.message.unhexed.base64).bytes.span)
    #expect(body.messages == 2)
    #expect(body.canEnd)
}

@Test func `a text body that is not base64 is broken`() {
    var body = EnvelopedBody(.grpcWebText)
    body.add("AAAA!".bytes.span)
    #expect(body.isBroken)
}
