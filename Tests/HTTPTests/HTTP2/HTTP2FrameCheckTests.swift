import Bytes
import HTTP2Kit
import Testing

@testable import HTTP

/// Which frames there is a doubt about, and what is wrong with them if their stream is closed.
@Suite struct HTTP2FrameCheckTests {
    private typealias Doubt = HTTP2FrameCheck.Doubt

    private func isDoubtful(_ frames: [Frame], isServer: Bool = true) -> Bool {
        var check = HTTP2FrameCheck(isServer: isServer)
        return doubts(in: frames, &check, isServer: isServer).contains(where: \.isDoubted)
    }

    /// Shows the frames to a check, behind the preface.
    private func doubts(in frames: [Frame], _ check: inout HTTP2FrameCheck, isServer: Bool = true) -> [Doubt] {
        let bytes = (isServer ? FrameReader.preface : []) + frames.flatMap(\.bytes)
        return doubts(in: [bytes], &check).map(\.doubt)
    }

    /// Shows pieces to a check.
    ///
    /// - Returns: each doubt, and where in all the bytes it came up.
    private func doubts(in pieces: [[UInt8]], _ check: inout HTTP2FrameCheck) -> [(doubt: Doubt, end: Int)] {
        var found: [(Doubt, Int)] = []
        var before = 0
        for piece in pieces {
            var position = 0
            while let doubt = check.next(in: piece.span, from: &position) {
                // nghttp2 must not have the whole header yet.
                #expect(doubt.start == (doubt.stream == 0 ? position : max(0, position - 9)))
                found.append((doubt, before + position))
            }
            #expect(position == piece.count)
            before += piece.count
        }
        return found
    }

    @Test(arguments: [
        [Frame.request(1, end: true)], [.request(1), .data(1, "x"), .data(1, end: true)],
        [.request(1), .data(1, "x"), .headers(1, ["t": "1"], end: true)], [.request(1), .request(3), .request(9)],
        [.request(1), .window(1, 1), .ping(), .priority(7), .priority(1), .settings(), .data(1, "x")],
        [.request(1), .reset(1, .cancel), .reset(1, .cancel), .window(1, 1), .priority(1)],
        [.request(1).unfinished, .continuation(1, [], end: true), .data(1, end: true)],
        // What follows breaks the protocol otherwise, and nghttp2 says so.
        [.data(0), .request(0), .request(2), .data(2)], [.request(1).unfinished, .request(1), .data(1)],
        [.priority(1, on: 3), Frame(.priority, stream: 1, [0, 0, 0, 1])],
    ])
    func `no doubt about frames whose streams only we can have closed`(frames: [Frame]) {
        #expect(!isDoubtful(frames))
    }

    @Test(arguments: [
        [Frame.data(1)], [.request(1, end: true), .data(1)], [.request(1), .data(1, end: true), .request(1)],
        [.request(5), .request(3)], [.request(1), .reset(1, .cancel), .data(1)], [.request(1), .request(3), .data(1)],
        [.priority(0)], [.priority(3, on: 3)], [.request(1), .priority(1, on: 1)],
    ])
    func `a frame whose stream may be closed is doubted`(frames: [Frame]) {
        #expect(isDoubtful(frames))
    }

    @Test func `the head of a response is doubted, and what follows is not`() {
        #expect(isDoubtful([.response(1)], isServer: false))
        var check = HTTP2FrameCheck(isServer: false)
        check.began(1)
        let frames: [Frame] = [.response(1, 103), .response(1), .data(1, "x"), .headers(1, ["t": "1"], end: true)]
        #expect(doubts(in: frames, &check, isServer: false).count == 1)
    }

    @Test func `doubts do not depend on how the bytes are cut`() throws {
        let frames: [Frame] = [
            .request(1), .data(1, "abc"), .request(5, end: true), .data(1, "d"), .data(1, "e", end: true),
            .data(5, "f"),
            .request(3), .priority(7, on: 7), .priority(7, on: 5), .reset(1, .cancel), .data(1), .priority(0),
        ]
        let bytes = FrameReader.preface + frames.flatMap(\.bytes)
        var whole = HTTP2FrameCheck(isServer: true)
        let expected = doubts(in: [bytes], &whole)
        #expect(expected.map(\.doubt.stream) == [1, 5, 3, 0, 1, 0])
        for pieces in everyCut(of: bytes) {
            var check = HTTP2FrameCheck(isServer: true)
            let found = doubts(in: pieces, &check)
            try #require(found.map(\.doubt.stream) == expected.map(\.doubt.stream))
            try #require(found.map(\.doubt.isData) == expected.map(\.doubt.isData))
            try #require(found.map(\.doubt.isEmpty) == expected.map(\.doubt.isEmpty))
            try #require(found.map(\.end) == expected.map(\.end))
        }
    }

    @Test func `bytes that are no frames crash nothing`() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<30 {
            var check = HTTP2FrameCheck(isServer: Bool.random(using: &random))
            for _ in 0..<20 {
                let count = Int.random(in: 0..<40, using: &random)
                let piece = (0..<count).map { _ in UInt8.random(in: 0...9, using: &random) }
                _ = doubts(in: [piece], &check)
            }
        }
    }

    @Test func `only what nghttp2 has not seen yet may have ended a stream`() {
        var check = HTTP2FrameCheck(isServer: true)
        let unfinished = Array(Frame.data(1, "xy", end: true).bytes.dropLast())
        _ = doubts(in: [.request(1), .request(3, end: true), .request(5), .reset(5, .cancel), .ping()], &check)
        #expect([1, 3, 5, 7].map(check.mayHaveEnded) == [false, true, true, false])
        _ = doubts(in: [unfinished], &check)
        check.caughtUp()
        #expect([1, 3, 5, 7].map(check.mayHaveEnded) == [false, false, false, false])
        _ = doubts(in: [[0] + Frame.ping().bytes], &check)
        #expect([1, 3, 5, 7].map(check.mayHaveEnded) == [true, false, false, false])
    }

    // MARK: What is wrong

    private func error(
        _ frame: Frame,
        after frames: [Frame] = [.request(1), .request(3), .request(9)],
        isServer: Bool = true,
        _ change: (inout HTTP2FrameCheck) -> Void = { _ in }
    ) throws -> HTTP2FrameCheck.ProtocolError? {
        var check = HTTP2FrameCheck(isServer: isServer)
        if !isServer { for frame in frames { check.began(Int32(frame.stream)) } }
        _ = doubts(in: isServer ? frames : [], &check, isServer: isServer)
        change(&check)
        let doubt = try #require(doubts(in: [frame.bytes], &check).first?.doubt)
        return check.error(of: doubt)
    }

    @Test func `DATA on a closed stream is an error of the stream, HEADERS one of the connection`() throws {
        #expect(try error(.data(1)) == .stream(.streamClosed))
        #expect(try error(.headers(1, ["t": "1"], end: true)) == .connection(.streamClosed))
        #expect(try error(.request(3)) == .connection(.streamClosed))
    }

    @Test func `a number that was left out may not be used any more`() throws {
        #expect(try error(.request(5)) == .connection(.protocolError))
        #expect(try error(.request(7)) == .connection(.protocolError))
        #expect(try error(.data(5)) == .stream(.streamClosed))
    }

    @Test func `toward an upstream both are errors of the stream, which end no other call`() throws {
        #expect(try error(.data(1), isServer: false) == .stream(.streamClosed))
        #expect(try error(.response(1), isServer: false) == .stream(.streamClosed))
    }

    @Test func `a PRIORITY frame may be wrong on any stream`() throws {
        #expect(try error(.priority(0)) == .connection(.protocolError))
        #expect(try error(.priority(11, on: 11)) == .connection(.protocolError))
        #expect(try error(.priority(1, on: 1)) == .connection(.protocolError))
    }

    @Test func `on a stream that has not begun it is nghttp2 that finds the error`() throws {
        #expect(try error(.data(11)) == nil)
        #expect(try error(.response(11), isServer: false) == nil)
    }

    @Test(arguments: [true, false])
    func `what comes on a stream that we have reset is none`(isServer: Bool) throws {
        for stream in [1, 3] {
            #expect(try error(.data(stream), isServer: isServer) { $0.reset(3) } == nil)
            #expect(try error(.headers(stream, [:]), isServer: isServer) { $0.reset(3) } == nil)
        }
        let last: [Frame] = [.request(1), .request(3), .request(5), .data(3, end: true)]
        #expect(try error(.data(5), after: last, isServer: isServer) { $0.reset(3) } == .stream(.streamClosed))
    }

    @Test func `what comes on a stream behind our GOAWAY is none`() throws {
        #expect(try error(.data(9), after: [.request(1), .request(9, end: true)]) { $0.sentGoaway(last: 1) } == nil)
        #expect(try error(.data(1)) { $0.sentGoaway(last: 1) } == .stream(.streamClosed))
        // The notice before the GOAWAY takes all.
        #expect(try error(.data(1)) { $0.sentGoaway(last: .max) } == .stream(.streamClosed))
    }

    @Test func `each frame on a closed stream is doubted again`() {
        var check = HTTP2FrameCheck(isServer: true)
        for doubt in doubts(in: [.request(1, end: true), .data(1)], &check) { _ = check.error(of: doubt) }
        check.reset(1)
        for _ in 0..<3 {
            let found = doubts(in: [Frame.data(1).bytes], &check)
            #expect(found.map(\.doubt.isEmpty) == [true])
            for one in found { #expect(check.error(of: one.doubt) == nil) }
        }
    }

    @Test(arguments: [true, false])
    func `where bytes are gone through once more, what we have done meanwhile stays`(isServer: Bool) {
        var check = HTTP2FrameCheck(isServer: isServer)
        let bytes = isServer ? FrameReader.preface + Frame.request(1).bytes : Frame.response(1).bytes
        let earlier = check.parser
        _ = doubts(in: [bytes + (isServer ? Frame.request(3) : Frame.response(3)).bytes], &check)
        if !isServer { for stream in [1, 3, 5] as [Int32] { check.began(stream) } }
        check.reset(1)
        check.sentGoaway(last: isServer ? 1 : .max)
        check.goBack(to: earlier, in: bytes.span, from: 0)
        func error(_ stream: Int32) -> HTTP2FrameCheck.ProtocolError? {
            check.error(of: Doubt(stream: stream, isData: true, isEmpty: false, start: 0))
        }
        #expect(error(1) == nil)
        // A caller's streams begin once more; ours have begun.
        #expect(error(5) == (isServer ? nil : .stream(.streamClosed)))
        if isServer { #expect(doubts(in: [Frame.request(3).bytes, Frame.data(3).bytes], &check).isEmpty) }
        #expect(error(3) == (isServer ? nil : .stream(.streamClosed)))
    }
}
