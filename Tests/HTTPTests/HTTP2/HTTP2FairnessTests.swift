import HTTP
import HTTP2Kit
import Testing

/// How the answers of one connection share it.
@Suite struct HTTP2FairnessTests {
    private static let size = 200_000

    /// A caller whose window is open for everything, and who has asked for so many answers.
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

    @Test func `answers that wait together go out side by side, frame by frame`() {
        let caller = caller(asks: 4, window: 0)
        for user in caller.users { user.stream?.answer(200, body: String(repeating: "x", count: Self.size)) }
        _ = caller.takes()
        caller.sends(.settings([.window: 1 << 20]))
        _ = caller.takes()
        let bytes = bytesAtFirstEnd(caller)
        #expect(bytes.keys.sorted() == [1, 3, 5, 7])
        #expect(bytes.values.min() ?? 0 >= Self.size - 2 * 16384)
        #expect(caller.saw.last == "idle")
    }

    @Test func `an answer that began first is ahead by what the output holds, and no more`() {
        let caller = caller(asks: 4)
        for user in caller.users { user.stream?.answer(200, body: String(repeating: "x", count: Self.size)) }
        _ = caller.takes()
        let bytes = bytesAtFirstEnd(caller)
        #expect(bytes.keys.sorted() == [1, 3, 5, 7])
        #expect(bytes.values.max() == Self.size)
        #expect(bytes.values.min() ?? 0 >= Self.size - 128 * 1024 - 3 * 16384)
        #expect(caller.saw.last == "idle")
    }

    @Test func `a small answer does not wait for large ones that began before it`() {
        let caller = caller(asks: 4)
        for user in caller.users[..<3] { user.stream?.answer(200, body: String(repeating: "x", count: 1 << 20)) }
        caller.session.fillOutput()
        caller.users[3].stream?.answer(200, body: "small")
        _ = caller.takes()
        let data = caller.frames.filter { $0.kind == .data }
        let place = data.firstIndex { $0.stream == 7 } ?? data.count
        #expect(data[..<place].reduce(0) { $0 + $1.payload.count } < 256 * 1024)
    }

    @Test func `an interim answer comes through between large ones, and not without end if nobody reads`() {
        let caller = caller(asks: 2)
        caller.users[0].stream?.answer(200, body: String(repeating: "x", count: 1 << 20))
        caller.session.fillOutput()
        #expect(caller.queued >= 128 * 1024)
        for _ in 0..<10_000 { caller.users[1].stream?.send(informational: Message.answer(100)) }
        let interim = caller.takes().filter { $0 == "3 HEADERS :status: 100" }
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
}
