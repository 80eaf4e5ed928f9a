import Bytes
import Protocols
import RPC
import Testing

/// A meter that has seen `body` in pieces that end at the `cuts`.
private func metered(
    _ rpcProtocol: RPCProtocol,
    _ direction: Direction,
    limit: Int? = nil,
    _ body: [UInt8],
    cuts: [Int] = []
) -> MessageMeter {
    var meter = MessageMeter(rpcProtocol, direction, limit: limit)
    var start = 0
    for end in cuts.sorted() + [body.count] {
        meter.add(body.span.extracting(start..<end))
        start = end
    }
    return meter
}

private func sent(_ rpcProtocol: RPCProtocol, _ bytes: [UInt8]) -> [UInt8] {
    rpcProtocol == .grpcWebText ? bytes.base64.bytes : bytes
}

private let enveloped: [RPCProtocol] = [.connectStream, .grpc, .grpcWeb, .grpcWebText]
private let bare: [RPCProtocol] = [.connectUnary, .connectGet]

@Test(
    arguments: [
        (Vectors.message + Vectors.message, 2, 8), (Vectors.responseMessage + Vectors.emptyMessage, 2, 16),
        (Vectors.compressedMessage, 1, 28), (Vectors.emptyMessage, 1, 0), ("", 0, 0), ("00000000", 0, 0),
        ("00000000080a0668656c6c", 0, 8), ("0000000009", 0, 9),
    ] as [(String, Int, Int)]
)
func `enveloped messages are counted and measured wherever the body is cut`(hex: String, count: Int, largest: Int) {
    for rpcProtocol in enveloped {
        let body = sent(rpcProtocol, hex.unhexed)
        for cut in 0...body.count {
            let meter = metered(rpcProtocol, .request, body, cuts: [cut])
            #expect(meter.messages == count)
            #expect(meter.largest == largest)
            #expect(!meter.isOverLimit)
        }
    }
}

@Test(arguments: [
    (RPCProtocol.connectStream, Vectors.connectEndError), (.grpcWeb, Vectors.webEndError),
    (.grpcWebText, Vectors.webEndError),
])
func `the frame that ends a response is no message, however large it is`(rpcProtocol: RPCProtocol, end: String) {
    let meter = metered(rpcProtocol, .response, limit: 16, sent(rpcProtocol, (Vectors.responseMessage + end).unhexed))
    #expect(meter.messages == 1)
    #expect(meter.largest == 16)
    #expect(!meter.isOverLimit)
}

@Test(arguments: enveloped)
func `a message that is too large is reported of as soon as its envelope has come`(rpcProtocol: RPCProtocol) {
    let stream = Vectors.message.unhexed + [0, 0, 0, 0, 9]
    let whole = sent(rpcProtocol, stream)
    #expect(metered(rpcProtocol, .request, limit: 8, whole).isOverLimit)
    #expect(!metered(rpcProtocol, .request, limit: 9, whole).isOverLimit)
    #expect(!metered(rpcProtocol, .request, limit: 8, Array(whole.dropLast(4))).isOverLimit)
}

@Test func `a message of four gibibytes is reported of`() {
    #expect(metered(.grpc, .request, limit: 1 << 31, [0, 0xff, 0xff, 0xff, 0xff]).isOverLimit)
}

@Test(arguments: [
    (RPCProtocol.grpc, UInt8(0x80)), (.grpc, 0x02), (.connectStream, 0x02), (.grpcWeb, 0x80), (.grpcWeb, 0x44),
])
func `a request cannot hide a message behind flags it must not have`(rpcProtocol: RPCProtocol, flags: UInt8) {
    let meter = metered(rpcProtocol, .request, limit: 8, [flags, 0, 0, 0, 1, 7] + [0, 0, 0, 0, 9])
    #expect(meter.messages == 0)
    #expect(meter.isOverLimit)
}

@Test(arguments: bare)
func `a bare message is complete with its end, were it empty`(rpcProtocol: RPCProtocol) {
    for body in ["", "{}"] {
        var meter = metered(rpcProtocol, .response, body.bytes)
        #expect(meter.messages == 0)
        meter.end()
        #expect(meter.messages == 1)
        #expect(meter.largest == body.utf8.count)
    }
}

@Test(arguments: bare)
func `a bare message is too large once it has grown beyond the limit`(rpcProtocol: RPCProtocol) {
    let body = [UInt8](repeating: 0x20, count: 9)
    #expect(!metered(rpcProtocol, .request, limit: 9, body).isOverLimit)
    #expect(metered(rpcProtocol, .request, limit: 8, body, cuts: [4, 8]).isOverLimit)
}

@Test(arguments: bare)
func `a bare message is too large as soon as its length says so`(rpcProtocol: RPCProtocol) {
    var meter = MessageMeter(rpcProtocol, .request, limit: 8)
    meter.announce(8)
    #expect(!meter.isOverLimit)
    meter.announce(9)
    #expect(meter.isOverLimit)
}

@Test func `the length of an enveloped body is not that of a message`() {
    var meter = MessageMeter(.grpc, .request, limit: 8)
    meter.announce(1000)
    #expect(!meter.isOverLimit)
}

@Test func `plain HTTP has no messages`() {
    var meter = metered(.http, .request, limit: 1, "two".bytes)
    meter.announce(3)
    meter.end()
    #expect(meter.messages == 0)
    #expect(!meter.isOverLimit)
}

@Test func `a caller is reported which limit a message is over`() {
    #expect(
        MessageMeter(.grpc, .request, limit: 8).overLimitError
            == RPCError(.resourceExhausted, "a request message exceeds limits.request_message (8 bytes)")
    )
    #expect(
        MessageMeter(.grpc, .response, limit: 8).overLimitError
            == RPCError(.resourceExhausted, "a response message exceeds limits.response_message (8 bytes)")
    )
}

@Test(arguments: enveloped)
func `random messages in random pieces are measured alike`(rpcProtocol: RPCProtocol) {
    var generator = SeededGenerator(seed: UInt64(rpcProtocol.rawValue) + 20)
    for _ in 0..<300 {
        let payloads = (0..<Int.random(in: 0...5, using: &generator)).map { _ in generator.bytes(upTo: 300) }
        let queue = ByteQueue()
        for payload in payloads { queue.append(enveloping: payload.span, flags: .random(in: 0...1, using: &generator)) }
        let body = sent(rpcProtocol, queue.readable.array)
        let cuts = (0..<6).map { _ in Int.random(in: 0...body.count, using: &generator) }
        let meter = metered(rpcProtocol, .request, limit: 150, body, cuts: cuts)
        #expect(meter.messages == payloads.count)
        #expect(meter.largest == payloads.map(\.count).max() ?? 0)
        #expect(meter.isOverLimit == payloads.contains { $0.count > 150 })
    }
}
