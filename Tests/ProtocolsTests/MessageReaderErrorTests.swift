import Bytes
import Protocols
import RPC
import Testing

private let unknownFlags = "has flags that are unknown in its protocol"

@Test(arguments: [
    (RPCProtocol.grpc, "0200000000"), (.grpc, "8000000000"), (.grpcWeb, "0200000000"), (.connectStream, "8000000000"),
    (.connectStream, "0400000000"),
])
func `flags that the protocol does not know are a fault`(rpcProtocol: RPCProtocol, frame: String) {
    let stream = (Vectors.message + frame + Vectors.message).unhexed
    for pieces in everyCut(of: stream) {
        var response = ScriptedBody(rpcProtocol, needsMessages: false)
        var request = ScriptedBody(rpcProtocol, .request, needsMessages: false)
        for piece in pieces {
            response.comes(piece)
            request.comes(piece)
        }
        let passed = ScriptedBody.Part.passed(Vectors.message.unhexed)
        #expect(response.parts == [passed, .error(RPCError(.internal, "a response message \(unknownFlags)"))])
        #expect(
            request.parts == [passed, .error(RPCError(.internal, "a request message \(unknownFlags)"))]
        )
        #expect(!response.isBetweenMessages)
    }
}

@Test(arguments: [(RPCProtocol.connectStream, Vectors.connectEnd), (.grpcWeb, Vectors.webEnd)])
func `a request has no frame that ends it`(rpcProtocol: RPCProtocol, end: String) {
    var body = ScriptedBody(rpcProtocol, .request)
    body.comes(end.unhexed)
    #expect(body.parts == [.error(RPCError(.internal, "a request message \(unknownFlags)"))])
}

@Test(arguments: [(RPCProtocol.connectStream, Vectors.connectEnd), (.grpcWeb, Vectors.webEnd)], [true, false])
func `nothing may follow the end of a response`(response: (rpcProtocol: RPCProtocol, end: String), needsMessages: Bool)
{
    for behind in [Vectors.message, Vectors.emptyMessage, response.end] {
        var body = ScriptedBody(response.rpcProtocol, needsMessages: needsMessages)
        body.comes((response.end + behind).unhexed)
        #expect(body.parts.count == 2)
        #expect(body.parts.last == .error(RPCError(.internal, "a message follows the end of the response")))
        #expect(!body.isBetweenMessages)
    }
}

@Test(arguments: [
    (Direction.request, "a request message exceeds limits.held_message (8 bytes)"),
    (.response, "a response message exceeds limits.held_message (8 bytes)"),
])
func `a message over the limit is a fault as soon as it is announced`(
    direction: Direction,
    text: String
) {
    var body = ScriptedBody(.grpc, direction, limit: 8)
    body.comes((Vectors.message + "0000000009").unhexed)
    #expect(body.parts == [.message(flags: 0, "0a0668656c6c6f21".unhexed), .error(RPCError(.resourceExhausted, text))])
}

@Test func `messages that pass have no limit, but the end has`() {
    let error = RPCError(.resourceExhausted, "the end of the response exceeds limits.held_message (1 bytes)")
    var body = ScriptedBody(.connectStream, needsMessages: false, limit: 1)
    body.comes((Vectors.message + Vectors.connectEnd).unhexed)
    #expect(body.parts == [.passed(Vectors.message.unhexed), .error(error)])
}

@Test func `nothing is reported after a fault`() {
    var body = ScriptedBody(.grpc)
    body.comes("0200000000".unhexed)
    body.comes(Vectors.message.unhexed)
    #expect(body.parts.count == 1)
}

@Test(arguments: [true, false])
func `text that is not base64 is a fault`(needsMessages: Bool) {
    var body = ScriptedBody(.grpcWebText, .request, needsMessages: needsMessages)
    body.comes("AAAA!".bytes)
    #expect(body.parts.last == .error(RPCError(.invalidArgument, "the body of the request is not valid base64")))
    #expect(!body.isBetweenMessages)
}

@Test func `text that breaks off within a group of base64 may not end there`() {
    var body = ScriptedBody(.grpcWebText)
    body.comes((Vectors.message.unhexed.base64 + "A").bytes)
    #expect(body.parts.count == 1)
    #expect(!body.isBetweenMessages)
}

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText], [true, false])
func `no bytes can crash a reader`(rpcProtocol: RPCProtocol, needsMessages: Bool) {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<500 {
        var body = ScriptedBody(rpcProtocol, needsMessages: needsMessages)
        for _ in 0..<4 {
            let bytes = generator.bytes(upTo: 12).map { $0 & 0x83 }
            body.comes(rpcProtocol == .grpcWebText ? bytes.base64.bytes : bytes)
        }
        #expect(body.parts.count { if case .error = $0 { true } else { false } } <= 1)
    }
}
