import Testing

/// The time that one attempt has until the head of its response.
@Suite struct AttemptTimeoutTests {
    private static let attempt =
        #"{"code":"deadline_exceeded","message":"upstream default: no response to the attempt within timeouts.attempt"}"#

    private static func limited(_ more: String = "") -> String {
        plain.replacing(
            "upstream: http://127.0.0.1:9000",
            with: "upstreams: {default: {url: \"http://127.0.0.1:9000\", timeouts: {attempt: 1s}\(more)}}"
        )
    }

    @Test func `an attempt without a head in time fails, whatever has come of the response before that`() {
        play(Self.limited()) { scene in
            let caller = scene.caller()
            caller.send(http("POST /a HTTP/1.1", "host: app", "content-type: application/json", "content-length: 2"))
            let upstream = scene.upstream().accept()
            _ = upstream.head()
            upstream.send(http("HTTP/1.1 100 Continue") + "HTTP/1.1 200 OK\r\ncontent-le")
            _ = caller.head()
            scene.pass(.milliseconds(950))
            caller.expectNothing()
            scene.pass(.milliseconds(60))
            #expect(caller.head().hasPrefix("HTTP/1.1 504 Gateway Timeout\r\n"))
            upstream.expectGone()
        }
    }

    @Test func `the time of an attempt is told as such, and the body has its own`() {
        play(Self.limited()) { scene in
            let caller = scene.caller()
            caller.send(say)
            scene.pass(.milliseconds(1010))
            _ = caller.head()
            caller.expect(Self.attempt)
            caller.send(say)
            _ = scene.upstream().accept()
            let upstream = scene.upstream().accept()
            upstream.expect(saidUpstream)
            upstream.send(http("HTTP/1.1 200 OK", "content-length: 2"))
            scene.pass(.seconds(5))
            upstream.send("{}")
            caller.expect(http("HTTP/1.1 200 OK", "content-length: 2", body: "{}"))
        }
    }

    @Test func `the making of the connection is a part of the attempt, the wait for connectivity is not`() {
        play(Self.limited()) { scene in
            scene.upstream().behaviour = .hangs
            let caller = scene.caller()
            caller.send(say)
            scene.pass(.milliseconds(1010))
            _ = caller.head()
            caller.expect(Self.attempt)
        }
        play(Self.limited(", connect_wait: 5s")) { scene in
            scene.upstream().behaviour = .refuses
            let caller = scene.caller()
            caller.send(say)
            scene.pass(.seconds(2))
            scene.upstream().behaviour = .accepts
            scene.pass(.seconds(1))
            scene.upstream().accept().expect(saidUpstream)
            scene.pass(.milliseconds(950))
            caller.expectNothing()
            scene.pass(.milliseconds(60))
            _ = caller.head()
            caller.expect(Self.attempt)
        }
    }
}
