import HTTP2Kit
import Testing

/// Which calls are retried when an HTTP/2 upstream did not take them.
@Suite struct HTTP2RetryTests {
    private static let head = "HEADERS \(control()) | content-type: application/json | x-trace: probe"

    /// A call whose body is whole, and its upstream, which has got it.
    private func begin(_ harness: ProxyHarness, type: String = "application/json") -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, type), .data(1, "{}", end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `a call that is rejected is retried with its body`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.reset(1, .rejected))
            upstream.expect("3 \(Self.head)", "3 DATA/end {}")
            upstream.send(.response(3, end: true))
            caller.expect("1 HEADERS/end :status: 200 | x-trace: probe")
            #expect(harness.metrics("martlet_upstream_retries_total").first?.hasSuffix(" 1") == true)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that is rejected again and again fails`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.reset(1, .rejected))
            _ = (upstream.next(), upstream.next())
            upstream.send(.reset(3, .rejected))
            _ = (upstream.next(), upstream.next())
            upstream.send(.reset(5, .rejected))
            let text = "upstream default: the upstream refused the call before processing it"
            let body = #"{"code":"unavailable","message":"\#(text)"}"#
            let length = "content-length: \(body.utf8.count)"
            caller.expect(
                "1 HEADERS :status: 503 | content-type: application/json | x-trace: probe | \(length)",
                "1 DATA/end \(body)"
            )
            upstream.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `what is still to come of a request follows what is retried`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"), .data(1, "abc"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            upstream.expect("1 \(Self.head)", "1 DATA abc")
            upstream.send(.reset(1, .rejected))
            upstream.expect("3 \(Self.head)", "3 DATA abc")
            caller.send(.data(1, "def"), .headers(1, ["t": "1"], end: true))
            upstream.expect("3 DATA def", "3 HEADERS/end t: 1")
            upstream.send(.response(3, end: true))
            caller.expect("1 HEADERS/end :status: 200 | x-trace: probe")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a body that is too large to be kept is not retried`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"))
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 1 << 20])
            upstream.send(.window(0, 1 << 20))
            caller.send(body: 70_000, on: 1)
            harness.until { upstream.bodyBytes(1) == 70_000 }
            #expect(upstream.bodyBytes(1) == 70_000)
            upstream.send(.reset(1, .rejected))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 503 "))
            #expect(upstream.frames.filter { $0.kind == .headers }.count == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a rejection behind the head of a response is no rejection`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, type: "application/grpc")
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]))
            _ = caller.next()
            upstream.send(.reset(1, .rejected))
            #expect(caller.next().hasPrefix("1 HEADERS/end grpc-status: 14 | "))
            upstream.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `calls above the last one of a GOAWAY move to another connection, the others stay`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, first) = begin(harness)
            caller.send(.say(3, "application/json"), .data(3, "second", end: true))
            _ = (first.next(), first.next())
            first.send(.goaway(1))
            let second = harness.upstream().acceptHTTP2(in: harness)
            second.expect("1 \(Self.head)", "1 DATA/end second")
            first.send(.response(1, 201, end: true))
            caller.expect("1 HEADERS/end :status: 201 | x-trace: probe")
            second.send(.response(1, 202, end: true))
            caller.expect("3 HEADERS/end :status: 202 | x-trace: probe")
            harness.until { first.peer.end != nil }
            #expect(first.peer.end != nil)
            caller.send(.say(5, "application/json", end: true))
            #expect(second.next().hasPrefix("3 HEADERS/end "))
            second.send(.response(3, end: true))
            _ = caller.next()
        }
    }

    @Test(arguments: Transport.allCases)
    func `after a notice of the end calls begin on another connection`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, first) = begin(harness)
            first.send(.goaway(Int(Int32.max)))
            caller.send(.say(3, "application/json", end: true))
            let second = harness.upstream().acceptHTTP2(in: harness)
            #expect(second.next().hasPrefix("1 HEADERS/end "))
            first.send(.goaway(1), .response(1, 201, end: true))
            caller.expect("1 HEADERS/end :status: 201 | x-trace: probe")
            second.send(.response(1, 202, end: true))
            caller.expect("3 HEADERS/end :status: 202 | x-trace: probe")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call whose connection breaks is not retried, unless it cannot do harm`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            upstream.peer.reset()
            #expect(caller.next().hasPrefix("1 HEADERS :status: 502 "))
            _ = caller.next()
            harness.upstream().expectNobody()
        }
    }
}
