import HTTP2Kit
import Testing
import Time

/// The time that a caller allows for a call, wherever the call is when it is over.
@Suite struct HTTP2DeadlineTests {
    private static let text = "request exceeded allowed timeout: 1.020 s in an attempt on default"
    private static let status = "grpc-status: 4 | grpc-message: \(text)"

    /// A gRPC call that has a second, and its upstream, which has got it.
    private func begin(_ harness: ProxyHarness, _ type: String = "application/grpc") -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        let name = type.hasPrefix("application/grpc") ? "grpc-timeout" : "connect-timeout-ms"
        caller.send(.say(1, type, (name, name == "grpc-timeout" ? "1S" : "1000")), .data(1, envelope("{}"), end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `over while there is no connection yet`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("grpc-timeout", "1S")), .data(1, envelope("{}")))
            harness.pass(.milliseconds(990))
            caller.expectNothing()
            harness.pass(.milliseconds(30))
            let text = "request exceeded allowed timeout: 1.020 s waiting for a connection to default"
            let status = "grpc-status: 4 | grpc-message: \(text)"
            let head = ":status: 200 | content-type: application/grpc | \(status) | x-trace: probe"
            caller.expect("1 HEADERS/end \(head)")
            #expect(harness.eventLog.drain().last == "probe finished deadline_exceeded by martlet")
            caller.expectRejection(1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `over while the upstream has not answered`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(990))
            caller.expectNothing()
            harness.pass(.milliseconds(30))
            let head = ":status: 200 | content-type: application/grpc | \(Self.status) | x-trace: probe"
            caller.expect("1 HEADERS/end \(head)")
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.metrics("martlet_upstream_attempts_total").contains { $0.contains("timeout") })
        }
    }

    @Test(arguments: Transport.allCases)
    func `over between two messages of gRPC`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, envelope("hi")))
            _ = (caller.next(), caller.next())
            harness.pass(.milliseconds(1020))
            caller.expect("1 HEADERS/end \(Self.status)")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `over between two messages of a Connect stream`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/connect+json")
            let fields: Frame.Fields = ["content-type": "application/connect+json"]
            upstream.send(.response(1, 200, fields), .data(1, envelope("{}")))
            _ = (caller.next(), caller.next())
            harness.pass(.milliseconds(1020))
            let error = #"{"error":{"code":"deadline_exceeded","message":"\#(Self.text)"}}"#
            caller.expect("1 DATA/end \(envelope(error, flags: 2))")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `over between two messages of gRPC-Web`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/grpc-web+proto")
            let fields: Frame.Fields = ["content-type": "application/grpc-web+proto"]
            upstream.send(.response(1, 200, fields), .data(1, envelope("hi")))
            _ = (caller.next(), caller.next())
            harness.pass(.milliseconds(1020))
            let trailers = "grpc-status: 4\r\ngrpc-message: \(Self.text)\r\n"
            caller.expect("1 DATA/end \(envelope(trailers, flags: 0x80))")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `over within a message`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            let half = String(envelope("hello").dropLast(1))
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, half))
            _ = (caller.next(), caller.next())
            harness.pass(.milliseconds(1020))
            caller.expect("1 RST_STREAM CANCEL")
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.eventLog.drain().last == "probe finished deadline_exceeded by martlet")
        }
    }

    @Test(arguments: Transport.allCases)
    func `over within a message for an HTTP 1 caller`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            let type = "content-type: application/connect+json"
            caller.send(
                http("POST /a.B/C HTTP/1.1", "host: a", type, "connect-timeout-ms: 1000", "content-length: 0")
            )
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, ["content-type": "application/connect+json"]), .data(1, "\0\0\0\0\u{9}{"))
            _ = caller.head()
            caller.expect("6\r\n\0\0\0\0\u{9}{\r\n")
            harness.pass(.milliseconds(1020))
            caller.expectGone()
            #expect(caller.received.isEmpty)
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `over while the caller still uploads`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("connect-timeout-ms", "1000")), .data(1, "{"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            harness.pass(.milliseconds(1020))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 504 "))
            caller.expect("1 DATA/end {\"code\":\"deadline_exceeded\",\"message\":\"\(Self.text)\"}")
            upstream.expect("1 RST_STREAM CANCEL")
            caller.expectRejection(1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `not over when the response came in time`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness)
            harness.pass(.milliseconds(990))
            let fields: Frame.Fields = ["content-type": "application/grpc", "grpc-status": "0"]
            upstream.send(.response(1, 200, fields, end: true))
            #expect(caller.next().hasPrefix("1 HEADERS/end :status: 200 "))
            harness.pass(.seconds(5))
            caller.expectNothing()
            upstream.expectNothing()
        }
    }

    // MARK: What the upstream is told

    @Test(arguments: [
        ("application/grpc", "grpc-timeout", "1S", "grpc-timeout: 700m"),
        ("application/grpc", "grpc-timeout", "2000000u", "grpc-timeout: 1700m"),
        ("application/json", "connect-timeout-ms", "1000", "connect-timeout-ms: 700"),
        ("application/grpc-web", "grpc-timeout", "1000m", "grpc-timeout: 700m"),
    ])
    func `the upstream is reported what is left`(type: String, name: String, value: String, reported: String) {
        runProxy(http2Plain) { harness in
            harness.upstream().behaviour = .hangs
            let caller = harness.http2Caller()
            caller.send(.say(1, type, (name, value), end: true))
            harness.pass(.milliseconds(300))
            harness.upstream().admit()
            let head = harness.upstream().acceptHTTP2(in: harness).next()
            #expect(head.contains(" | \(reported) | "), "\(head)")
        }
    }

    @Test(arguments: [
        ("application/grpc", "grpc-timeout", "5H"), ("application/json", "connect-timeout-ms", "9999999999"),
        ("application/grpc", "grpc-timeout", "99999999H"),
    ])
    func `a time-out of which nothing has passed goes on as it is`(type: String, name: String, value: String) {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type, (name, value), end: true))
            #expect(harness.upstream().acceptHTTP2(in: harness).next().contains(" | \(name): \(value) | "))
        }
    }

    @Test(arguments: [("application/grpc", "grpc-timeout", "0m"), ("application/json", "connect-timeout-ms", "0")])
    func `a time-out of nothing is over at once`(type: String, name: String, value: String) {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, type, (name, value), end: true))
            #expect(caller.rest().contains { $0.contains("request exceeded allowed timeout") })
            harness.upstream().expectNobody()
            #expect(harness.eventLog.drain().last == "probe finished deadline_exceeded by martlet")
        }
    }

    @Test(arguments: [
        ("application/grpc", "grpc-timeout", ["", "S", "1", "1s", "-1S", "123456789S", "1.5S", "1 S"]),
        ("application/json", "connect-timeout-ms", ["", "1s", "-1", "12345678901", "0x1"]),
    ])
    func `a malformed time-out is rejected`(type: String, name: String, values: [String]) {
        for value in values {
            runProxy(http2Plain) { harness in
                let caller = harness.http2Caller()
                caller.send(.say(1, type, (name, value), end: true))
                let came = caller.rest()
                #expect(came.contains { $0.contains(name) }, "\(value): \(came)")
                harness.upstream().expectNobody()
                #expect(harness.eventLog.drain().last == "probe finished invalid_argument by martlet")
            }
        }
    }

    /// Some servers take the first, others the last.
    @Test func `a time-out that comes twice is rejected`() {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("grpc-timeout", "1S"), ("grpc-timeout", "1H"), end: true))
            #expect(caller.next().contains("grpc-status: 3 "))
            harness.upstream().expectNobody()
        }
    }

    @Test func `the time-out of another protocol is none of ours`() {
        runProxy(http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("connect-timeout-ms", "x"), end: true))
            #expect(harness.upstream().acceptHTTP2(in: harness).next().contains(" | connect-timeout-ms: x | "))
        }
    }
}
