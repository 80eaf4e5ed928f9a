import Bytes
import Protocols
import RPC
import Testing

private let hello = "0a0668656c6c6f21".unhexed
private let eliza = "0a0e68692c2069276d20656c697a6121".unhexed
private let zipped = Array(Vectors.compressedMessage.unhexed.dropFirst(5))
private let messages = (Vectors.message + Vectors.emptyMessage + Vectors.compressedMessage + Vectors.responseMessage)
    .unhexed
private let wholeMessages: [ScriptedBody.Part] = [
    .message(flags: 0, hello), .message(flags: 0, []), .message(flags: 1, zipped), .message(flags: 0, eliza),
]

/// How a response of each protocol ends, and what is told of it.
private let ends: [(rpcProtocol: RPCProtocol, frame: [UInt8], part: ScriptedBody.Part?)] = [
    (.connectStream, Vectors.connectEnd.unhexed, .end(flags: 2, "{}".bytes)),
    (.grpcWeb, Vectors.webEnd.unhexed, .end(flags: 0x80, "grpc-status: 0\r\n".bytes)),
    (.grpcWebText, Vectors.webEnd.unhexed, .end(flags: 0x80, "grpc-status: 0\r\n".bytes)),
    (.grpc, [], nil),
]

private func sent(_ body: [UInt8], _ rpcProtocol: RPCProtocol) -> [UInt8] {
    rpcProtocol == .grpcWebText ? body.base64.bytes : body
}

@Test(arguments: ends.indices)
func `messages are reported whole wherever the body is cut`(index: Int) {
    let (rpcProtocol, frame, part) = ends[index]
    for pieces in everyCut(of: sent(messages + frame, rpcProtocol)) {
        var body = ScriptedBody(rpcProtocol)
        for piece in pieces { body.comes(piece) }
        #expect(body.parts == wholeMessages + (part.map { [$0] } ?? []))
        #expect(body.isBetweenMessages)
        #expect(body.held.isEmpty)
    }
}

@Test(arguments: ends.indices)
func `messages pass as they are wherever the body is cut, but not the end`(index: Int) {
    let (rpcProtocol, frame, part) = ends[index]
    for pieces in everyCut(of: sent(messages + frame, rpcProtocol)) {
        var body = ScriptedBody(rpcProtocol, needsMessages: false)
        for piece in pieces { body.comes(piece) }
        #expect(body.parts == [.passed(messages)] + (part.map { [$0] } ?? []))
        #expect(body.isBetweenMessages)
        #expect(body.held.isEmpty)
    }
}

@Test(arguments: ends.indices.filter { ends[$0].rpcProtocol != .grpcWebText })
func `a body can be read from where its messages end, wherever it is cut`(index: Int) {
    let (rpcProtocol, frame, part) = ends[index]
    let types: [RPCProtocol: StaticString] = [
        .connectStream: "application/connect+json", .grpc: "application/grpc", .grpcWeb: "application/grpc-web",
    ]
    for pieces in everyCut(of: messages + frame) {
        var response = ResponseReader(rpcProtocol: rpcProtocol, codec: rpcProtocol == .connectStream ? .json : .proto)
        response.head(status: 200, contentType: "\(types[rpcProtocol]!)".bytes.span, compression: .identity)
        var passed: [UInt8] = []
        var tail: ScriptedBody?
        for piece in pieces {
            response.body(piece.span)
            if tail == nil, response.isOfMessages {
                passed += piece
            } else if tail == nil {
                passed += piece[..<response.messagesEnd]
                tail = ScriptedBody(rpcProtocol, needsMessages: false, from: response.start)
                tail?.comes(Array(piece[response.messagesEnd...]))
            } else {
                tail?.comes(piece)
            }
        }
        var parts = tail?.parts ?? []
        if case .passed(let rest) = parts.first {
            passed += rest
            parts.removeFirst()
        }
        #expect(passed == messages)
        #expect(parts == (part.map { [$0] } ?? []))
        #expect(tail?.isBetweenMessages ?? response.canEnd)
    }
}

@Test(arguments: ends.indices, [true, false])
func `a body can be read on after each event`(index: Int, needsMessages: Bool) {
    let (rpcProtocol, frame, part) = ends[index]
    for pieces in everyCut(of: sent(messages + frame, rpcProtocol)) {
        var body = ScriptedBody(rpcProtocol, needsMessages: needsMessages)
        for piece in pieces { body.comesBitByBit(piece) }
        #expect(body.parts == (needsMessages ? wholeMessages : [.passed(messages)]) + (part.map { [$0] } ?? []))
        #expect(body.isBetweenMessages)
    }
}

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText])
func `messages that lie in one piece are not copied`(rpcProtocol: RPCProtocol) {
    var body = ScriptedBody(rpcProtocol, .request)
    body.comes(sent(messages, rpcProtocol))
    #expect(body.uncopied == 4)
    body.comes(sent(Array(Vectors.message.unhexed.prefix(9)), rpcProtocol))
    #expect(!body.held.isEmpty)
}

@Test func `messages side by side pass in one run`() {
    let held = ByteQueue()
    var reader = MessageReader(.grpc, .response, needsMessages: false, messageLimit: 0, held: held)
    var position = 0
    let event = reader.next(in: messages.span, from: &position)
    guard case .pass(let location) = event else {
        Issue.record("\(String(describing: event)) does not pass")
        return
    }
    #expect(reader.bytes(at: location, in: messages.span).array == messages)
    #expect(position == messages.count)
}

@Test(arguments: [true, false], [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText])
func `a body that stops within a message may not end there`(needsMessages: Bool, rpcProtocol: RPCProtocol) {
    let message = Vectors.message.unhexed
    for count in 1..<message.count {
        var body = ScriptedBody(rpcProtocol, .request, needsMessages: needsMessages)
        body.comes(sent(message + message.prefix(count), rpcProtocol))
        #expect(!body.isBetweenMessages)
    }
}

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText], [true, false])
func `an empty body has no messages`(rpcProtocol: RPCProtocol, needsMessages: Bool) {
    var body = ScriptedBody(rpcProtocol, needsMessages: needsMessages)
    body.comes([])
    #expect(body.parts.isEmpty)
    #expect(body.isBetweenMessages)
}

@Test func `base64 that was encoded piece by piece is one body`() {
    for pieces in everyCut(of: (Vectors.message.unhexed.base64 + Vectors.webEnd.unhexed.base64).bytes) {
        var body = ScriptedBody(.grpcWebText)
        for piece in pieces { body.comes(piece) }
        #expect(body.parts == [.message(flags: 0, hello), .end(flags: 0x80, "grpc-status: 0\r\n".bytes)])
        #expect(body.isBetweenMessages)
    }
}

@Test func `an end may be compressed`() {
    var body = ScriptedBody(.connectStream, needsMessages: false)
    body.comes("03000000021f8b".unhexed)
    #expect(body.parts == [.end(flags: 3, [0x1f, 0x8b])])
}
