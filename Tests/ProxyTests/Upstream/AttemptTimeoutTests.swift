import Testing
import Time

/// The time that one attempt has until the head of its response.
@Suite struct AttemptTimeoutTests {
    private static let attempt =
        #"{"code":"deadline_exceeded","message":"upstream default: no response within timeouts.attempt"}"#

    private static func limited(_ more: String = "") -> String {
        plain.replacing(
            "upstream: http://127.0.0.1:9000",
            with: "upstreams: {default: {url: \"http://127.0.0.1:9000\", timeouts: {attempt: 1s}\(more)}}"
        )
    }

    @Test func `an attempt without a head in time fails, whatever has come of the response before that`() {
        runProxy(Self.limited()) { harness in
            let caller = harness.caller()
            caller.send(http("POST /a HTTP/1.1", "host: app", "content-type: application/json", "content-length: 2"))
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(http("HTTP/1.1 100 Continue") + "HTTP/1.1 200 OK\r\ncontent-le")
            _ = caller.head()
            harness.pass(.milliseconds(950))
            caller.expectNothing()
            harness.pass(.milliseconds(60))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            upstream.expectGone()
        }
    }

    @Test func `the time of an attempt is reported as such, and the body has its own`() {
        runProxy(Self.limited()) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(1010))
            _ = caller.head()
            caller.expect(Self.attempt)
            caller.send(say)
            _ = harness.upstream().accept()
            let upstream = harness.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 2"))
            harness.pass(.seconds(5))
            upstream.send("{}")
            caller.expect(http("HTTP/1.1 200 OK", "content-length: 2", body: "{}"))
        }
    }

    @Test func `the making of the connection is a part of the attempt, the wait for connectivity is not`() {
        runProxy(Self.limited()) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(1010))
            _ = caller.head()
            caller.expect(Self.attempt)
        }
        runProxy(Self.limited(", connect_wait: 5s")) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.seconds(2))
            harness.upstream().behaviour = .accepts
            harness.pass(.seconds(1))
            harness.upstream().accept().expect(saidUpstream)
            harness.pass(.milliseconds(950))
            caller.expectNothing()
            harness.pass(.milliseconds(60))
            _ = caller.head()
            caller.expect(Self.attempt)
        }
    }
}
