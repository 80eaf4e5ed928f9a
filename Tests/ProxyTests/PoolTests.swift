import Testing
import Time

@Suite struct PoolTests {
    private static func limited(_ options: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://127.0.0.1:9000", \(options)}}
        """
    }

    /// A call from its first byte to its last.
    private func call(_ caller: ScriptedPeer, _ upstream: ScriptedPeer) {
        caller.send(get)
        upstream.expect(gotUpstream)
        upstream.send(fine)
        caller.expect(fine)
    }

    /// A caller, and a connection that has served it once and is idle now.
    private func idle(_ harness: ProxyHarness) -> (ScriptedPeer, ScriptedPeer) {
        let caller = harness.caller()
        caller.send(get)
        let upstream = harness.upstream().accept()
        upstream.expect(gotUpstream)
        upstream.send(fine)
        caller.expect(fine)
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `a connection is used again, by whoever comes`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            call(caller, upstream)
            call(harness.caller(), upstream)
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `calls at the same time have connections of their own`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            callers.1.send(say)
            let second = harness.upstream().accept()
            second.expect(saidUpstream)
            second.send(fine)
            callers.1.expect(fine)
            first.send(fine)
            callers.0.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection that is idle too long is closed`(_ transport: Transport) {
        runProxy(transport, Self.limited("timeouts: {idle: 60s}")) { harness in
            let (caller, upstream) = idle(harness)
            harness.pass(.seconds(50))
            call(caller, upstream)
            harness.pass(.seconds(59))
            upstream.expectNothing()
            harness.pass(.seconds(2))
            upstream.expectEnd()
            caller.send(get)
            harness.upstream().accept().expect(gotUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection that is to close is not used again`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.send(http("HTTP/1.1 200 OK", "connection: close", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "content-length: 0"))
            upstream.expectGone()
            caller.send(get)
            harness.upstream().accept().expect(gotUpstream)
        }
    }

    @Test(arguments: Transport.allCases)
    func `over the cap calls wait in turn, and over the limit of that they fail`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {connections: 1, waiting: 1}")) { harness in
            let callers = (harness.caller(), harness.caller(), harness.caller())
            callers.0.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            callers.1.send(say)
            callers.2.send(say)
            #expect(callers.2.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            callers.2.expect(#"{"code":"resource_exhausted","message":"upstream default: limits.waiting is reached"}"#)
            upstream.expectNothing()
            upstream.send(fine)
            callers.0.expect(fine)
            upstream.expect(saidUpstream)
            upstream.send(fine)
            callers.1.expect(fine)
            #expect(harness.upstream().connects == 1)
            #expect(harness.metrics("martlet_limit_hits_total{limit=\"waiting\"}").first?.hasSuffix(" 1") == true)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that waited and is gone is passed over`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {connections: 1}")) { harness in
            let callers = (harness.caller(), harness.caller(), harness.caller())
            callers.0.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            callers.1.send(http("GET /gone HTTP/1.1", "host: a"))
            callers.2.send(say)
            harness.settle()
            callers.1.close()
            upstream.send(fine)
            upstream.expect(saidUpstream)
        }
    }

    @Test func `a dial whose caller has gone serves the next call`() {
        runProxy(plain) { harness in
            harness.upstream().behaviour = .hangs
            for _ in 0..<20 {
                let gone = harness.caller()
                gone.send(get)
                harness.settle()
                gone.close()
            }
            #expect(harness.upstream().connects == 1)
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.upstream().admit()
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
            #expect(harness.upstream().connects == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `bytes behind a response do not become the next response`(_ transport: Transport) {
        runProxy(transport, Self.limited("limits: {connections: 1}")) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            callers.1.send(get)
            harness.settle()
            upstream.send(fine + http("HTTP/1.1 200 OK", "content-length: 6", body: "poison"))
            callers.0.expect(fine)
            upstream.expectGone()
            let next = harness.upstream().accept()
            next.expect(gotUpstream)
            next.send(fine)
            callers.1.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `bytes on an idle connection close it`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            upstream.send(fine)
            upstream.expectGone()
            caller.expectNothing()
        }
    }

    private static let named = """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://app.example:9000", addresses: first}}
        """

    @Test(arguments: Transport.allCases)
    func `each address is tried until one takes the connection, and that is tried first from then on`(
        _ transport: Transport
    ) {
        runProxy(transport, Self.named) { harness in
            harness.know(["192.0.2.1:9000", "192.0.2.2:9000", "192.0.2.3:9000"], as: "default")
            harness.upstream("192.0.2.1:9000").behaviour = .isUnreachable
            harness.upstream("192.0.2.2:9000").behaviour = .rejects
            for _ in 0..<2 {
                harness.caller().send(get)
                let upstream = harness.upstream("192.0.2.3:9000").accept()
                #expect(upstream.head() == http("GET /pkg.Service/Look HTTP/1.1", "host: app.example:9000"))
                upstream.send(http("HTTP/1.1 200 OK", "connection: close", "content-length: 0"))
            }
            #expect(harness.upstream("192.0.2.1:9000").connects == 1)
            #expect(harness.upstream("192.0.2.2:9000").connects == 1)
            #expect(harness.upstream("192.0.2.3:9000").connects == 2)
        }
    }

    @Test(arguments: Transport.allCases)
    func `each address has the time for a connect, and the last error is reported`(_ transport: Transport) {
        runProxy(transport, Self.named) { harness in
            harness.know(["192.0.2.1:9000", "192.0.2.2:9000"], as: "default")
            harness.upstream("192.0.2.1:9000").behaviour = .hangs
            harness.upstream("192.0.2.2:9000").behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(1900))
            caller.expectNothing()
            harness.pass(.milliseconds(200))
            _ = caller.head()
            let text = "upstream default: cannot connect to 192.0.2.2:9000: Connection refused"
            caller.expect(#"{"code":"unavailable","message":"\#(text)"}"#)
        }
    }

    // MARK: Dead connections

    @Test(arguments: Transport.allCases)
    func `an idle connection that ends is removed`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            upstream.close()
            harness.settle()
            caller.send(say)
            harness.upstream().accept().expect(saidUpstream)
            #expect(harness.metrics("martlet_upstream_retries_total").first?.hasSuffix(" 0") == true)
        }
    }

    @Test func `a response that was there before its request is nobody's`() {
        runProxy(plain) { harness in
            let (caller, upstream) = idle(harness)
            harness.stopReporting()
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 6", body: "POISON"))
            caller.send(say)
            harness.startReporting()
            let next = harness.upstream().accept()
            next.expect(saidUpstream)
            next.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `a call that a dead connection took no byte of is retried, body and all`() {
        runProxy(plain) { harness in
            let (caller, upstream) = idle(harness)
            harness.stopReporting()
            upstream.close()
            caller.send(say)
            harness.startReporting()
            let next = harness.upstream().accept()
            next.expect(saidUpstream)
            next.send(fine)
            caller.expect(fine)
            #expect(harness.metrics("martlet_upstream_retries_total").first?.hasSuffix(" 1") == true)
        }
    }

    @Test func `a call that is retried goes on where its caller is`() {
        runProxy(plain) { harness in
            let (caller, upstream) = idle(harness)
            harness.stopReporting()
            upstream.close()
            caller.send(http("POST /p HTTP/1.1", "host: a", "transfer-encoding: chunked", body: "3\r\none\r\n"))
            harness.startReporting()
            let next = harness.upstream().accept()
            let head = http("POST /p HTTP/1.1", "host: 127.0.0.1:9000", "transfer-encoding: chunked")
            next.expect(head + "3\r\none\r\n")
            caller.send("3\r\ntwo\r\n0\r\nx-sum: 6\r\n\r\n")
            next.expect("3\r\ntwo\r\n0\r\nx-sum: 6\r\n\r\n")
            next.send(fine)
            caller.expect(fine)
        }
    }

    @Test func `a call is retried no more than twice`() {
        runProxy(plain) { harness in
            let callers = (0..<4).map { _ in harness.caller() }
            let upstreams = callers.map { caller in
                caller.send(get)
                return harness.upstream().accept()
            }
            harness.settle()
            for upstream in upstreams {
                upstream.expect(gotUpstream)
                upstream.send(fine)
            }
            for caller in callers { caller.expect(fine) }
            callers[0].send(get)
            for upstream in upstreams.reversed() {
                harness.settle()
                if !upstream.received.isEmpty { upstream.close() }
            }
            #expect(callers[0].head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(harness.metrics("martlet_upstream_retries_total").first?.hasSuffix(" 2") == true)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that can be repeated is retried if a connection dies that was idle`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            caller.send(get)
            upstream.expect(gotUpstream)
            upstream.close()
            let next = harness.upstream().accept()
            next.expect(gotUpstream)
            next.send(fine)
            caller.expect(fine)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that cannot be repeated fails once a byte of it was sent`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            caller.send(say)
            upstream.expect(saidUpstream)
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            harness.upstream().expectNobody()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call is not retried if its connection was new`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            harness.upstream().accept().close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            harness.upstream().expectNobody()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call is not retried if a response had begun`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (caller, upstream) = idle(harness)
            caller.send(get)
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 103 Early Hints"))
            _ = caller.head()
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            harness.upstream().expectNobody()
        }
    }
}
