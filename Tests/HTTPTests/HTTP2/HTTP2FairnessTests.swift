import HTTP
import HTTP2Kit
import Testing

/// How the responses of one connection share it.
@Suite struct HTTP2FairnessTests {
    private static let size = 200_000

    /// A caller whose window is open for everything, and who has asked for so many responses.
    private func caller(asks count: Int, window: Int = 1 << 20) -> HTTP2Caller {
        let caller = HTTP2Caller(settings: [.window: window])
        caller.sends(.window(0, 1 << 28))
        for number in 0..<count { caller.sends(.request(2 * number + 1, end: true)) }
        return caller
    }

    /// How many bytes of each stream had come when the first of them was whole.
    private func bytesAtFirstEnd(_ caller: HTTP2Caller) -> [Int: Int] {
        var bytes: [Int: Int] = [:]
        for frame in caller.frames where frame.kind == .data {
            bytes[frame.stream, default: 0] += frame.payload.count
            if frame.has(Frame.Flag.end) { break }
        }
        return bytes
    }

    @Test func `responses that wait together go out side by side, frame by frame`() {
        let caller = caller(asks: 4, window: 0)
        for user in caller.users { user.stream?.response(200, body: String(repeating: "x", count: Self.size)) }
        _ = caller.receive()
        caller.sends(.settings([.window: 1 << 20]))
        _ = caller.receive()
        let bytes = bytesAtFirstEnd(caller)
        #expect(bytes.keys.sorted() == [1, 3, 5, 7])
        #expect(bytes.values.min() ?? 0 >= Self.size - 2 * 16384)
        #expect(caller.saw.last == "idle")
    }

    @Test func `a response that began first is ahead by what the output holds, and no more`() {
        let caller = caller(asks: 4)
        for user in caller.users { user.stream?.response(200, body: String(repeating: "x", count: Self.size)) }
        _ = caller.receive()
        let bytes = bytesAtFirstEnd(caller)
        #expect(bytes.keys.sorted() == [1, 3, 5, 7])
        #expect(bytes.values.max() == Self.size)
        #expect(bytes.values.min() ?? 0 >= Self.size - 128 * 1024 - 3 * 16384)
        #expect(caller.saw.last == "idle")
    }

    @Test func `a small response does not wait for large ones that began before it`() {
        let caller = caller(asks: 4)
        for user in caller.users[..<3] { user.stream?.response(200, body: String(repeating: "x", count: 1 << 20)) }
        caller.session.fillOutput()
        caller.users[3].stream?.response(200, body: "small")
        _ = caller.receive()
        let data = caller.frames.filter { $0.kind == .data }
        let place = data.firstIndex { $0.stream == 7 } ?? data.count
        #expect(data[..<place].reduce(0) { $0 + $1.payload.count } < 256 * 1024)
    }

    @Test func `an interim response comes through between large ones, and not without end if nobody reads`() {
        let caller = caller(asks: 2)
        caller.users[0].stream?.response(200, body: String(repeating: "x", count: 1 << 20))
        caller.session.fillOutput()
        #expect(caller.queued >= 128 * 1024)
        for _ in 0..<10_000 { caller.users[1].stream?.send(informational: Message.response(100)) }
        let interim = caller.receive().filter { $0 == "3 HEADERS :status: 100" }
        #expect(1000..<5000 ~= interim.count)
    }

    @Test(arguments: [1, 7, 1000])
    func `requests that come together are read a few at a time when others wait`(piece: Int) {
        let caller = HTTP2Caller()
        caller.hasRunLong = true
        let bytes = (0..<40).flatMap { Frame.request(2 * $0 + 1, end: true).bytes }
        var taken = 0
        var rounds = 0
        while taken < bytes.count {
            let before = caller.users.count
            let more = caller.offers(Array(bytes[taken..<min(taken + piece, bytes.count)]))
            #expect(more > 0)
            #expect(caller.users.count - before <= 5)
            taken += more
            rounds += 1
        }
        #expect(caller.users.count == 40)
        #expect(caller.users.allSatisfy { $0.saw == ["request POST / host=a", "end"] })
        #expect(piece < 1000 || rounds >= 8)
        #expect(!caller.isClosed && !caller.session.isHoldingBack)
        // When there is time, all of them are read at once.
        caller.hasRunLong = false
        caller.sends((40..<80).flatMap { Frame.request(2 * $0 + 1, end: true).bytes })
        #expect(caller.users.count == 80)
    }

    // MARK: What is read later, and what has been done meanwhile

    /// A caller that has not seen the settings, with as many streams as it may have: 1, 3, 5, 7, 9 and 11.
    private func fullCaller() -> HTTP2Caller {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 6), begins: false)
        caller.sends(FrameReader.preface)
        caller.sends(.settings())
        for number in 0..<6 { caller.sends(.request(2 * number + 1)) }
        _ = caller.receive()
        caller.hasRunLong = true
        return caller
    }

    @Test(arguments: 0..<16)
    func `what comes on a stream that was rejected before the rest was left for later is no error`(place: Int) throws {
        let heads = [1, 3, 5, 7, 9, 11].map { Frame.headers($0, ["t": "1", "u": "2"], end: true) }
        let rest: [Frame] = [.data(13, "abc"), .data(13), .headers(13, ["t": "1"], end: true), .ping()]
        // The head that is rejected, and what follows it on its stream, stand anywhere between the others.
        var frames = heads
        frames.insert(.request(13), at: place % 7)
        frames.insert(contentsOf: rest, at: place < 7 ? frames.count : min(place % 7 + 3, frames.count))
        let bytes = frames.flatMap(\.bytes)
        for piece in [bytes.count, 40, 7] {
            let caller = fullCaller()
            var taken = 0
            while taken < bytes.count {
                taken += caller.offers(Array(bytes[taken..<min(taken + piece, bytes.count)]))
            }
            let lines = caller.receive()
            try #require(lines.contains("13 RST_STREAM REFUSED_STREAM") && lines.contains("PING/ack"), "\(piece)")
            try #require(!lines.contains { $0.contains("STREAM_CLOSED") }, "\(piece): \(lines)")
            try #require(caller.users.allSatisfy { $0.saw.last == "  u: 2" } && !caller.isClosed)
            if piece == bytes.count { try #require(caller.saw.contains("yields")) }
        }
    }

    @Test func `a stream that begins before the rest was left for later has begun`() {
        let upstream = HTTP2Upstream()
        let users = (0..<5).map { _ in upstream.asks() }
        _ = upstream.receive()
        upstream.hasRunLong = true
        users[0].whenEnd = { _ in upstream.asks() }
        let bytes = (0..<5).flatMap { Frame.response(2 * $0 + 1, 200, ["a": "b"], end: true).bytes }
        let taken = upstream.offers(bytes)
        #expect(taken < bytes.count && upstream.saw.contains("yields"))
        upstream.hasRunLong = false
        upstream.responses(Array(bytes[taken...]))
        _ = upstream.receive()
        upstream.responses(.response(11, end: true), .data(11, "too much"))
        #expect(upstream.receive() == ["11 RST_STREAM STREAM_CLOSED"])
    }
}
