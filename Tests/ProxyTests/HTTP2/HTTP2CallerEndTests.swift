import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// How connections of HTTP/2 callers end with the worker, or with the patience for them.
@Suite struct HTTP2CallerEndTests {
    private static let limited = """
        listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s, idle: 60s}}]
        upstream: h2c://127.0.0.1:9000
        interceptors: [{metrics: {}}, {probe: {}}]
        """

    private func begin(_ harness: ProxyHarness, _ type: String = "application/grpc") -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, type, end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = upstream.next()
        return (caller, upstream)
    }

    private func respond(_ upstream: HTTP2Peer, _ stream: Int) {
        upstream.send(.response(stream, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
    }

    @Test(arguments: Transport.allCases)
    func `draining serves what is under way and what was sent before the caller knew`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.worker.drain()
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            caller.send(.say(3, "application/grpc", end: true))
            _ = upstream.next()
            caller.answerPing()
            caller.expect("GOAWAY 3 NO_ERROR")
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            #expect(caller.peer.end == nil)
            respond(upstream, 3)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller of a held listener is sent elsewhere at once, and others when the drain comes`(
        _ transport: Transport
    ) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.worker.announceClose(others: [])
            caller.expectNothing()
            #expect(harness.worker.leavingCount == 0)
            harness.worker.announceClose(others: ["127.0.0.1:8080"])
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            caller.answerPing()
            caller.expect("GOAWAY 1 NO_ERROR")
            #expect(harness.worker.leavingCount == 1)
            let new = harness.http2Caller()
            new.send(.say(1, "application/grpc", end: true))
            _ = upstream.next()
            respond(upstream, 3)
            #expect(new.next().hasPrefix("1 HEADERS/end "))
            new.expectNothing()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            caller.expectEnd()
            #expect(harness.worker.leavingCount == 0)
            harness.worker.drain()
            new.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            new.answerPing()
            new.expect("GOAWAY 1 NO_ERROR")
            new.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `draining lets an idle caller go`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            harness.worker.drain()
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            #expect(harness.worker.lingeringCount == 1)
            caller.answerPing()
            caller.expect("GOAWAY 0 NO_ERROR")
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `draining serves what an idle caller sent before it knew`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            respond(upstream, 1)
            _ = caller.next()
            harness.worker.drain()
            caller.send(.say(3, "application/grpc", end: true))
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            _ = upstream.next()
            #expect(harness.worker.lingeringCount == 0)
            caller.answerPing()
            caller.expect("GOAWAY 3 NO_ERROR")
            respond(upstream, 3)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            caller.expectEnd()
        }
    }

    /// Else a caller that makes one call after the other would not learn that it is to connect elsewhere.
    @Test(arguments: Transport.allCases)
    func `a caller that connected just before the drain is told with its first call`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let connection = harness.caller()
            harness.settle()
            harness.worker.drain()
            #expect(harness.worker.lingeringCount == 0)
            let caller = HTTP2Peer(connection, in: harness, isCaller: true, settings: .settings([:]))
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            caller.send(.say(1, "application/grpc", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            caller.answerPing()
            caller.expect("GOAWAY 1 NO_ERROR")
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a drain does not take the time away that a caller has to see the notice`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            respond(upstream, 1)
            _ = caller.next()
            harness.worker.announceClose(others: ["127.0.0.1:8080"])
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            harness.worker.drain()
            caller.send(.say(3, "application/grpc", end: true))
            _ = upstream.next()
            respond(upstream, 3)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            harness.pass(.milliseconds(1100))
            caller.expect("GOAWAY 3 NO_ERROR")
            caller.expectEnd()
        }
    }

    /// A stop does not wait for those that linger: the end of a response that waits in the daemon would be lost.
    @Test func `a caller that has not taken its last response does not linger`() {
        runProxy(.memory, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            caller.peer.stopReading(room: 16)
            respond(upstream, 1)
            harness.settle()
            #expect(harness.livingCalls == 0)
            harness.worker.drain()
            harness.settle()
            #expect(harness.worker.connectionCount == 1)
            #expect(harness.worker.lingeringCount == 0)
            caller.peer.startReading()
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            #expect(harness.worker.lingeringCount == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `draining does not wait long for a caller that says nothing`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.worker.drain()
            _ = caller.rest()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            harness.pass(.milliseconds(1100))
            #expect(caller.next().hasPrefix("GOAWAY 1 NO_ERROR"))
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `what is under way when the time to drain is over is reported so`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            caller.send(.say(3, "application/json"), .data(3, "{"))
            caller.send(.say(5, "application/grpc", end: true))
            _ = (upstream.next(), upstream.next(), upstream.next())
            upstream.send(.response(5, 200, ["content-type": "application/grpc"]), .data(5, envelope("hi")))
            harness.settle()
            harness.worker.drain()
            harness.worker.abandon()
            let came = caller.rest()
            let status = "grpc-status: 14 | grpc-message: Martlet is stopping, and the drain time is over"
            #expect(
                came.contains {
                    $0.hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | \(status)")
                }
            )
            #expect(came.contains { $0.hasPrefix("3 HEADERS :status: 503 | content-type: application/json | ") })
            #expect(came.contains { $0.hasPrefix("3 DATA/end {\"code\":\"unavailable\",") })
            #expect(came.contains("5 HEADERS/end \(status)"))
            #expect(came.last == "GOAWAY 5 NO_ERROR" || came.contains("GOAWAY 5 NO_ERROR"))
            harness.until { caller.peer.end != nil }
            #expect(caller.peer.end == .inOrder)
            let resets = Set(upstream.rest())
            #expect(resets == ["1 RST_STREAM CANCEL", "3 RST_STREAM CANCEL", "5 RST_STREAM CANCEL"])
            #expect(harness.livingCalls == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an idle connection is ended when its time is over, and a busy one is not`(_ transport: Transport) {
        runProxy(transport, Self.limited) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.seconds(300))
            caller.expectNothing()
            respond(upstream, 1)
            _ = caller.next()
            harness.pass(.seconds(58))
            caller.expectNothing()
            harness.pass(.seconds(3))
            caller.expect("GOAWAY 2147483647 NO_ERROR", "PING")
            harness.pass(.seconds(1))
            caller.expect("GOAWAY 1 NO_ERROR")
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `half a preface does not hold a connection for long`(_ transport: Transport) {
        runProxy(transport, Self.limited) { harness in
            let caller = harness.caller()
            caller.send("PRI * HTTP/2.0\r\n")
            harness.pass(.seconds(9))
            caller.expectNothing()
            harness.pass(.seconds(2))
            caller.expectGone()
        }
    }

    @Test(arguments: Transport.allCases)
    func `half a head does not hold a connection for long`(_ transport: Transport) {
        runProxy(transport, Self.limited) { harness in
            let (caller, upstream) = begin(harness)
            caller.send(Frame.say(3, "application/grpc").unfinished)
            harness.pass(.seconds(9))
            caller.expectNothing()
            harness.pass(.seconds(2))
            #expect(caller.next().hasSuffix(" ENHANCE_YOUR_CALM"))
            harness.until { caller.peer.end != nil }
            #expect(caller.peer.end != nil)
            upstream.expect("1 RST_STREAM CANCEL")
            let hits = harness.metrics(#"martlet_h2_limit_hits_total{limit="stalled"}"#)
            #expect(hits.first?.hasSuffix(" 1") == true, "\(hits)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a reload leaves the calls under way where they are`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.use(http2Plain.replacing(":9000", with: ":9001"))
            caller.send(.say(3, "application/grpc", end: true))
            let other = harness.upstream("127.0.0.1:9001").acceptHTTP2(in: harness)
            _ = other.next()
            respond(upstream, 1)
            #expect(caller.next().hasPrefix("1 HEADERS/end "))
            harness.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            respond(other, 1)
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            #expect(harness.worker.liveGenerations == 1)
        }
    }
}
