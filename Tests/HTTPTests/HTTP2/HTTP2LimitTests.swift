import HTTP
import HTTP2Kit
import Testing
import Time

/// How much a caller may ask on one HTTP/2 connection, and that it is not stopped before.
@Suite struct HTTP2LimitTests {

    /// A kind of frame that costs the caller nothing.
    struct Flood: Sendable {
        let limit: HTTP2Limit
        let burst: Int
        let perSecond: Int
        let frame: Frame
    }

    /// A frame of a type that has no meaning here: ALTSVC, PRIORITY_UPDATE, or nobody's.
    private static func unknown(_ type: UInt8) -> Frame { Frame(type: type, flags: 0, stream: 0, Array("a=1".utf8)) }

    static let floods = [
        Flood(limit: .settings, burst: 99, perSecond: 5, frame: .settings()),
        Flood(limit: .ping, burst: 1000, perSecond: 50, frame: .ping()),
        Flood(limit: .emptyData, burst: 1000, perSecond: 100, frame: .data(1)),
        Flood(limit: .ping, burst: 1000, perSecond: 50, frame: .ping(ack: true)),
        Flood(limit: .priority, burst: 2000, perSecond: 200, frame: .priority(3)),
        Flood(limit: .priority, burst: 2000, perSecond: 200, frame: unknown(10)),
        Flood(limit: .priority, burst: 2000, perSecond: 200, frame: unknown(16)),
        Flood(limit: .priority, burst: 2000, perSecond: 200, frame: unknown(255)),
        Flood(limit: .window, burst: 10_000, perSecond: 1000, frame: .window(0, 1)),
        Flood(limit: .window, burst: 10_000, perSecond: 1000, frame: .window(1, 1)),
    ]

    /// Sends a frame so often, and takes what comes back meanwhile.
    private func send(_ count: Int, _ frame: Frame, to caller: HTTP2Caller) {
        for number in 1...count {
            caller.sends(frame)
            if number % 100 == 0 { _ = caller.receive() }
        }
        _ = caller.receive()
    }

    @Test(arguments: floods)
    func `a burst of frames is let pass, and one more is not`(flood: Flood) {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        send(flood.burst, flood.frame, to: caller)
        #expect(!caller.isClosed)
        caller.sends(flood.frame)
        #expect(caller.receive().last == "GOAWAY 1 ENHANCE_YOUR_CALM")
        #expect(caller.saw.filter { $0.hasPrefix("exceeded") } == ["exceeded: \(flood.limit)"])
        #expect(caller.users[0].saw.last == "reset: exceeded \(flood.limit)")
        #expect(caller.saw.last == "closed, lingering")
    }

    @Test(arguments: floods)
    func `after a burst there may be so many each second`(flood: Flood) {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        send(flood.burst, flood.frame, to: caller)
        for _ in 0..<3 {
            caller.now += .second
            send(flood.perSecond, flood.frame, to: caller)
            #expect(!caller.isClosed)
        }
        caller.sends(flood.frame)
        #expect(caller.saw.contains("exceeded: \(flood.limit)"))
    }

    @Test func `a long rest fills no more than a burst`() {
        let caller = HTTP2Caller()
        caller.now += 3600 * .second
        send(1000, .ping(), to: caller)
        caller.sends(.ping())
        #expect(caller.saw == ["exceeded: ping", "closed, lingering"] || caller.saw == ["exceeded: ping"])
    }

    @Test func `a flood that comes at once is reported once`() {
        let caller = HTTP2Caller()
        caller.sends((0..<3000).flatMap { _ in Frame.priority(3).bytes })
        _ = caller.receive()
        #expect(caller.saw == ["exceeded: priority", "closed, lingering"])
    }

    @Test func `a reader of a long response may open its window as often as it likes`() throws {
        let caller = HTTP2Caller()
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        for _ in 0..<12_000 {
            stream.send(body: "x")
            _ = caller.receive()
            caller.sends(.window(1, 1), .window(0, 1))
        }
        #expect(!caller.isClosed)
    }

    @Test func `a reader of a long response may ask with each piece how fast it comes`() throws {
        let caller = HTTP2Caller(settings: [.window: 1 << 20])
        caller.sends(.request(1, end: true))
        let stream = try #require(caller.users[0].stream)
        stream.send(head: Message.response(200), end: false)
        for _ in 0..<5000 {
            stream.send(body: "x")
            _ = caller.receive()
            caller.sends(.ping())
        }
        _ = caller.receive()
        #expect(caller.frames.filter { $0.kind == .data }.count == 5000)
        #expect(caller.frames.filter { $0.kind == .ping }.count == 5000)
        #expect(!caller.isClosed && !caller.saw.contains("exceeded: ping"))
        // What was saved up is a burst, and no more.
        send(999, .ping(), to: caller)
        #expect(!caller.isClosed)
        send(1, .ping(), to: caller)
        #expect(caller.saw.contains("exceeded: ping"))
    }

    @Test func `an upstream may reset as many streams as it likes`() {
        let upstream = HTTP2Upstream()
        var reported = 0
        for number in 0..<3000 {
            let user = upstream.asks()
            _ = upstream.receive()
            upstream.responses(.reset(2 * number + 1, number % 2 == 0 ? .rejected : .internalError))
            if user.wasReset { reported += 1 }
        }
        #expect(reported == 3000)
        #expect(upstream.receive() == [])
        #expect(!upstream.isClosed && upstream.session.room > 0)
        #expect(!upstream.saw.contains { $0.hasPrefix("exceeded") })
    }

    @Test func `acknowledgements that nobody reads do not pile up`() {
        let caller = HTTP2Caller()
        for _ in 0..<2 {
            for _ in 0..<990 { caller.sends(.ping()) }
            caller.now += .seconds(60)
        }
        for _ in 0..<90 { caller.sends(.settings()) }
        #expect(caller.saw == ["exceeded: slowReader"])
        _ = caller.receive()
        #expect(caller.isClosed)
    }

    @Test func `resets that nobody reads do not pile up`() {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 1), begins: false)
        caller.sends(FrameReader.preface)
        caller.sends(.settings(), .request(1))
        for number in 0..<4000 { caller.sends(.request(3 + 2 * number)) }
        #expect(!caller.saw.contains("exceeded: slowReader"))
        for number in 4000..<4010 { caller.sends(.request(3 + 2 * number)) }
        #expect(caller.saw.filter { $0 == "exceeded: slowReader" }.count == 1)
        #expect(caller.users.count == 1)
    }

    // MARK: Heads

    @Test func `a head that is as large as the limit passes, and one byte more does not`() {
        // The control data of the request counts as well, and 32 bytes for each field.
        let control = ":methodGET:schemehttp:authoritya:path/".utf8.count + 5 * 32
        for (extra, status) in [(0, 200), (1, 431)] {
            let caller = HTTP2Caller.served(limits: HTTPLimits(head: 1024))
            let value = String(repeating: "y", count: 1024 - control - 1 + extra)
            caller.sends(.request(1, "GET", "/", ["x": value], end: true))
            let sent = caller.receive().first ?? ""
            #expect(sent.hasPrefix("1 HEADERS/end :status: \(status) "), "\(extra): \(sent)")
        }
    }

    @Test func `more fields than the limit are rejected`() {
        for (count, status) in [(10, 200), (11, 431)] {
            let caller = HTTP2Caller.served(limits: HTTPLimits(fields: 10))
            let block = Frame.request(1, "GET").payload + (0..<count).flatMap { HPACK.literal("x\($0)", "y") }
            caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, block))
            #expect(caller.receive() == ["1 HEADERS/end :status: \(status) | content-length: 0"])
            #expect(!caller.isClosed)
        }
    }

    @Test func `a head out of all proportion ends the connection`() {
        let caller = HTTP2Caller(limits: HTTPLimits(head: 1024))
        let field = HPACK.kept("x", String(repeating: "y", count: 967))
        // Each field counts 1000 bytes, and 2 MiB are read of any head.
        for (stream, count) in [(1, 2096), (3, 2098)] {
            let block = Frame.request(1).payload + field + (1..<count).flatMap { _ in HPACK.indexed(62) }
            caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: stream, block))
            #expect(caller.saw.contains("exceeded: headerList") == (stream == 3))
        }
        #expect(caller.receive().last?.hasSuffix("ENHANCE_YOUR_CALM") == true)
        #expect(caller.isClosed)
    }

    @Test func `a small block that unfolds into a large head ends the connection`() {
        let caller = HTTP2Caller(limits: HTTPLimits(head: 4096))
        let bomb =
            Frame.request(1).payload + HPACK.kept("x", String(repeating: "y", count: 3000))
            + (0..<1000).flatMap { _ in HPACK.indexed(62) }
        caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, bomb))
        #expect(caller.saw.first == "exceeded: headerList")
        _ = caller.receive()
        #expect(caller.isClosed && caller.users.isEmpty)
    }

    @Test func `small blocks that unfold into large heads on many streams are rejected until there is room`() {
        let caller = HTTP2Caller(limits: HTTPLimits(head: 4096, heads: 3000))
        func sends(_ stream: Int, _ large: [UInt8]) {
            let block = Frame.request(stream).payload + large
            caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: stream, block))
        }
        sends(1, HPACK.kept("x", String(repeating: "y", count: 900)))
        for stream in [3, 5, 7, 9] { sends(stream, HPACK.indexed(62)) }
        #expect(caller.receive() == ["7 RST_STREAM REFUSED_STREAM", "9 RST_STREAM REFUSED_STREAM"])
        #expect(caller.saw.filter { $0 == "exceeded: heads" }.count == 2)
        #expect(caller.users.count == 3)
        caller.users[1].stream?.response(200)
        #expect(caller.receive() == ["3 HEADERS/end :status: 200 | content-length: 0"])
        sends(11, HPACK.indexed(62))
        #expect(caller.users.count == 4 && caller.receive().isEmpty)
        sends(13, HPACK.indexed(62))
        #expect(caller.receive() == ["13 RST_STREAM REFUSED_STREAM"])
        #expect(!caller.isClosed)
    }

    @Test func `windows of a stream that has ended count as those of others`() {
        let caller = HTTP2Caller.served()
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        send(10_000, .window(1, 1), to: caller)
        #expect(!caller.isClosed)
        caller.sends(.window(1, 1))
        #expect(caller.saw.contains("exceeded: window"))
    }

    @Test func `trailers that are too large reset the stream`() {
        let caller = HTTP2Caller(limits: HTTPLimits(head: 1024))
        caller.sends(.request(1), .headers(1, ["x": String(repeating: "y", count: 2000)], end: true))
        #expect(caller.receive() == ["1 RST_STREAM PROTOCOL_ERROR"])
        #expect(!caller.saw.contains("end"))
    }

    @Test func `what HPACK cannot read ends the connection`() {
        let caller = HTTP2Caller()
        caller.sends(Frame(.headers, flags: Frame.Flag.endHeaders | Frame.Flag.end, stream: 1, HPACK.indexed(120)))
        #expect(caller.receive() == ["GOAWAY 1 COMPRESSION_ERROR"])
        #expect(caller.saw == ["exceeded: hpack", "closed, lingering"])
    }

    @Test func `a head that does not come to its end ends the connection when its time is over`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1).unfinished)
        #expect(caller.session.isReadingHead)
        caller.session.headTimedOut()
        #expect(caller.receive().last?.hasSuffix("ENHANCE_YOUR_CALM") == true)
        #expect(caller.saw.first == "exceeded: stalled")
        #expect(caller.isClosed && caller.users.isEmpty)
    }

    @Test func `trailers without memory for them do not spoil a response that is out`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
        caller.sends(.headers(1, ["t": "1"], end: true).unfinished)
        #expect(caller.session.isReadingHead && caller.session.unfinishedHeadBytes > 0)
        caller.session.rejectHead()
        #expect(caller.receive() == ["1 RST_STREAM NO_ERROR"])
        #expect(!caller.session.isReadingHead && !caller.session.isBusy && !caller.isClosed)
    }
}
