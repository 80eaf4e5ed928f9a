import Events
import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Calls that wait where no connection can be made.
@Suite struct ConnectWaitTests {
    private static func waiting(_ time: String, _ more: String = "", url: String = "http://127.0.0.1:9000") -> String {
        """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "\(url)", connect_wait: \(time)\(more.isEmpty ? "" : ", " + more)}}
        interceptors: [{metrics: {}}]
        """
    }

    private static let rejected =
        #"{"code":"unavailable","message":"upstream default: cannot connect to 127.0.0.1:9000: Connection refused"}"#

    @Test func `a call waits until the upstream is there, and is sent once`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.seconds(2))
            caller.expectNothing()
            harness.upstream().behaviour = .accepts
            harness.pass(.seconds(1))
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
            upstream.expectNothing()
            harness.upstream().expectNobody()
            #expect(harness.metrics("martlet_upstream_attempts_total").filter { !$0.hasSuffix(" 0") }.count == 1)
            // The wait is a part of the stage in which the call was connected.
            let record = harness.worker.recentCalls.map { String(decoding: $0.text, as: UTF8.self) }
            #expect(record.last?.contains(#""connect_ms":3000"#) == true)
        }
    }

    @Test func `connecting is retried after 50 ms, and after twice that each time, up to a second`() {
        runProxy(Self.waiting("60s")) { harness in
            harness.upstream().behaviour = .rejects
            harness.caller().send(get)
            harness.settle()
            var connects = harness.upstream().connects
            #expect(connects == 1)
            for pause in [50, 100, 200, 400, 800, 1000, 1000] {
                harness.pass(.milliseconds(pause - 20))
                #expect(harness.upstream().connects == connects)
                harness.pass(.milliseconds(30))
                #expect(harness.upstream().connects == connects + 1)
                connects += 1
            }
        }
    }

    @Test func `when the wait is over the call fails with the last cause`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .isUnreachable
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.upstream().behaviour = .rejects
            for _ in 0..<49 { harness.pass(.milliseconds(100)) }
            caller.expectNothing()
            harness.pass(.milliseconds(110))
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            caller.expect(Self.rejected)
            let connects = harness.upstream().connects
            harness.pass(.seconds(30))
            #expect(harness.upstream().connects == connects)
        }
    }

    @Test func `a connection that is only being made does not keep a call longer`() {
        runProxy(Self.waiting("5s", "timeouts: {connect: none}")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.upstream().behaviour = .hangs
            harness.pass(.seconds(4))
            caller.expectNothing()
            harness.pass(.milliseconds(1010))
            _ = caller.head()
            caller.expect(Self.rejected)
        }
    }

    @Test func `a connection that is not made in time is waited for as well`() {
        runProxy(Self.waiting("5s", "timeouts: {connect: 1s}")) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(1010))
            caller.expectNothing()
            harness.upstream().behaviour = .accepts
            harness.pass(.milliseconds(60))
            harness.upstream().accept().expect(saidUpstream)
        }
    }

    @Test func `without it a call fails at once`() {
        runProxy(plain) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            _ = caller.head()
            caller.expect(Self.rejected)
        }
    }

    @Test func `the caller's deadline ends the wait`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            let head = [
                "POST /a.B/C HTTP/1.1", "host: app", "content-type: application/json", "connect-timeout-ms: 700",
            ]
            caller.send((head + ["content-length: 2"]).joined(separator: "\r\n") + "\r\n\r\n{}")
            harness.pass(.milliseconds(600))
            caller.expectNothing()
            harness.pass(.milliseconds(110))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            let connects = harness.upstream().connects
            harness.pass(.seconds(30))
            #expect(harness.upstream().connects == connects)
        }
    }

    @Test func `a caller that goes, or takes its call back, ends the wait`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(get)
            let other = harness.http2Caller()
            other.send(.say(1, "application/json"))
            harness.settle()
            #expect(harness.livingCalls == 2)
            caller.close()
            other.send(.reset(1, .cancel))
            harness.settle()
            #expect(harness.livingCalls == 0)
            // One more is due; then nobody waits for it.
            harness.pass(.milliseconds(60))
            let connects = harness.upstream().connects
            harness.pass(.seconds(30))
            #expect(harness.upstream().connects == connects)
        }
    }

    @Test(arguments: ["http", "h2c"])
    func `calls that wait are limited, and all go when the upstream is there`(_ scheme: String) {
        runProxy(Self.waiting("5s", "limits: {waiting: 2}", url: "\(scheme)://127.0.0.1:9000")) { harness in
            harness.upstream().behaviour = .rejects
            let callers = (0..<3).map { _ in harness.caller() }
            for caller in callers {
                caller.send(get)
                harness.settle()
            }
            #expect(callers[2].head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            callers[2].expect(#"{"code":"resource_exhausted","message":"upstream default: limits.waiting is reached"}"#)
            harness.upstream().behaviour = .accepts
            harness.pass(.milliseconds(60))
            if scheme == "http" {
                for caller in callers.prefix(2) {
                    let upstream = harness.upstream().accept()
                    upstream.expect(gotUpstream)
                    upstream.send(fine)
                    caller.expect(fine)
                }
            } else {
                let upstream = harness.upstream().acceptHTTP2(in: harness)
                for stream in [1, 3] {
                    #expect(upstream.next().hasPrefix("\(stream) HEADERS/end "))
                    upstream.send(.response(stream, end: true))
                }
                for caller in callers.prefix(2) { #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n")) }
            }
        }
    }

    @Test func `where no call may wait, none does`() {
        runProxy(Self.waiting("5s", "limits: {waiting: 0}")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            _ = caller.head()
            caller.expect(Self.rejected)
        }
    }

    @Test func `one connection is tried for all that wait, and each has its own time`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .rejects
            let first = harness.caller()
            first.send(say)
            for _ in 0..<20 { harness.pass(.milliseconds(100)) }
            let connects = harness.upstream().connects
            let second = harness.caller()
            second.send(say)
            harness.settle()
            #expect(harness.upstream().connects == connects)
            for _ in 0..<31 { harness.pass(.milliseconds(100)) }
            _ = first.head()
            second.expectNothing()
            for _ in 0..<20 { harness.pass(.milliseconds(100)) }
            _ = second.head()
            second.expect(Self.rejected)
        }
    }

    @Test func `a call that waits goes on when its configuration has been replaced`() {
        runProxy(Self.waiting("5s")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            harness.use(Self.waiting("6s"))
            harness.upstream().behaviour = .accepts
            harness.pass(.milliseconds(60))
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(fine)
            caller.expect(fine)
        }
    }
}
