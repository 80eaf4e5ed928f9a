import Bytes
import Protocols
import RPC
import Testing

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText], 0...20)
func `what is written is read again`(rpcProtocol: RPCProtocol, size: Int) {
    let payload = (0..<size).map { UInt8($0) }
    let queue = ByteQueue()
    queue.append(message: payload.span, flags: 1, in: rpcProtocol)
    queue.append(message: payload.span, in: rpcProtocol)
    var body = ScriptedBody(rpcProtocol, .request)
    body.comes(queue.readable.array)
    #expect(body.parts == [.message(flags: 1, payload), .message(flags: 0, payload)])
    #expect(body.isBetweenMessages)
}

@Test func `a message is written as its protocol has it`() {
    func written(_ rpcProtocol: RPCProtocol) -> [UInt8] {
        let queue = ByteQueue()
        queue.append(message: "0a0668656c6c6f21".unhexed.span, in: rpcProtocol)
        return queue.readable.array
    }
    #expect(written(.grpc) == Vectors.message.unhexed)
    #expect(written(.connectUnary) == "0a0668656c6c6f21".unhexed)
    #expect(written(.grpcWebText).text == "AAAAAAgKBmhlbGxvIQ==")
}

@Test func `a long message has its length in four bytes`() {
    let queue = ByteQueue()
    queue.append(message: [UInt8](repeating: 7, count: 0x01_0203).span, in: .grpcWebText)
    let bytes = Base64.decode(queue.readable)
    #expect(bytes?.prefix(5) == [0, 0, 1, 2, 3])
    #expect(bytes?.count == 0x01_0208)
}

private func fields(_ lines: String) -> [String] {
    TrailerLines.fields(of: lines.bytes.span).map { "\($0.name.text)=\($0.value.text)" }
}

@Test func `the lines of a trailer frame are fields`() {
    #expect(
        fields("grpc-status: 0\r\nAcme-Cost:237\r\nX-B:  a: b \t\r\n") == [
            "grpc-status=0", "acme-cost=237", "x-b=a: b",
        ]
    )
    #expect(fields("a: 1\nb: 2\r\nc: 3") == ["a=1", "b=2", "c=3"])
    #expect(fields("a:\r\na:\r\n") == ["a=", "a="])
    #expect(fields("").isEmpty)
}

@Test func `what is no line of a trailer frame is passed over`() {
    #expect(fields("\r\nnothing\r\n: 1\r\na: 1\r\n\r\n") == ["a=1"])
    #expect(fields("a: 1\rb: 2\r\nc\u{0}: 3\r\nd: \t4\t5\r\ne: 6\t\u{7f}") == ["d=4\t5"])
}

@Test func `trailer lines are read as they were written`() {
    let queue = ByteQueue()
    queue.append(trailerLines: [("grpc-status".bytes, "0".bytes), ("a".bytes, "".bytes), ("a".bytes, "b: c".bytes)])
    #expect(queue.readable.string == "grpc-status: 0\r\na: \r\na: b: c\r\n")
    #expect(fields(queue.readable.string) == ["grpc-status=0", "a=", "a=b: c"])
}
