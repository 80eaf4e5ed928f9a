import HTTP2Kit
import Testing
import Time

/// How many connections an HTTP/2 upstream gets, and who waits for them.
@Suite struct HTTP2PoolTests {
    private static func limited(_ settings: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", \(settings)}}
        interceptors: [{metrics: {}}]
        """
    }

    /// A caller that has begun calls, all at once, on the streams 1, 3, 5 and so on.
    private func caller(_ harness: ProxyHarness, calls: Int) -> HTTP2Peer {
        let caller = harness.http2Caller()
        let requests = (0..<calls).map { Frame.request(2 * $0 + 1, "GET", "/\($0)", end: true) }
        caller.peer.send(requests.flatMap(\.bytes))
        return caller
    }

    @Test(arguments: Transport.allCases)
    func `calls that come together share the connection that is being made`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = caller(harness, calls: 20)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.rest().count == 20)
            #expect(harness.upstream().connects == 1)
            _ = caller.rest()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a second connection is made where the first takes no more`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = caller(harness, calls: 2)
            let first = harness.upstream().acceptHTTP2(in: harness, [.streams: 1])
            #expect(first.next().contains("/0"))
            first.expectNothing()
            let second = harness.upstream().acceptHTTP2(in: harness, [.streams: 1])
            #expect(second.next().contains("/1"))
            first.send(.response(1, 201, end: true))
            caller.expect("1 HEADERS/end :status: 201 | x-trace: probe")
            caller.send(.request(5, "GET", "/2", end: true))
            #expect(first.next().contains("/2"))
            #expect(harness.upstream().connects == 2)
        }
    }

    @Test(arguments: Transport.allCases)
    func `no connection gets more calls than the limit lets`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {streams: 2}")) { harness in
            _ = caller(harness, calls: 5)
            let connections = (0..<3).map { _ in harness.upstream().acceptHTTP2(in: harness) }
            harness.settle()
            #expect(connections.map { $0.rest().count } == [2, 2, 1])
            #expect(harness.upstream().connects == 3)
        }
    }

    @Test(arguments: Transport.allCases)
    func `calls wait in turn where no more connections are allowed`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {streams: 1, connections: 1}")) { harness in
            let caller = caller(harness, calls: 3)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            for number in 0..<3 {
                #expect(upstream.next().contains("/\(number)"))
                upstream.expectNothing()
                upstream.send(.response(2 * number + 1, end: true))
                caller.expect("\(2 * number + 1) HEADERS/end :status: 200")
            }
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `room that settings give is used by those who wait`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {connections: 1}")) { harness in
            _ = caller(harness, calls: 4)
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.streams: 1])
            #expect(upstream.rest().count == 1)
            upstream.send(.settings([.streams: 3]))
            #expect(upstream.rest().count == 2)
            upstream.send(.settings([.streams: 100]))
            #expect(upstream.rest().count == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `more waiting calls than the limit lets are rejected`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {streams: 1, connections: 1, waiting: 1}")) { harness in
            let caller = caller(harness, calls: 3)
            let head = caller.next()
            #expect(head.hasPrefix("5 HEADERS :status: 503 "))
            #expect(caller.next().contains("limits.waiting"))
            caller.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `all calls that wait for a connection fail with it`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {streams: 100}")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = caller(harness, calls: 5)
            harness.until { caller.frames.filter { $0.kind == .headers }.count == 5 }
            let came = caller.rest()
            for number in 0..<5 {
                #expect(came.contains { $0.hasPrefix("\(2 * number + 1) HEADERS :status: 503 ") })
            }
            #expect(came.filter { $0.contains("cannot connect to 127.0.0.1:9000") }.count == 5)
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a second connection that fails fails nobody, and is retried after a second`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = caller(harness, calls: 1)
            let first = harness.upstream().acceptHTTP2(in: harness, [.streams: 1])
            #expect(first.next().contains("/0"))
            harness.upstream().behaviour = .rejects
            caller.send(.request(3, "GET", "/1", end: true), .request(5, "GET", "/2", end: true))
            caller.expectNothing()
            #expect(harness.upstream().connects == 2)
            // Those that wait are served by the connection that there is.
            first.send(.response(1, 201, end: true))
            caller.expect("1 HEADERS/end :status: 201 | x-trace: probe")
            #expect(first.next().contains("/1"))
            first.expectNothing()
            harness.pass(.milliseconds(900))
            caller.send(.request(7, "GET", "/3", end: true))
            caller.expectNothing()
            #expect(harness.upstream().connects == 2)
            harness.upstream().behaviour = .accepts
            harness.pass(.milliseconds(200))
            caller.send(.request(9, "GET", "/4", end: true))
            let second = harness.upstream().acceptHTTP2(in: harness)
            #expect(
                second.rest().map { $0.suffix(17) } == ["/2", "/3", "/4"].map { "\($0) | x-trace: probe".suffix(17) }
            )
            #expect(harness.upstream().connects == 3)
        }
    }

    @Test(arguments: Transport.allCases)
    func `those that wait beside a connection that is lost are served by another`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = caller(harness, calls: 1)
            let first = harness.upstream().acceptHTTP2(in: harness, [.streams: 1])
            _ = first.next()
            harness.upstream().behaviour = .rejects
            caller.send(.request(3, "GET", "/1", end: true))
            caller.expectNothing()
            harness.upstream().behaviour = .accepts
            first.peer.close()
            #expect(caller.next().hasPrefix("1 HEADERS :status: 502 "))
            _ = caller.next()
            #expect(harness.upstream().acceptHTTP2(in: harness).next().contains("/1"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream that does not connect in time fails all that wait`(_ transport: Transport) {
        runProxy(transport, Self.limited("timeouts: {connect: 1s}")) { harness in
            harness.upstream().behaviour = .hangs
            let caller = caller(harness, calls: 3)
            harness.pass(.milliseconds(990))
            caller.expectNothing()
            harness.pass(.milliseconds(30))
            let came = caller.rest()
            #expect(came.filter { $0.contains("no connection within timeouts.connect") }.count == 3)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream that does not speak HTTP 2 is reported of`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = caller(harness, calls: 1)
            let upstream = harness.upstream().accept()
            upstream.send(http("HTTP/1.1 400 Bad Request", "content-length: 0"))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 50"))
            #expect(caller.next().contains("HTTP/2"))
            upstream.expectGone()
        }
    }

    @Test(arguments: Transport.allCases)
    func `an idle connection is used again, and closed when its time is over`(_ transport: Transport) {
        runProxy(transport, Self.limited("timeouts: {idle: 60s}")) { harness in
            let caller = caller(harness, calls: 1)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, end: true))
            _ = caller.next()
            harness.pass(.seconds(50))
            caller.send(.request(3, "GET", "/again", end: true))
            #expect(upstream.next().hasPrefix("3 HEADERS/end "))
            harness.pass(.seconds(70))
            #expect(upstream.peer.end == nil)
            upstream.send(.response(3, end: true))
            _ = caller.next()
            harness.pass(.seconds(61))
            harness.until { upstream.peer.end != nil }
            #expect(upstream.peer.end != nil)
            #expect(harness.upstream().connects == 1)
        }
    }
}
