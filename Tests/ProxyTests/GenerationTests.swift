import HTTP2Kit
import Testing
import Time

@testable import Proxy

@Suite struct GenerationTests {
    private static func marked(_ mark: Int, port: Int = 9000) -> String {
        """
        listen: 127.0.0.1:8080
        upstream: http://127.0.0.1:\(port)
        interceptors: [{headers: {response: {set: {x-mark: "\(mark)"}}}}]
        """
    }

    @Test(arguments: Transport.allCases)
    func `a call under way stays with what it began with, and the next goes by the new`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.use(Self.marked(2))
            #expect(harness.worker.liveGenerations == 2)
            #expect(harness.discardedTables == 0)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 1", "content-length: 0"))
            harness.settle()
            #expect(harness.worker.liveGenerations == 1)
            #expect(harness.discardedTables == 1)
            caller.send(get)
            upstream.expect(gotUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 0"))
            caller.expect(http("HTTP/1.1 200 OK", "x-mark: 2", "content-length: 0"))
            #expect(harness.upstream().connects == 1)
        }
    }

    private static func limited(_ limit: String, port: Int = 9000, scheme: String = "http") -> String {
        """
        listen: 127.0.0.1:8080
        upstream: \(scheme)://127.0.0.1:\(port)
        interceptors: [{metrics: {}}]
        drain: {generation: \(limit)}
        """
    }

    private static let message = "the configuration of this call was replaced 1h ago (drain.generation); call again"

    private func ended(_ harness: ProxyHarness, _ count: Int) {
        #expect(
            harness.metrics(#"martlet_limit_hits_total{limit="generation"}"#) == [
                "martlet_limit_hits_total{limit=\"generation\"} \(count)"
            ]
        )
    }

    @Test(arguments: Transport.allCases)
    func `a call that waits ends with an error when its configuration was replaced too long ago`(
        _ transport: Transport
    ) {
        runProxy(transport, Self.limited("none")) { harness in
            let caller = harness.caller()
            caller.send(say)
            _ = harness.upstream().accept().head()
            harness.use(Self.limited("1h"))
            #expect(harness.worker.generations.map(\.number) == [1, 2])
            #expect(harness.worker.generations.map(\.calls) == [1, 0])
            harness.pass(.seconds(3599))
            ended(harness, 0)
            #expect(harness.worker.generations.map(\.replaced) == [.seconds(3599), nil])
            harness.pass(.seconds(1))
            let response = caller.head()
            #expect(response.hasPrefix("HTTP/1.1 503 ") && response.contains("connection: close"), "\(response)")
            caller.expect(#"{"code":"unavailable","message":"\#(Self.message)"}"#)
            caller.expectEnd()
            ended(harness, 1)
            #expect(harness.worker.liveGenerations == 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a plain download breaks off when its configuration was replaced too long ago`(_ transport: Transport) {
        runProxy(transport, Self.limited("1h")) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 9") + "abc")
            #expect(caller.head().hasPrefix("HTTP/1.1 200 "))
            caller.expect("abc")
            harness.use(Self.limited("1h"))
            harness.pass(.seconds(3601))
            harness.until { caller.end != nil }
            #expect(caller.end != nil)
            upstream.expectEnd()
            ended(harness, 1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a gRPC stream ends with its status and GOAWAY, and newer calls of its connection go on`(
        _ transport: Transport
    ) {
        runProxy(transport, Self.limited("1h", scheme: "h2c")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let first = harness.upstream().acceptHTTP2(in: harness)
            _ = first.next()
            first.send(.response(1, 200, ["content-type": "application/grpc"]))
            #expect(caller.next().hasPrefix("1 HEADERS "))
            harness.use(Self.limited("1h", port: 9001, scheme: "h2c"))
            caller.send(.say(3, "application/grpc", end: true))
            let second = harness.upstream("127.0.0.1:9001").acceptHTTP2(in: harness)
            _ = second.next()
            harness.pass(.seconds(3600))
            var events: [String] = []
            for _ in 0..<3 { events.append(caller.next()) }
            #expect(events.contains("GOAWAY 2147483647 NO_ERROR") && events.contains("PING"), "\(events)")
            let end = events.first { $0.hasPrefix("1 HEADERS/end ") } ?? ""
            #expect(end.contains("grpc-status: 14") && end.contains("drain.generation"), "\(events)")
            caller.answerPing()
            caller.expect("GOAWAY 3 NO_ERROR")
            second.send(.response(1, 200, ["content-type": "application/grpc", "grpc-status": "0"], end: true))
            #expect(caller.next().hasPrefix("3 HEADERS/end "))
            caller.expectEnd()
            ended(harness, 1)
        }
    }

    @Test func `the limit of the last reload counts for all configurations before it`() {
        runProxy(Self.limited("none")) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(say)
            _ = harness.upstream().accept().head()
            harness.use(Self.limited("none"))
            callers.1.send(say)
            _ = harness.upstream().accept().head()
            harness.pass(.seconds(7200))
            #expect(harness.worker.liveGenerations == 2)
            harness.use(Self.limited("1h"))
            harness.pass(.seconds(1))
            #expect(callers.0.head().hasPrefix("HTTP/1.1 503 "))
            ended(harness, 1)
            harness.pass(.seconds(3600))
            #expect(callers.1.head().hasPrefix("HTTP/1.1 503 "))
            ended(harness, 2)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream that is gone serves the calls that it has, and closes`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            let callers = (harness.caller(), harness.caller())
            callers.0.send(get)
            let first = harness.upstream().accept()
            first.expect(gotUpstream)
            callers.1.send(get)
            let second = harness.upstream().accept()
            second.expect(gotUpstream)
            second.send(fine)
            _ = callers.1.head()
            harness.use(Self.marked(2, port: 9001))
            second.expectEnd()
            first.send(fine)
            #expect(callers.0.head().contains("x-mark: 1"))
            first.expectEnd()
            callers.0.send(say)
            _ = harness.upstream("127.0.0.1:9001").accept().head()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call that waits for a connection gets one although its upstream is gone`(_ transport: Transport) {
        runProxy(transport, Self.marked(1)) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(get)
            harness.settle()
            harness.use(Self.marked(2, port: 9001))
            harness.upstream().admit()
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            upstream.send(fine)
            #expect(caller.head().contains("x-mark: 1"))
            upstream.expectEnd()
        }
    }
}
