import HTTP2Kit
import Testing
import Time

/// How a dead connection to an HTTP/2 upstream is noticed while calls wait on it.
@Suite struct HTTP2KeepaliveTests {
    private static func every(_ interval: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", timeouts: {keepalive: \(interval), idle: 1h}}}
        """
    }

    /// A call that the upstream has got.
    private func begin(_ harness: ProxyHarness) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, "application/grpc", end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = upstream.next()
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `a connection with calls is asked for a sign of life`(_ transport: Transport) {
        runProxy(transport, Self.every("10s")) { harness in
            let (caller, upstream) = begin(harness)
            for _ in 0..<5 {
                harness.pass(.seconds(9))
                harness.pass(.seconds(2))
                upstream.expect("PING")
                upstream.answerPing()
            }
            upstream.expectNothing()
            caller.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection that gives none is ended, and its calls are reported`(_ transport: Transport) {
        runProxy(transport, Self.every("10s")) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.seconds(11))
            upstream.expect("PING")
            caller.expectNothing()
            harness.pass(.seconds(11))
            #expect(
                caller.next().hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 14")
            )
            harness.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            caller.send(.say(3, "application/grpc", end: true))
            #expect(harness.upstream().acceptHTTP2(in: harness).next().hasPrefix("1 HEADERS/end "))
        }
    }

    @Test(arguments: Transport.allCases)
    func `there are twenty seconds for a response`(_ transport: Transport) {
        runProxy(transport, Self.every("60s")) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(59_900))
            upstream.expectNothing()
            harness.pass(.milliseconds(200))
            upstream.expect("PING")
            harness.pass(.milliseconds(19_800))
            caller.expectNothing()
            upstream.expectNothing()
            harness.pass(.milliseconds(400))
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 14 "))
            harness.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            caller.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that comes late but in time is one`(_ transport: Transport) {
        runProxy(transport, Self.every("60s")) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(60_100))
            upstream.expect("PING")
            harness.pass(.milliseconds(19_800))
            upstream.answerPing()
            harness.pass(.milliseconds(400))
            caller.expectNothing()
            upstream.send(.response(1, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
            #expect(caller.next().hasSuffix(" | grpc-status: 0"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection without calls is not asked`(_ transport: Transport) {
        runProxy(transport, Self.every("10s")) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.response(1, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
            _ = caller.next()
            for _ in 0..<5 { harness.pass(.seconds(11)) }
            upstream.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `no connection is asked where the file says so`(_ transport: Transport) {
        runProxy(transport, Self.every("none")) { harness in
            let (caller, upstream) = begin(harness)
            for _ in 0..<5 { harness.pass(.seconds(1000)) }
            upstream.expectNothing()
            caller.expectNothing()
        }
    }
}
