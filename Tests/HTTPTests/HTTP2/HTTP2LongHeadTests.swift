import HTTP
import HTTP2Kit
import Testing

/// Heads in several frames, and fields that nghttp2 alone would end the connection for.
@Suite struct HTTP2LongHeadTests {
    /// How a field is written.
    enum Form: CaseIterable { case literal, kept, compressed }

    private static func field(_ form: Form, _ name: String, _ value: String) -> [UInt8] {
        switch form {
        case .literal: HPACK.literal(name, value)
        case .kept: HPACK.kept(name, value)
        case .compressed: HPACK.compressed(name, value)
        }
    }

    private static func text(_ count: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-_.~ !*X&".utf8)
        return String(
            decoding: (0..<max(0, count - 1)).map { letters[($0 &* 7 &+ $0 / 11) % letters.count] } + [0x78],
            as: UTF8.self
        )
    }

    /// Sends bytes in pieces.
    private static func send(_ bytes: [UInt8], in size: Int, _ receive: ([UInt8]) -> Void) {
        for start in stride(from: 0, to: bytes.count, by: size) {
            receive(Array(bytes[start..<min(bytes.count, start + size)]))
        }
    }

    private static let mebibyte = HTTPLimits(head: 1 << 20, fields: 1000)

    // MARK: Callers

    /// Returns the value of `x` of a request, or what happened in its place.
    private func value(
        _ block: [UInt8],
        limits: HTTPLimits = mebibyte,
        frame: Int = 16 * 1024,
        piece: Int = 64 * 1024
    ) -> String {
        let caller = HTTP2Caller.served(limits: limits)
        // Behind a field of the table, which the next request refers to.
        caller.sends(Frame.head(1, Frame.request(1).payload, end: true))
        caller.sends(Frame.head(3, Frame.request(3).payload + HPACK.kept("y", "early"), end: true))
        Self.send(Frame.head(5, Frame.request(5).payload + block, end: true, size: frame), in: piece) {
            caller.sends($0)
        }
        guard !caller.isClosed else { return "closed" }
        caller.sends(Frame.head(7, Frame.request(7).payload + HPACK.kept("y", "late"), end: true))
        caller.sends(Frame.head(9, Frame.request(9).payload + HPACK.indexed(62), end: true))
        guard caller.users.last?.saw.contains("  y: late") == true else { return "another table" }
        let response = caller.receive().first { $0.hasPrefix("5 ") }
        guard response == "5 HEADERS/end :status: 200 | content-length: 0" else { return response ?? "no response" }
        return caller.users[2].saw.filter { $0.hasPrefix("  ") }.map { String($0.dropFirst(2)) }.joined(separator: "\n")
    }

    @Test(arguments: Form.allCases, [65_536, 65_537, 65_663, 66_000, 70_000, 81_920, 131_072, 500_000, 1_048_000])
    func `a field within the limit passes as it was sent`(form: Form, count: Int) {
        let text = Self.text(count)
        #expect(value(Self.field(form, "x", text)) == "x: \(text)")
    }

    @Test(arguments: [67, 1000, 16_383, 16_384], [1, 3, 1000, 65_536])
    func `frames and reads of any size make the same field`(frame: Int, piece: Int) {
        let text = Self.text(70_000)
        for form in Form.allCases {
            #expect(value(Self.field(form, "x", text), frame: frame, piece: piece) == "x: \(text)")
        }
    }

    @Test(arguments: [20, 62, 130])
    func `many fields within the limit pass`(count: Int) {
        let caller = HTTP2Caller.served(limits: Self.mebibyte)
        let fields = (0..<count).flatMap { HPACK.literal("x-\($0)", Self.text(8000)) }
        caller.sends(.request(1))
        caller.sends(Frame.head(3, Frame.request(3).payload + fields, end: true))
        #expect(caller.receive() == ["3 HEADERS/end :status: 200 | content-length: 0"])
        #expect(caller.users[1].saw.contains { $0.hasPrefix("  x-\(count - 1): ") })
        #expect(!caller.isClosed)
    }

    @Test func `several long fields of one head keep their order`() {
        let texts = [66_000, 90_000, 70_000].map(Self.text)
        let block =
            HPACK.kept("x", texts[0]) + HPACK.compressed("x", texts[1]) + HPACK.literal("z", "short")
            + HPACK.literal("x", texts[2])
        #expect(value(block) == "x: \(texts[0])\nx: \(texts[1])\nz: short\nx: \(texts[2])")
    }

    @Test func `a long path passes`() {
        let caller = HTTP2Caller.served(limits: Self.mebibyte)
        let path = "/" + Self.text(90_000).filter { $0.isLetter }
        caller.sends(Frame.head(1, Frame.request(1, "GET", path).payload, end: true))
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
        #expect(caller.users[0].saw.first?.contains(path) == true)
    }

    @Test(arguments: [
        (72_000, 1), (128_000, 1), (160_000, 1), (1_000_000, 1), (72_000, 9), (128_000, 16), (160_000, 20),
        (1_000_000, 125), (1_048_576, 128),
    ])
    func `a head over the limit costs its call alone`(bytes: Int, fields: Int) {
        for form in Form.allCases {
            let caller = HTTP2Caller(limits: HTTPLimits())
            caller.sends(.request(1))
            let block = (0..<fields).flatMap { Self.field(form, "x-\($0)", Self.text(bytes / fields)) }
            caller.sends(Frame.head(3, Frame.request(3).payload + block, end: true))
            #expect(caller.saw.contains("rejected: \(HTTPError.headTooLarge)"))
            #expect(caller.receive() == ["3 HEADERS/end :status: 431 | content-length: 0"])
            caller.users[0].stream?.response(200)
            #expect(caller.receive().first == "1 HEADERS/end :status: 200 | content-length: 0")
            #expect(!caller.isClosed && !caller.saw.contains { $0.hasPrefix("exceeded") })
        }
    }

    @Test(arguments: [70_000, 400_000])
    func `a long name costs its call alone`(count: Int) {
        for limits in [HTTPLimits(), Self.mebibyte] {
            let caller = HTTP2Caller(limits: limits)
            let name = String(repeating: "n", count: count)
            for (stream, field) in [(1, HPACK.literal(name, "v")), (3, HPACK.kept(name, Self.text(count)))] {
                caller.sends(Frame.head(stream, Frame.request(stream).payload + field, end: true))
            }
            let error = limits.head < count ? HTTPError.headTooLarge : .longFieldName
            #expect(caller.saw.count { $0 == "rejected: \(error)" } == 2)
            #expect(caller.receive() == [1, 3].map { "\($0) HEADERS/end :status: 431 | content-length: 0" })
            #expect(!caller.isClosed)
        }
    }

    @Test(arguments: ["\u{0}", "\r", "\n", "\u{1}", "\u{7f}"])
    func `a long value with a control character is rejected`(character: String) {
        let caller = HTTP2Caller(limits: Self.mebibyte)
        let text = Self.text(50_000) + character + Self.text(50_000)
        caller.sends(Frame.head(1, Frame.request(1).payload + HPACK.literal("x", text), end: true))
        #expect(caller.receive() == ["1 HEADERS/end :status: 400 | content-length: 0"])
        #expect(!caller.isClosed)
    }

    @Test(arguments: [":method", ":scheme", ":authority", "content-length", "te", "connection"])
    func `a long value that no request can have resets the stream`(name: String) {
        let caller = HTTP2Caller(limits: Self.mebibyte)
        let block =
            name.hasPrefix(":")
            ? HPACK.literal(name, Self.text(80_000)) + Frame.request(1).payload
            : Frame.request(1).payload + HPACK.literal(name, Self.text(80_000))
        caller.sends(Frame.head(1, block, end: true))
        #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
        caller.sends(.request(3, end: true))
        #expect(caller.users.count == 1 && !caller.isClosed)
    }

    @Test func `padding and priority do not belong to the block`() {
        let text = Self.text(70_000)
        let block = Frame.request(1).payload + HPACK.literal("x", text)
        let payload = [5] + [0, 0, 0, 0, 15] + block.prefix(9000) + [UInt8](repeating: 0, count: 5)
        let caller = HTTP2Caller.served(limits: Self.mebibyte)
        caller.sends(Frame(.headers, flags: Frame.Flag.end | 0x28, stream: 1, payload).bytes)
        let rest = Array(block.dropFirst(9000))
        for start in stride(from: 0, to: rest.count, by: 10_000) {
            let part = Array(rest[start..<min(rest.count, start + 10_000)])
            caller.sends(.continuation(1, part, end: start + 10_000 >= rest.count))
        }
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
        #expect(caller.users.first?.saw.contains("  x: \(text)") == true)
    }

    @Test func `a length of more bytes than it needs is an HPACK error`() {
        let caller = HTTP2Caller(limits: Self.mebibyte)
        let field = [0] + HPACK.string("x") + [127, 0x81, 0x80, 0x80, 0] + [UInt8](repeating: 0x61, count: 20_000)
        caller.sends(Frame.head(1, Frame.request(1).payload + field, end: true))
        #expect(caller.receive().last?.hasSuffix("COMPRESSION_ERROR") == true)
        #expect(caller.saw.contains("exceeded: hpack"))
    }

    @Test(arguments: [[0x00], [0xff, 0xff, 0xff, 0xff]] as [[UInt8]])
    func `a long string that no Huffman code is ends the connection`(end: [UInt8]) {
        let caller = HTTP2Caller(limits: Self.mebibyte)
        let coded = [UInt8](repeating: 0xf9, count: 70_000) + end
        let field = [0] + HPACK.string("x") + HPACK.length(coded.count, flag: 0x80) + coded
        caller.sends(Frame.head(1, Frame.request(1).payload + field, end: true))
        #expect(caller.receive().last?.hasSuffix("COMPRESSION_ERROR") == true)
    }

    // MARK: Floods

    @Test(arguments: [(1024, 168), (64 * 1024, 168), (1 << 20, 1288)])
    func `the frames of a head are limited by the size of a head`(limit: Int, count: Int) {
        for extra in [0, 1] {
            let caller = HTTP2Caller.served(limits: HTTPLimits(head: limit))
            let head = Frame.request(1, "GET", "/", [:], end: true)
            caller.sends(head.unfinished)
            for number in 1...count + extra { caller.sends(.continuation(1, [], end: number == count + extra)) }
            let sent = caller.receive()
            #expect((sent == ["1 HEADERS/end :status: 200 | content-length: 0"]) == (extra == 0), "\(sent)")
            #expect(caller.saw.contains("exceeded: continuation") == (extra == 1))
        }
    }

    // MARK: Upstreams

    @Test(arguments: [(66_000, 1), (150_000, 1), (1_000_000, 1), (150_000, 20), (1_000_000, 125)])
    func `a head or trailers over the limit of an upstream cost their call alone`(bytes: Int, fields: Int) {
        for hasHead in [false, true] {
            let upstream = HTTP2Upstream()
            let (other, user) = (upstream.asks(), upstream.asks())
            _ = upstream.receive()
            let status = HPACK.literal(":status", "200")
            let block = (0..<fields).flatMap { HPACK.compressed("x-\($0)", Self.text(bytes / fields)) }
            if hasHead { upstream.responses(.response(3)) }
            upstream.responses(Frame.head(3, (hasHead ? [] : status) + block, end: true))
            #expect(user.saw.last == "reset: fault \(HTTPError.headTooLarge)")
            #expect(upstream.receive() == ["3 RST_STREAM PROTOCOL_ERROR"])
            upstream.responses(.response(1, 200, end: true))
            #expect(other.saw.last == "end" && !upstream.isClosed)
        }
    }

    @Test(arguments: [66_000, 150_000, 900_000])
    func `trailers within the limit of an upstream pass`(count: Int) {
        let upstream = HTTP2Upstream(limits: Self.mebibyte)
        let user = upstream.asks()
        _ = upstream.receive()
        let text = Self.text(count)
        upstream.responses(.response(1))
        upstream.responses(Frame.head(1, HPACK.compressed("grpc-message", text), end: true))
        #expect(user.saw.last == "  grpc-message: \(text)")
    }

    @Test func `trailers of a request over a limit can still get a response`() {
        for (block, error) in [
            (HPACK.literal("x", Self.text(70_000)), HTTPError.headTooLarge),
            ((0..<201).flatMap { HPACK.literal("x-\($0)", "v") }, .tooManyFields),
        ] {
            let caller = HTTP2Caller()
            caller.sends(.request(1), .request(3))
            caller.users[1].whenReset = { $0.response(error.status) }
            caller.sends(Frame.head(3, block, end: true))
            #expect(caller.users[1].saw.contains("reset: fault \(error)"))
            #expect(caller.receive() == ["3 HEADERS/end :status: 431 | content-length: 0"])
            caller.users[0].stream?.response(200)
            #expect(!caller.isClosed)
        }
    }
}
