import Testing
import Time

@testable import Proxy

/// Every way in which a call can end is told to its chain exactly once.
@Suite struct EndingTests {
    private static let probed = plain + "\ninterceptors: [{metrics: {}}, {probe: {}}]\n"

    private static func limited(_ timeouts: String) -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "http://127.0.0.1:9000", timeouts: {\(timeouts)}}}
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    }

    private func ends(_ harness: ProxyHarness) -> [String] {
        harness.settle()
        return harness.eventLog.drain().filter { $0.contains("finished") }
    }

    private func attempts(_ harness: ProxyHarness) -> [String] {
        harness.metrics("martlet_upstream_attempts_total").filter { !$0.hasSuffix(" 0") }.map { line in
            String(line.split(separator: "result=").last!.filter { $0 != "\"" && $0 != "}" })
        }
    }

    /// A call that has come to the upstream.
    private func begin(_ harness: ProxyHarness, _ request: String = say) -> (ScriptedPeer, ScriptedPeer) {
        let caller = harness.caller()
        caller.send(request)
        let upstream = harness.upstream().accept()
        _ = upstream.head()
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `responded`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(fine)
            caller.expect(
                http(
                    "HTTP/1.1 200 OK",
                    "content-type: application/json",
                    "x-trace: probe",
                    "content-length: 2",
                    body: "{}"
                )
            )
            #expect(ends(harness) == ["probe finished ok by upstream"])
            #expect(attempts(harness) == ["ok 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the caller goes before there is a connection`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            caller.close()
            #expect(ends(harness) == ["probe finished canceled by caller"])
            #expect(attempts(harness) == ["canceled 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the caller goes while the upstream works`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            caller.close()
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished canceled by caller"])
            #expect(attempts(harness) == ["canceled 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the caller breaks off in the middle of the response`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 9", body: "{"))
            _ = caller.head()
            caller.reset()
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished canceled by caller"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the caller goes in the middle of its request`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness, http("POST /p HTTP/1.1", "host: a", "content-length: 9", body: "{"))
            caller.close()
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished canceled by caller"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the caller goes when all is over`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(fine)
            _ = caller.head()
            caller.close()
            #expect(ends(harness) == ["probe finished ok by upstream"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the body of the request is malformed`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness, http("POST /p HTTP/1.1", "host: a", "transfer-encoding: chunked"))
            caller.send("zz\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished invalid_argument by martlet"])
            #expect(attempts(harness) == ["canceled 1"])
            #expect(
                harness.metrics("martlet_bad_requests_total") == [#"martlet_bad_requests_total{reason="chunk_size"} 1"#]
            )
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream rejects the connection`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["connect_failed 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream cannot be reached`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            harness.upstream().behaviour = .isUnreachable
            let caller = harness.caller()
            caller.send(say)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream does not let the connection be made`(_ transport: Transport) {
        runProxy(transport, Self.limited("connect: 2s")) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(1900))
            caller.expectNothing()
            harness.pass(.milliseconds(200))
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["connect_timeout 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream closes before it responds`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["reset 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream closes in the middle of a head`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.expect("{}")
            upstream.send("HTTP/1.1 200 OK\r\nconte")
            harness.settle()
            upstream.close()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream breaks off`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.reset()
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream closes in the middle of the response`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 9", body: "{"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            upstream.close()
            caller.expectGone()
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["reset 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream sends garbage`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send("SSH-2.0-OpenSSH_9.2\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 502 Bad Gateway\r\n"))
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["bad_response 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the upstream sends garbage in the middle of the response`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            upstream.send("nonsense\r\n")
            caller.expectGone()
            #expect(ends(harness) == ["probe finished unavailable by martlet"])
            #expect(attempts(harness) == ["bad_response 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the first byte of the response does not come in time`(_ transport: Transport) {
        runProxy(transport, Self.limited("first_byte: 5s")) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(4900))
            caller.expectNothing()
            harness.pass(.milliseconds(200))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished deadline_exceeded by martlet"])
            #expect(attempts(harness) == ["timeout 1"])
        }
    }

    @Test func `the first byte does not come in time after an interim response to half a request`() {
        runProxy(Self.limited("first_byte: 5s")) { harness in
            let (caller, upstream) = begin(harness, http("POST /p HTTP/1.1", "host: a", "content-length: 2"))
            upstream.send(http("HTTP/1.1 100 Continue"))
            _ = caller.head()
            caller.send("{}")
            harness.pass(.milliseconds(5100))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `the response is not complete in time`(_ transport: Transport) {
        runProxy(transport, Self.limited("call: 5s, first_byte: 1s")) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(http("HTTP/1.1 200 OK", "transfer-encoding: chunked", body: "1\r\na\r\n"))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            harness.pass(.milliseconds(5100))
            caller.expectGone()
            upstream.expectGone()
            #expect(ends(harness) == ["probe finished deadline_exceeded by martlet"])
            #expect(attempts(harness) == ["timeout 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the time of the call is over before there is a connection`(_ transport: Transport) {
        runProxy(transport, Self.limited("call: 5s, connect: none")) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(5100))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            #expect(ends(harness) == ["probe finished deadline_exceeded by martlet"])
            harness.upstream().admit()
            harness.upstream().accept().expectNothing()
        }
    }

    @Test func `an interceptor rejects the response`() {
        runProxy(plain + "\ninterceptors: [{metrics: {}}, {probe: {response: reject}}]\n") { harness in
            let (_, upstream) = begin(harness)
            upstream.expect("{}")
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 9"))
            upstream.expectGone()
            #expect(ends(harness) == [#"probe finished permission_denied by interceptor("probe")"#])
            #expect(attempts(harness) == ["canceled 1"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `drained`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let idle = harness.caller()
            harness.pass(.seconds(2))
            let (caller, upstream) = begin(harness)
            harness.worker.drain()
            idle.expectEnd()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
            caller.expect("{}")
            caller.expectEnd()
            #expect(ends(harness) == ["probe finished ok by upstream"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `a request that has come is answered although the drain has begun`(_ transport: Transport) {
        runProxy(transport, Self.probed) { harness in
            let caller = harness.caller()
            harness.stopReporting()
            caller.send(say)
            harness.worker.drain()
            harness.startReporting()
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
        }
    }
}
