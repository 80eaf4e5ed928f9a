import HTTP
import HTTP2Kit
import Testing

/// What becomes of the frames of an upstream that RFC 9113 takes for errors, and of the calls that wait for it.
@Suite struct HTTP2UpstreamErrorTests {
    typealias Case = HTTP2FrameErrorTests.Case

    private static let responded: [[Frame]] = [[.response(1, end: true)]]
    private static let reset: [[Frame]] = [[.response(1), .reset(1, .cancel)]]
    private static let trailers = Frame.headers(1, ["t": "1"], end: true)

    /// Errors on a stream that is over: stream 3 waits meanwhile, and is answered all the same.
    static let ofStreams = [
        Case("DATA after both ends", after: responded, [.data(1, "x")], "1 RST_STREAM STREAM_CLOSED"),
        Case("DATA after both ends, twice", after: responded, [.data(1), .data(1)], "1 RST_STREAM STREAM_CLOSED"),
        Case("HEADERS after both ends", after: responded, [.response(1)], "1 RST_STREAM STREAM_CLOSED"),
        Case("trailers after both ends", after: responded, [trailers], "1 RST_STREAM STREAM_CLOSED"),
        Case("DATA after RST_STREAM", after: reset, [.data(1, "x")], "1 RST_STREAM STREAM_CLOSED"),
        Case("HEADERS after RST_STREAM", after: reset, [trailers], "1 RST_STREAM STREAM_CLOSED"),
        Case("all at once", [.response(1, end: true), .data(1)], "1 RST_STREAM STREAM_CLOSED"),
        Case("WINDOW_UPDATE after both ends", after: responded, [.window(1, 1), .reset(1, .noError)]),
        Case("PRIORITY in any state", after: responded, [.priority(1), .priority(3), .priority(9, on: 3)]),
    ]

    /// Errors of the connection.
    static let ofConnections = [
        Case("PRIORITY on stream 0", [.priority(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("PRIORITY of itself", [.priority(3, on: 3)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("a short PRIORITY", [Frame(.priority, stream: 1, [0])], "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("HEADERS on an idle stream", [.response(5)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("HEADERS on a stream of its own", [.response(2)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("HEADERS on stream 0", [.response(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on an idle stream", [.data(5)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on stream 0", [.data(0)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA before the head", [.data(3)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("RST_STREAM on an idle stream", [.reset(5, .cancel)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("WINDOW_UPDATE on an idle stream", [.window(5, 1)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("CONTINUATION of nothing", [.continuation(3, [], end: true)], "GOAWAY 0 PROTOCOL_ERROR"),
        Case("PUSH_PROMISE", [Frame(.push, flags: 4, stream: 3, [0, 0, 0, 2])], "GOAWAY 0 PROTOCOL_ERROR"),
    ]

    /// An upstream that has been sent two requests, on streams 1 and 3.
    private func asked(after before: [[Frame]]) -> (HTTP2Upstream, ScriptedUser) {
        let upstream = HTTP2Upstream()
        upstream.asks()
        let other = upstream.asks()
        _ = upstream.receive()
        for frames in before {
            upstream.responses(frames.flatMap(\.bytes))
            _ = upstream.receive()
        }
        return (upstream, other)
    }

    @Test(arguments: ofStreams)
    func `what comes on a stream that is over ends no other`(one: Case) throws {
        for pieces in everyCut(of: one.frames.flatMap(\.bytes)) {
            let (upstream, other) = asked(after: one.before)
            for piece in pieces { upstream.responses(piece) }
            try #require(upstream.receive() == one.expected)
            upstream.responses(.response(3), .data(3, "ok", end: true))
            try #require(other.saw == ["response 200", "body ok", "end"])
            try #require(!upstream.isClosed && upstream.receive() == [])
        }
    }

    @Test(arguments: ofConnections)
    func `an error of the connection ends its calls as errors`(one: Case) throws {
        for pieces in everyCut(of: one.frames.flatMap(\.bytes)) {
            let (upstream, other) = asked(after: one.before)
            for piece in pieces where !upstream.isClosed { upstream.responses(piece) }
            try #require(upstream.receive() == one.expected)
            try #require(upstream.isClosed)
            try #require(other.saw.count == 1 && other.saw[0].hasPrefix("reset: "))
        }
    }

    @Test func `what an upstream has sent before it learns of a reset is none of an error`() throws {
        let frames: [Frame] = [
            .response(3), .response(1), .data(1, "x"), .data(3), .data(1), .headers(1, ["t": "1"], end: true),
        ]
        for pieces in everyCut(of: frames.flatMap(\.bytes)) {
            let (upstream, other) = asked(after: [])
            let canceled = upstream.asks()
            for user in [canceled, other] { user.stream?.reset(.canceled) }
            for piece in pieces { upstream.responses(piece) }
            let lines = upstream.receive()
            try #require(!upstream.isClosed && !lines.contains { $0.contains("STREAM_CLOSED") })
        }
    }
}
