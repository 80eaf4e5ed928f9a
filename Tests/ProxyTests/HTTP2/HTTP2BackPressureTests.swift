import Events
import HTTP2Kit
import Testing
import Time

/// What happens when one side of a call over HTTP/2 takes nothing.
@Suite struct HTTP2BackPressureTests {
    /// What one stream may hold here, both sides of it together.
    private static let maxBytes = 400 * 1024
    private static let much = 16 << 20

    /// A call whose response has begun, with a caller that allows so much to be sent.
    private func begin(_ harness: ProxyHarness, window: Int, end: Bool = true) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller([.window: window])
        caller.send(.window(0, 1 << 30), .say(1, "text/plain", end: end))
        let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: window])
        upstream.send(.window(0, 1 << 30))
        _ = upstream.next()
        return (caller, upstream)
    }

    private func hits(_ harness: ProxyHarness, _ limit: String) -> String {
        harness.metrics(#"martlet_h2_limit_hits_total{limit="\#(limit)"}"#).first.map { String($0.suffix(2)) } ?? ""
    }

    @Test(arguments: Transport.allCases)
    func `a caller whose window is shut stops the upstream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0)
            upstream.send(.response(1))
            _ = caller.next()
            let sent = upstream.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes && sent >= 128 * 1024, "\(sent)")
            #expect(caller.bodyBytes(1) == 0)
            caller.send(.window(1, Self.much))
            harness.until { caller.bodyBytes(1) == sent }
            #expect(caller.bodyBytes(1) == sent)
            #expect(upstream.send(body: 100_000, on: 1) == 100_000)
            harness.until { caller.bodyBytes(1) == sent + 100_000 }
            #expect(caller.bodyBytes(1) == sent + 100_000)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream whose window is shut stops the caller`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0, end: false)
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes && sent >= 128 * 1024, "\(sent)")
            #expect(upstream.bodyBytes(1) == 0)
            upstream.send(.window(1, Self.much))
            harness.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
        }
    }

    @Test func `a caller that reads nothing off its connection stops the upstream`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 1 << 30)
            upstream.send(.response(1))
            _ = caller.next()
            caller.peer.stopReading(room: 64 * 1024)
            let sent = upstream.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes + 64 * 1024 && sent >= 128 * 1024, "\(sent)")
            caller.peer.startReading()
            harness.until { caller.bodyBytes(1) == sent }
            #expect(caller.bodyBytes(1) == sent)
        }
    }

    @Test func `an upstream that reads nothing off its connection stops the caller`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 1 << 30, end: false)
            upstream.peer.stopReading(room: 64 * 1024)
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= Self.maxBytes + 64 * 1024 && sent >= 128 * 1024, "\(sent)")
            upstream.peer.startReading()
            harness.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body that waits for its upstream connection is bounded`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain"))
            let sent = caller.send(body: Self.much, on: 1)
            #expect(sent <= 64 * 1024, "\(sent)")
            harness.upstream().admit()
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 1 << 30])
            upstream.send(.window(0, 1 << 30))
            harness.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
            #expect(caller.send(body: 100_000, on: 1) == 100_000)
        }
    }

    @Test(arguments: Transport.allCases)
    func `streams that nobody takes hold back none of the others`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0)
            for stream in stride(from: 3, to: 102, by: 2) { caller.send(.say(stream, "text/plain", end: true)) }
            caller.send(.window(101, 1 << 20))
            _ = upstream.rest()
            for stream in stride(from: 1, to: 100, by: 2) {
                upstream.send(.response(stream))
                upstream.send(body: 300_000, on: stream)
            }
            upstream.send(.response(101))
            #expect(upstream.send(body: 500_000, on: 101) == 500_000)
            upstream.send(.data(101, end: true))
            harness.until { caller.bodyBytes(101) == 500_000 }
            #expect(caller.bodyBytes(101) == 500_000)
        }
    }

    /// Begins 24 calls whose responses nobody takes, on the streams 1, 3, 5 and so on to 47 of one connection.
    private func crowd(_ harness: ProxyHarness) -> (HTTP2Peer, HTTP2Peer) {
        let (caller, upstream) = begin(harness, window: 0)
        for stream in stride(from: 3, to: 48, by: 2) { caller.send(.say(stream, "text/plain", end: true)) }
        _ = upstream.rest()
        for stream in stride(from: 1, to: 48, by: 2) {
            upstream.send(.response(stream))
            upstream.send(body: 300_000, on: stream)
        }
        harness.settle()
        return (caller, upstream)
    }

    private static let head = "HEADERS/end \(control()) | content-type: text/plain | x-trace: probe"

    private static func limited(_ connections: Int) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", limits: {connections: \(connections)}}}
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    }

    @Test(arguments: Transport.allCases)
    func `a connection that holds much is taken for new calls only until there is another`(_ transport: Transport) {
        runProxy(transport, Self.limited(2)) { harness in
            let (caller, upstream) = crowd(harness)
            caller.send(.say(49, "text/plain", end: true))
            upstream.expect("49 \(Self.head)")
            let second = harness.upstream().acceptHTTP2(in: harness)
            second.expectNothing()
            caller.send(.say(51, "text/plain", end: true))
            second.expect("1 \(Self.head)")
            // What is taken makes it a connection like others again.
            caller.send(.window(0, 1 << 24))
            for stream in stride(from: 1, to: 48, by: 2) { caller.send(.window(stream, 1 << 20)) }
            _ = caller.rest()
            upstream.send(.data(1, end: true))
            caller.send(.say(53, "text/plain", end: true))
            harness.settle()
            #expect(upstream.receiveLines(of: 51) == ["51 \(Self.head)"])
            #expect(harness.upstream().connects == 2)
        }
    }

    /// What becomes of a connection beside the one that holds much.
    enum Second: CaseIterable { case forbidden, hangs, rejected, withoutRoom }

    @Test(arguments: Transport.allCases, Second.allCases)
    func `a call does not wait for another connection while there is one with room`(
        _ transport: Transport,
        second: Second
    ) {
        runProxy(transport, Self.limited(second == .forbidden ? 1 : 2)) { harness in
            let (_, upstream) = crowd(harness)
            harness.upstream().behaviour = second == .hangs ? .hangs : second == .rejected ? .rejects : .accepts
            let other = harness.http2Caller()
            for stream in [1, 3, 5] {
                other.send(.say(stream, "text/plain", end: true))
                upstream.expect("\(stream + 48) \(Self.head)")
                upstream.send(.response(stream + 48), .data(stream + 48, "hi", end: true))
                other.expect("\(stream) HEADERS :status: 200 | x-trace: probe", "\(stream) DATA/end hi")
                if second == .withoutRoom, stream == 1 {
                    _ = harness.upstream().acceptHTTP2(in: harness, [.streams: 0])
                    harness.settle()
                }
            }
            #expect(harness.upstream().connects == (second == .forbidden ? 1 : 2))
            // One that hangs is waited for by nobody, and fails nobody.
            harness.pass(.seconds(30))
            other.expectNothing()
            harness.upstream().behaviour = .accepts
        }
    }

    @Test(arguments: Transport.allCases)
    func `uploads that nobody takes hold back none of the others`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0, end: false)
            for stream in stride(from: 3, to: 100, by: 2) { caller.send(.say(stream, "text/plain")) }
            for stream in stride(from: 1, to: 100, by: 2) { caller.send(body: 300_000, on: stream) }
            caller.send(.say(101, "text/plain"))
            _ = upstream.rest()
            upstream.send(.window(101, 1 << 20))
            #expect(caller.send(body: 500_000, on: 101) == 500_000)
            harness.until { upstream.bodyBytes(101) == 500_000 }
            #expect(upstream.bodyBytes(101) == 500_000)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a stream that is taken nothing of is ended in time, the others are not`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0)
            caller.send(.say(3, "text/plain", end: true))
            _ = upstream.rest()
            upstream.send(.response(1), .data(1, "waits"), .response(3))
            _ = caller.rest()
            harness.pass(.seconds(50))
            caller.expectNothing()
            for _ in 0..<4 { harness.pass(.seconds(20)) }
            caller.expect("1 RST_STREAM CANCEL")
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(hits(harness, "slow_reader") == " 1")
            caller.send(.window(3, 10))
            upstream.send(.data(3, "hi", end: true))
            caller.expect("3 DATA/end hi")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a stream that is taken a little of now and then is let be`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0)
            upstream.send(.response(1), .data(1, "0123456789"))
            _ = caller.next()
            for digit in 0..<10 {
                harness.pass(.seconds(30))
                caller.send(.window(1, 1))
                caller.expect("1 DATA \(digit)")
            }
            #expect(hits(harness, "slow_reader") != " 1")
        }
    }

    @Test func `a caller that was quiet and gets much in the moment of looking is let be`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 1 << 20)
            upstream.send(.response(1))
            _ = caller.next()
            for _ in 0..<2 { harness.pass(.milliseconds(60_050)) }
            harness.stopReporting()
            upstream.send(.data(1, [UInt8](repeating: 0x61, count: 8192)))
            upstream.peer.move()
            harness.clock.now += .milliseconds(60_050)
            harness.startReporting()
            harness.until { caller.bodyBytes(1) == 8192 }
            #expect(caller.bodyBytes(1) == 8192)
            #expect(hits(harness, "slow_reader") == " 0")
            caller.expect("1 DATA " + String(repeating: "a", count: 8192))
            caller.expectNothing()
        }
    }

    @Test func `a caller that reads nothing at all is broken off in time`() {
        runProxy(http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 1 << 30)
            upstream.send(.response(1))
            _ = caller.next()
            caller.peer.stopReading(room: 1024)
            upstream.send(body: 200_000, on: 1)
            harness.pass(.seconds(50))
            upstream.expectNothing()
            for _ in 0..<3 { harness.pass(.seconds(50)) }
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.livingCalls == 0)
            #expect(hits(harness, "slow_reader") != " 0")
            caller.peer.startReading()
            harness.until { caller.peer.end != nil }
            #expect(caller.peer.end == .broken)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that is over lets go of what its caller still sends`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, window: 0, end: false)
            caller.send(body: Self.much, on: 1)
            upstream.send(.response(1, 403, end: true))
            caller.expect("1 HEADERS/end :status: 403 | x-trace: probe")
            harness.settle()
            #expect(harness.livingCalls == 0)
            #expect(harness.eventLog.drain().last == "probe finished permission_denied by upstream")
            caller.expectRejection(1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that fails while its body waits is let go of`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            caller.send(.say(1, "text/plain"))
            caller.send(body: Self.much, on: 1)
            harness.pass(.seconds(3))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 503 "))
            _ = caller.rest()
            #expect(harness.livingCalls == 0)
        }
    }
}
