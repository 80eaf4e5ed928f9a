import HTTP
import HTTP2Kit
import Testing

/// What becomes of frames that RFC 9113 takes for errors, and of those that it does not.
@Suite struct HTTP2FrameErrorTests {
    /// Frames that a peer sends, and what comes back.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Sent one group after the other; what comes back is taken in between.
        let before: [[Frame]]
        let frames: [Frame]
        let expected: [String]

        init(_ description: String, after before: [[Frame]] = [], _ frames: [Frame], _ expected: String...) {
            testDescription = description
            self.before = before
            self.frames = frames
            self.expected = expected
        }
    }

    private static let responded: [[Frame]] = [[.request(1, end: true)]]
    private static let reset: [[Frame]] = [[.request(1), .reset(1, .cancel)]]
    private static let halfClosed: [[Frame]] = [[.request(1, "POST", "/slow", end: true)]]
    private static let trailers = Frame.headers(1, ["t": "1"], end: true)
    private static let beyond = Int(Int32.max)

    static let errors = [
        Case("DATA after both ends", after: responded, [.data(1, "x")], "1 RST_STREAM STREAM_CLOSED"),
        Case("DATA after both ends, twice", after: responded, [.data(1), .data(1)], "1 RST_STREAM STREAM_CLOSED"),
        Case("HEADERS after both ends", after: responded, [.request(1, end: true)], "GOAWAY 1 STREAM_CLOSED"),
        Case("trailers after both ends", after: responded, [trailers], "GOAWAY 1 STREAM_CLOSED"),
        Case("DATA after RST_STREAM", after: reset, [.data(1, "x")], "1 RST_STREAM STREAM_CLOSED"),
        Case("DATA at once after RST_STREAM", reset[0] + [.data(1)], "1 RST_STREAM STREAM_CLOSED"),
        Case("HEADERS after RST_STREAM", after: reset, [trailers], "GOAWAY 1 STREAM_CLOSED"),
        Case("DATA after the end", after: halfClosed, [.data(1, "x")], "GOAWAY 1 STREAM_CLOSED"),
        Case("HEADERS after the end", after: halfClosed, [trailers], "GOAWAY 1 STREAM_CLOSED"),
        Case("a number below", after: [[.request(5, end: true)]], [.request(3)], "GOAWAY 5 PROTOCOL_ERROR"),
        Case("DATA on a number left out", after: [[.request(5, end: true)]], [.data(3)], "3 RST_STREAM STREAM_CLOSED"),
        Case("an even number", [.request(2)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("a head on stream 0", [.request(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on stream 0", [.data(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("RST_STREAM on stream 0", [.reset(0, .cancel)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("PRIORITY on stream 0", [.priority(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("PRIORITY of itself, idle", [.priority(1, on: 1)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("PRIORITY of itself, open", after: halfClosed, [.priority(1, on: 1)], "GOAWAY 1 PROTOCOL_ERROR"),
        Case("PRIORITY of itself, closed", after: responded, [.priority(1, on: 1)], "GOAWAY 1 PROTOCOL_ERROR"),
        Case("a short PRIORITY", [Frame(.priority, stream: 1, [0, 0, 0, 0])], "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("a head that depends on itself", [selfDependent], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on an idle stream", [.data(1)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("RST_STREAM on an idle stream", [.reset(1, .cancel)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("WINDOW_UPDATE on an idle stream", [.window(1, 1)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("CONTINUATION of nothing", [.continuation(1, [], end: true)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("a short RST_STREAM", after: halfClosed, [Frame(.reset, stream: 1, [0])], "GOAWAY 1 FRAME_SIZE_ERROR"),
        Case("a short WINDOW_UPDATE", [Frame(.window, stream: 0, [0])], "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("an empty WINDOW_UPDATE", [.window(0, 0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("a short PING", [Frame(.ping, [0])], "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("PING on a stream", [Frame(.ping, stream: 1, Array("01234567".utf8))], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("SETTINGS on a stream", [Frame(.settings, stream: 1)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("SETTINGS of half a value", [Frame(.settings, [0, 1, 0])], "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("PUSH_PROMISE", [Frame(.push, flags: 4, stream: 1, [0, 0, 0, 2])], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("a frame too large", [Frame(type: 99, flags: 0, stream: 0, large)], "GOAWAY 0 FRAME_SIZE_ERROR"),
    ]

    private static let large = [UInt8](repeating: 0, count: 16385)
    private static let selfDependent = Frame(
        .headers,
        flags: Frame.Flag.endHeaders | 0x20,
        stream: 1,
        [0, 0, 0, 1, 15] + Frame.request(1).payload
    )

    static let fine = [
        Case("WINDOW_UPDATE after both ends", after: responded, [.window(1, 1)]),
        Case("a WINDOW_UPDATE too large after both ends", after: responded, [.window(1, beyond)]),
        Case("RST_STREAM after both ends", after: responded, [.reset(1, .cancel), .reset(1, .noError)]),
        Case("WINDOW_UPDATE after RST_STREAM", after: reset, [.window(1, 1), .reset(1, .cancel)]),
        Case("WINDOW_UPDATE after the end", after: halfClosed, [.window(1, 1)]),
        Case(
            "PRIORITY in any state",
            after: responded,
            [.priority(1), .priority(3), .priority(9, on: 3), .priority(2)]
        ),
        Case(
            "RST_STREAM on a number left out",
            after: [[.request(5, end: true)]],
            [.reset(3, .cancel), .window(3, 1)]
        ),
        Case("frames of unknown types", after: responded, [unknown(0), unknown(1), unknown(3), unknown(2)]),
        Case(
            "DATA on a stream that we have reset",
            after: [[.request(1, "POST", "/no")]],
            [.data(1), .data(1, "x", end: true)]
        ),
        Case(
            "trailers on a stream that we have reset",
            after: [[.request(1, "POST", "/no")]],
            [.data(1, "x"), trailers]
        ),
        Case(
            "DATA on a stream that is malformed",
            after: [[.request(1, "POST", "/", ["X": "1"])]],
            [.data(1, "x"), trailers]
        ),
        Case(
            "DATA on a stream below one that we have reset",
            after: [[.request(1, "POST", "/early"), .request(3, "POST", "/no")]],
            [.data(1, "x"), .data(3), .data(1, end: true), .data(3, end: true)]
        ),
    ]

    private static func unknown(_ stream: Int) -> Frame { Frame(type: 99, flags: 0xFF, stream: stream, [1, 2, 3]) }

    /// A caller whose requests are answered when they are whole, or as their path says.
    private func caller() -> HTTP2Caller {
        let caller = HTTP2Caller(limits: HTTPLimits(streams: 2))
        caller.whenOpened = { user, stream in
            switch user.saw.first {
            case "request POST /slow host=a": break
            case "request POST /no host=a": stream.reset(.canceled)
            case "request POST /early host=a": stream.response(403)
            default: user.whenEnd = { $0.response(200) }
            }
        }
        return caller
    }

    @Test(arguments: errors)
    func `a frame that breaks the protocol is an error, however its bytes are cut`(one: Case) throws {
        for pieces in everyCut(of: Array(one.frames.flatMap(\.bytes).prefix(200))) {
            let caller = caller()
            for frames in one.before {
                caller.sends(frames.flatMap(\.bytes))
                _ = caller.receive()
            }
            for piece in pieces where !caller.isClosed { caller.sends(piece) }
            try #require(caller.receive() == one.expected)
            let isConnection = one.expected[0].hasPrefix("GOAWAY")
            try #require(caller.isClosed == isConnection)
            try #require(!caller.saw.contains { $0.hasPrefix("exceeded") })
        }
    }

    @Test(arguments: fine)
    func `a frame that a peer may send changes nothing, however its bytes are cut`(one: Case) throws {
        for receivesBetween in [true, false] {
            for pieces in everyCut(of: one.frames.flatMap(\.bytes)) {
                let caller = caller()
                for frames in one.before {
                    caller.sends(frames.flatMap(\.bytes))
                    if receivesBetween { _ = caller.receive() }
                }
                for piece in pieces { caller.sends(piece) }
                let lines = caller.receive()
                try #require(!receivesBetween || lines == [])
                try #require(!lines.contains { $0.contains("STREAM_CLOSED") || $0.contains("GOAWAY") })
                try #require(!caller.isClosed)
                caller.sends(.request(11, end: true))
                try #require(caller.receive() == ["11 HEADERS/end :status: 200 | content-length: 0"])
            }
        }
    }

    @Test func `after an error of a stream other streams go on`() {
        let caller = caller()
        caller.sends(.request(1, end: true), .request(3))
        _ = caller.receive()
        caller.sends(.data(1, "x"), .data(3, "y"), .data(1, "x"), .data(3, end: true))
        #expect(caller.receive() == ["1 RST_STREAM STREAM_CLOSED", "3 HEADERS/end :status: 200 | content-length: 0"])
        #expect(caller.users[1].saw == ["request POST / host=a", "body y", "end"])
    }

    @Test func `what comes before an error of the connection still counts`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1), .data(1, "x"), .priority(0), .data(1, "y"))
        #expect(caller.users[0].saw.prefix(2) == ["request POST / host=a", "body x"])
        #expect(caller.receive() == ["GOAWAY 1 PROTOCOL_ERROR"])
        #expect(caller.users[0].saw.count == 3)
    }

    @Test func `the bytes of ignored DATA are given back to the window of the connection`() {
        let caller = caller()
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        let chunk = Frame.data(1, [UInt8](repeating: 0, count: 16384))
        var lines: [String] = []
        for _ in 0..<1024 {
            caller.sends(chunk)
            lines += caller.receive()
        }
        #expect(lines.first == "1 RST_STREAM STREAM_CLOSED" && lines.contains { $0.hasPrefix("WINDOW_UPDATE") })
        #expect(!caller.isClosed)
    }

    @Test func `DATA and trailers of streams that were rejected are none of an error`() throws {
        let trailers = Frame.headers(5, ["t": "1"], end: true).bytes
        for pieces in everyCut(of: trailers) + everyCut(of: Frame.data(5, "x").bytes + trailers) {
            let caller = HTTP2Caller(limits: HTTPLimits(streams: 2), begins: false)
            // The limit is not acknowledged, so that another stream is rejected and no error.
            caller.sends(FrameReader.preface + Frame.settings().bytes)
            caller.sends(.request(1), .request(3), .request(5))
            caller.sends(.data(1))
            for piece in pieces { caller.sends(piece) }
            let lines = caller.receive()
            try #require(lines.contains("5 RST_STREAM REFUSED_STREAM") && !caller.isClosed)
            try #require(!lines.contains { $0.contains("STREAM_CLOSED") })
        }
    }

    @Test func `DATA and trailers of streams whose heads are too much are none of an error`() throws {
        let trailers = Frame.headers(5, ["t": "1"], end: true).bytes
        for pieces in everyCut(of: trailers) + everyCut(of: Frame.data(5, "x").bytes + trailers) {
            let caller = HTTP2Caller(limits: HTTPLimits(heads: 100))
            caller.sends(.request(1), .request(3), .request(5))
            #expect(caller.saw.contains("exceeded: heads"))
            caller.sends(.data(1))
            for piece in pieces { caller.sends(piece) }
            let lines = caller.receive()
            try #require(lines.contains("5 RST_STREAM REFUSED_STREAM") && !caller.isClosed)
            try #require(!lines.contains { $0.contains("STREAM_CLOSED") })
        }
    }

    @Test func `streams behind our GOAWAY are none of an error`() {
        let caller = HTTP2Caller()
        caller.sends(.request(1))
        caller.session.drain()
        _ = caller.receive()
        caller.session.drain()
        #expect(caller.receive() == ["GOAWAY 1 NO_ERROR"])
        caller.sends(.request(3), .data(3, "x"), .request(5, end: true), .data(3), .headers(3, ["t": "1"], end: true))
        caller.sends(.data(1, end: true))
        #expect(caller.receive() == [] && !caller.isClosed)
        caller.users[0].stream?.response(200)
        #expect(caller.receive() == ["1 HEADERS/end :status: 200 | content-length: 0"])
    }

    @Test func `empty DATA without end on a closed stream has the limit of all empty DATA`() {
        let caller = caller()
        caller.sends(.request(1, end: true))
        _ = caller.receive()
        for _ in 0..<1001 { caller.sends(.data(1)) }
        #expect(caller.receive() == ["1 RST_STREAM STREAM_CLOSED"] && !caller.isClosed)
        caller.sends(.data(1))
        #expect(caller.receive() == ["GOAWAY 1 ENHANCE_YOUR_CALM"])
        #expect(caller.saw.contains("exceeded: emptyData"))
    }

    @Test func `a preface with one wrong byte ends the connection`() {
        for index in FrameReader.preface.indices {
            let caller = HTTP2Caller(begins: false)
            var bytes = FrameReader.preface
            bytes[index] ^= 1
            caller.sends(bytes + Frame.settings().bytes)
            #expect(caller.receive().last == "GOAWAY 0 PROTOCOL_ERROR" && caller.isClosed)
        }
    }
}
