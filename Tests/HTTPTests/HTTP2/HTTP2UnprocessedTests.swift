import HTTP
import HTTP2Kit
import Testing

/// Which requests an upstream has surely not begun to process, so that they may be retried (RFC 9113 §8.7).
@Suite struct HTTP2UnprocessedTests {
    /// An upstream that has been sent so many requests.
    private func asked(_ count: Int) -> (HTTP2Upstream, [ScriptedUser]) {
        let upstream = HTTP2Upstream()
        let users = (0..<count).map { upstream.asks("POST", "/\($0)") }
        _ = upstream.receive()
        return (upstream, users)
    }

    @Test func `those of streams that are rejected`() {
        let (upstream, users) = asked(2)
        upstream.responses(.reset(1, .rejected))
        #expect(users.map(\.saw) == [["reset: unprocessed"], []])
        #expect(!upstream.isClosed)
    }

    @Test(arguments: [Code.noError, .protocolError, .internalError, .cancel, .calm, .http11, .security])
    func `not those that are reset with any other code`(code: Code) {
        let (upstream, users) = asked(2)
        upstream.responses(.reset(1, code))
        #expect(users.map(\.saw) == [["reset: \(code.name)"], []])
    }

    @Test func `those above the last stream of a GOAWAY, and only those`() {
        let (upstream, users) = asked(4)
        upstream.responses(.goaway(3))
        #expect(users.map(\.saw) == [[], [], ["reset: unprocessed"], ["reset: unprocessed"]])
        #expect(upstream.session.room == 0 && upstream.session.isRetired)
        upstream.responses(.response(1, end: true), .response(3), .data(3, "x", end: true))
        #expect(users[0].saw == ["response 200", "end"])
        #expect(users[1].saw == ["response 200", "body x", "end"])
        _ = upstream.receive()
        #expect(upstream.isClosed)
    }

    @Test func `a GOAWAY with an error lets the streams below it come to their end`() {
        let (upstream, users) = asked(2)
        upstream.responses(.goaway(1, .calm), .response(1, end: true))
        #expect(users.map(\.saw) == [["response 200", "end"], ["reset: unprocessed"]])
    }

    @Test func `a notice of the end leaves all streams, and begins none`() {
        let (upstream, users) = asked(2)
        upstream.responses(.goaway(Int(Int32.max)))
        #expect(users.allSatisfy { $0.saw == [] })
        #expect(upstream.session.room == 0 && upstream.session.isRetired)
        upstream.responses(.goaway(1))
        #expect(users.map(\.saw) == [[], ["reset: unprocessed"]])
    }

    @Test func `those whose head had not left when the connection ended`() {
        let (upstream, users) = asked(1)
        let late = upstream.asks("POST", "/late")
        upstream.hangsUp(errno: 104)
        #expect(users[0].saw == ["reset: connection lost, errno 104"])
        #expect(late.saw == ["reset: unprocessed"])
        #expect(upstream.isClosed && upstream.session.room == 0)
    }

    @Test func `those whose head had not left when the upstream broke the protocol`() {
        let (upstream, users) = asked(1)
        let late = upstream.asks("POST", "/late")
        upstream.responses(.data(0, "x"))
        // Whoever is told asks for another connection at once: this is none any more.
        late.whenReset = { _ in #expect(upstream.session.room == 0 && upstream.session.isRetired) }
        _ = upstream.receive()
        #expect(users[0].saw == ["reset: connection lost"])
        #expect(late.saw == ["reset: unprocessed"])
        #expect(upstream.isClosed)
    }

    @Test func `those that wait until the upstream allows more streams`() {
        let upstream = HTTP2Upstream()
        let first = upstream.asks("POST")
        _ = upstream.receive()
        upstream.responses(.settings([.streams: 1]))
        let waiting = upstream.asks("POST")
        #expect(upstream.receive() == ["SETTINGS/ack"])
        upstream.responses(.goaway(1))
        _ = upstream.receive()
        upstream.responses(.response(1, end: true))
        _ = upstream.receive()
        #expect(first.saw == ["response 200", "end"])
        #expect(waiting.saw == ["reset: unprocessed"])
        #expect(upstream.isClosed)
    }

    @Test func `not those that a response has begun to`() {
        let (upstream, users) = asked(1)
        upstream.responses(.response(1), .data(1, "x"))
        upstream.hangsUp()
        #expect(users[0].saw == ["response 200", "body x", "reset: connection lost"])
    }

    @Test func `what came whole before the connection ended is reported`() {
        let (upstream, users) = asked(1)
        users[0].stream?.pause(.slowPeer)
        upstream.responses(.response(1), .data(1, "x"), .headers(1, ["t": "1"], end: true))
        upstream.hangsUp()
        #expect(users[0].saw == ["response 200"])
        users[0].stream?.resume(.slowPeer)
        #expect(users[0].saw == ["response 200", "body x", "end", "  t: 1"])
    }
}
