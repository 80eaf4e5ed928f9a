import Testing
import Time

@testable import Proxy

/// Callers' connections: limits, time-outs, the drain, and what is counted of them.
@Suite struct ConnectionTests {
    private static func listener(_ options: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", \(options)}]
        upstream: http://127.0.0.1:9000
        """
    }

    private static func rejection(_ status: String, _ code: String, _ message: String) -> String {
        let body = "{\"code\":\"\(code)\",\"message\":\"\(message)\"}"
        let head = "HTTP/1.1 \(status)\r\ncontent-type: application/json\r\nconnection: close\r\n"
        return head + "content-length: \(body.utf8.count)\r\n\r\n" + body
    }

    private func limitHits(_ harness: ProxyHarness, _ limit: String) -> String? {
        harness.metrics("martlet_limit_hits_total{limit=\"\(limit)\"}").first.map {
            String($0.split(separator: " ").last!)
        }
    }

    @Test(arguments: Transport.allCases)
    func `one connection too many is rejected, and there is room when one has gone`(_ transport: Transport) {
        runProxy(transport, Self.listener("limits: {connections: 1}")) { harness in
            let first = harness.caller()
            harness.settle()
            let second = harness.caller()
            second.expect(
                Self.rejection("503 Service Unavailable", "resource_exhausted", "limits.connections is reached")
            )
            second.expectEnd()
            #expect(limitHits(harness, "connections") == "1")
            #expect(harness.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 1"#])
            first.close()
            harness.settle()
            #expect(harness.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 0"#])
            let third = harness.caller()
            third.send(get)
            harness.upstream().accept().expect(gotUpstream)
            let total = #"martlet_connections_accepted_total{listener="127.0.0.1:8080"} 2"#
            #expect(harness.metrics("martlet_connections_accepted_total{") == [total])
        }
    }

    @Test(arguments: Transport.allCases)
    func `the rest of a request that was answered early has the time of a head`(_ transport: Transport) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s}}]
            interceptors: [{reject: {code: not_found}}]
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller()
            caller.send(http("POST / HTTP/1.1", "host: a", "content-length: 100"))
            _ = caller.head()
            harness.pass(.seconds(9))
            caller.send("slow")
            harness.pass(.seconds(2))
            caller.expectGone()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a head has its time from its first byte`(_ transport: Transport) {
        runProxy(transport, Self.listener("timeouts: {head: 10s}")) { harness in
            let caller = harness.caller()
            harness.pass(.seconds(60))
            caller.send("GET / HTTP/1.1\r\nho")
            harness.pass(.seconds(9))
            caller.send("st: a\r\n")
            caller.expectNothing()
            harness.pass(.milliseconds(1100))
            let text = "the head did not arrive within timeouts.head"
            caller.expect(Self.rejection("408 Request Timeout", "deadline_exceeded", text))
            caller.expectEnd()
            #expect(limitHits(harness, "head_timeout") == "1")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a head that begins right behind a request has its time too`(_ transport: Transport) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", timeouts: {head: 10s}}]
            interceptors: [{respond: {status: 204}}]
            """
        runProxy(transport, yaml) { harness in
            let caller = harness.caller()
            caller.send("GET / HTTP/1.1\r\nho")
            harness.settle()
            caller.send("st: a\r\n\r\nGET / HT")
            caller.expect(http("HTTP/1.1 204 No Content"))
            harness.pass(.seconds(11))
            let text = "the head did not arrive within timeouts.head"
            caller.expect(Self.rejection("408 Request Timeout", "deadline_exceeded", text))
            caller.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `an idle connection is closed in time, one with a call is not`(_ transport: Transport) {
        runProxy(transport, Self.listener("timeouts: {idle: 60s}")) { harness in
            let (idle, busy) = (harness.caller(), harness.caller())
            busy.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.pass(.seconds(59))
            idle.expectNothing()
            harness.pass(.seconds(2))
            idle.expectEnd()
            harness.pass(.seconds(3600))
            upstream.send(fine)
            busy.expect(fine)
            harness.pass(.seconds(59))
            busy.expectNothing()
            harness.pass(.seconds(2))
            busy.expectEnd()
        }
    }

    /// A caller that takes ten bytes of its response; its connection has been idle for too long, and was to be closed 29 s ago.
    private func withUnreadResponse(_ body: (ProxyHarness, ScriptedPeer) -> Void) {
        runProxy(.memory, Self.listener("timeouts: {idle: 10s, stalled: 30s}")) { harness in
            let caller = harness.caller()
            caller.stopReading(room: 10)
            caller.send(get)
            harness.upstream().accept().send(fine)
            harness.pass(.seconds(11))
            harness.pass(.seconds(29))
            body(harness, caller)
        }
    }

    @Test func `a caller that does not read its last response is not waited for`() {
        withUnreadResponse { harness, _ in
            #expect(harness.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 1"#])
            harness.pass(.seconds(2))
            #expect(harness.metrics("martlet_connections{") == [#"martlet_connections{listener="127.0.0.1:8080"} 0"#])
            #expect(limitHits(harness, "stalled") == "1")
        }
    }

    @Test func `a caller that reads its last response slowly gets it whole`() {
        withUnreadResponse { harness, caller in
            caller.startReading()
            caller.expect(fine)
            caller.expectEnd()
            #expect(limitHits(harness, "stalled") == "0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a head that is too large or has too many fields is rejected`(_ transport: Transport) {
        runProxy(transport, Self.listener("limits: {head: 1KiB, fields: 3}")) { harness in
            let large = harness.caller()
            large.send("GET / HTTP/1.1\r\nhost: a\r\nx-a: " + String(repeating: "a", count: 2000))
            let status = "431 Request Header Fields Too Large"
            large.expect(Self.rejection(status, "resource_exhausted", "the head is larger than limits.head"))
            let many = harness.caller()
            many.send(http("GET / HTTP/1.1", "host: a", "x-a: 1", "x-b: 1", "x-c: 1", "x-d: 1"))
            many.expect(Self.rejection(status, "resource_exhausted", "the head has more fields than limits.fields"))
            #expect(limitHits(harness, "head") == "1")
            #expect(limitHits(harness, "fields") == "1")
            #expect(
                harness.metrics("martlet_bad_requests_total") == [
                    #"martlet_bad_requests_total{reason="head_too_large"} 1"#,
                    #"martlet_bad_requests_total{reason="too_many_fields"} 1"#,
                ]
            )
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller who stops in the middle of a head is gone at once`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send("GET / HT")
            harness.settle()
            caller.close()
            harness.settle()
            #expect(harness.worker.connectionCount == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a connection that is to close waits a little for its caller, and no longer`(_ transport: Transport) {
        runProxy(transport, "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n") { harness in
            let caller = harness.caller()
            caller.send(http("POST /p HTTP/1.1", "host: a", "connection: close", "content-length: 1000000"))
            caller.expect(http("HTTP/1.1 200 OK", "connection: close", "content-length: 2", body: "ok"))
            caller.expectEnd()
            caller.send(String(repeating: "a", count: 10_000))
            harness.settle()
            #expect(harness.worker.connectionCount == 1)
            harness.pass(.milliseconds(2100))
            #expect(harness.worker.connectionCount == 0)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a drain closes what is idle, and takes no new connections`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (idle, reading) = (harness.caller(), harness.caller())
            harness.pass(.seconds(2))
            reading.send("GET /p HTTP/1.1\r\n")
            harness.settle()
            harness.worker.drain()
            idle.expectEnd()
            reading.send("host: a\r\n\r\n")
            let upstream = harness.upstream().accept()
            upstream.expect(http("GET /p HTTP/1.1", "host: 127.0.0.1:9000"))
            upstream.send(fine)
            let head = ["HTTP/1.1 200 OK", "content-type: application/json", "connection: close", "content-length: 2"]
            reading.expect(head.joined(separator: "\r\n") + "\r\n\r\n{}")
            reading.expectEnd()
            reading.close()
            harness.settle()
            #expect(harness.worker.connectionCount == 0)
        }
    }

    @Test func `a drain takes everybody who has connected before it`() {
        runProxy(.sockets, "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n") { harness in
            harness.stopReporting()
            let callers = (0..<70).map { _ in harness.caller() }
            for caller in callers { caller.send(get) }
            harness.worker.drain()
            harness.startReporting()
            for caller in callers {
                #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
                caller.expect("ok")
                caller.expectEnd()
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that has just connected has a second for its first request`(_ transport: Transport) {
        runProxy(transport, Self.responding) { harness in
            let (quick, slow) = (harness.caller(), harness.caller())
            harness.pass(.milliseconds(900))
            harness.worker.drain()
            slow.expectNothing()
            quick.send(get)
            #expect(quick.head().contains("\r\nconnection: close\r\n"))
            quick.expect("ok")
            quick.expectEnd()
            harness.pass(.milliseconds(200))
            slow.expectEnd()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a close that is announced comes after one more call on each connection, also on new ones`(
        _ transport: Transport
    ) {
        runProxy(transport, Self.responding) { harness in
            let (used, unused) = (harness.caller(), harness.caller())
            used.send(get)
            used.expect(http("HTTP/1.1 200 OK", "content-length: 2", body: "ok"))
            harness.worker.announceClose(others: [])
            harness.pass(.seconds(60))
            for caller in [used, unused, harness.caller()] {
                caller.expectNothing()
                caller.send(get)
                #expect(caller.head().contains("\r\nconnection: close\r\n"))
                caller.expect("ok")
                caller.expectEnd()
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `a stop waits for calls of held listeners that began before it, and not for later ones`(_ transport: Transport)
    {
        runProxy(transport, plain) { harness in
            let (old, idle) = (harness.caller(), harness.caller())
            old.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.worker.announceClose(others: ["127.0.0.1:8080"])
            harness.worker.stopListening(except: ["127.0.0.1:8080"])
            #expect(harness.worker.leavingCount == 1)
            idle.send(get)
            let other = harness.upstream().accept()
            other.expect(gotUpstream)
            #expect((harness.worker.leavingCount, harness.worker.connectionCount) == (1, 2))
            upstream.send(fine)
            #expect(old.head().contains("\r\nconnection: close\r\n"))
            old.expect("{}")
            old.expectEnd()
            #expect(harness.worker.leavingCount == 0)
            other.send(fine)
            #expect(idle.head().contains("\r\nconnection: close\r\n"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `calls that began before a stop can be cut off, and later ones go on`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let (old, new) = (harness.caller(), harness.caller())
            old.send(get)
            harness.upstream().accept().expect(gotUpstream)
            harness.worker.announceClose(others: ["127.0.0.1:8080"])
            new.send(get)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.worker.abandonLeaving()
            #expect(old.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            upstream.send(fine)
            #expect(new.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    private static let responding = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {body: ok}}]\n"

    @Test(arguments: Transport.allCases)
    func `a pipelined request that waited when the drain began is not taken`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(get + say)
            let upstream = harness.upstream().accept()
            upstream.expect(gotUpstream)
            harness.worker.drain()
            upstream.send(fine)
            #expect(caller.head().contains("\r\nconnection: close\r\n"))
            caller.expect("{}")
            caller.expectEnd()
            upstream.expectNothing()
        }
    }
}
