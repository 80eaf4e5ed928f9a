import HTTP
import HTTP2Kit
import Testing

/// The size of a head that an upstream announces in SETTINGS (RFC 9113 §6.5.2), and requests around it.
@Suite struct HTTP2PeerHeadLimitTests {
    /// The size of `POST / http a`, and of a field of one character that is to come.
    private static let base = [
        (":method", "POST"), (":scheme", "http"), (":authority", "a"), (":path", "/"), ("x", ""),
    ]
    .reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }

    private func head(_ count: Int) -> HTTPHead {
        Message.request("POST", "/", ["x": String(repeating: "v", count: count)])
    }

    @Test(arguments: [200, 256, 1000, 8192, 16_384, 40_000], [-150, -32, -1, 0, 1, 32, 5000])
    func `a head over the limit of an upstream costs its call alone`(limit: Int, over: Int) {
        guard limit + over >= Self.base else { return }
        let upstream = HTTP2Upstream(settings: [.headerList: limit])
        let other = upstream.asks()
        _ = upstream.receive()
        let user = upstream.opens()
        user.stream?.send(head: head(limit + over - Self.base), end: true)
        let sent = upstream.receive()
        #expect(sent.isEmpty == (over > 0))
        #expect((user.saw.last == "reset: too large for the peer's \(limit)") == (over > 0))
        upstream.responses(.response(1, 200, end: true))
        #expect(other.saw.last == "end" && !upstream.isClosed)
    }

    @Test(arguments: [150, 8192, 16_384], [-32, -1, 0, 1, 32])
    func `trailers over the limit of an upstream cost their call alone`(limit: Int, over: Int) {
        let upstream = HTTP2Upstream(settings: [.headerList: limit + Self.base])
        let (other, user) = (upstream.asks(), upstream.opens())
        user.stream?.send(head: Message.request(), end: false)
        _ = upstream.receive()
        let value = String(repeating: "v", count: limit + Self.base + over - 33)
        user.stream?.sendEnd(trailers: Message.trailers(["x": value]))
        let sent = upstream.receive()
        #expect((sent == ["3 RST_STREAM CANCEL"]) == (over > 0), "\(sent)")
        #expect((user.saw.last == "reset: too large for the peer's \(limit + Self.base)") == (over > 0))
        upstream.responses(.response(1, 200, end: true))
        #expect(other.saw.last == "end" && !upstream.isClosed)
    }

    @Test func `a call whose trailers are too large is never sent with them, and not retried`() {
        let upstream = HTTP2Upstream(settings: [.headerList: 500])
        let user = upstream.opens()
        user.stream?.send(head: Message.request(), end: false)
        user.stream?.sendEnd(trailers: Message.trailers(["x": String(repeating: "v", count: 500)]))
        #expect(!upstream.receive().contains { $0.contains("HEADERS") })
        #expect(user.saw.last == "reset: too large for the peer's 500")
    }

    @Test func `later settings change the limit`() {
        let upstream = HTTP2Upstream()
        for (limit, passes) in [(300, false), (5000, true), (500, false)] {
            upstream.responses(.settings([.headerList: limit]))
            _ = upstream.receive()
            let user = upstream.opens()
            user.stream?.send(head: head(600), end: true)
            _ = upstream.receive()
            #expect(user.wasReset != passes)
        }
    }
}
