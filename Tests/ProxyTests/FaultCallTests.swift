import HTTP2Kit
import Testing
import Time

/// Calls that go wrong on purpose.
@Suite struct FaultCallTests {
    private static func http1(_ options: String) -> String {
        plain + "\ninterceptors: [{metrics: {}}, {probe: {}}, {name: f, fault: {\(options)}}]\n"
    }

    private static func http2(_ options: String) -> String {
        http1(options).replacing("http://", with: "h2c://")
    }

    private static let grpc: Frame.Fields = ["content-type": "application/grpc"]

    private func ends(_ harness: ProxyHarness) -> [String] {
        harness.settle()
        return harness.eventLog.drain().filter { $0.contains("finished") }
    }

    /// A call of gRPC that has come to the upstream, which has begun to respond to it.
    private func begin(_ harness: ProxyHarness) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, "application/grpc"), .data(1, envelope("hello"), end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        upstream.send(.response(1, 200, Self.grpc))
        return (caller, upstream)
    }

    // MARK: Delays

    @Test(arguments: Transport.allCases)
    func `a request waits before it goes upstream`(_ transport: Transport) {
        runProxy(transport, Self.http1("delay: 200ms")) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(190))
            harness.upstream().expectNobody()
            harness.pass(.milliseconds(20))
            let upstream = harness.upstream().accept()
            #expect(upstream.head().hasPrefix("POST /pkg.Service/Say HTTP/1.1\r\n"))
            upstream.expect("{}")
            upstream.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            caller.expect("{}")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response waits before it goes to the caller`(_ transport: Transport) {
        runProxy(transport, Self.http2("delay: {time: 200ms, on: response}")) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.data(1, envelope("hi")), .headers(1, ["grpc-status": "0"], end: true))
            harness.pass(.milliseconds(190))
            caller.expectNothing()
            harness.pass(.milliseconds(20))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200 | "))
            caller.expect("1 DATA \(envelope("hi"))", "1 HEADERS/end grpc-status: 0")
            #expect(ends(harness) == ["probe finished ok by upstream"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `a caller that goes meanwhile is not waited for`(_ transport: Transport) {
        runProxy(transport, Self.http1("delay: 1h")) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.settle()
            caller.close()
            #expect(ends(harness) == ["probe finished canceled by caller"])
            harness.upstream().expectNobody()
        }
    }

    // MARK: Errors and resets

    @Test(arguments: Transport.allCases)
    func `a call ends with the error, and nothing goes upstream`(_ transport: Transport) {
        runProxy(transport, Self.http2("code: resource_exhausted, message: no")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            #expect(caller.next().hasSuffix("grpc-status: 8 | grpc-message: no"))
            harness.upstream().expectNobody()
            #expect(ends(harness) == ["probe finished resource_exhausted by interceptor(\"f\")"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call fails though the upstream has responded it`(_ transport: Transport) {
        runProxy(transport, Self.http1("delay: {time: 0s, on: response}, code: aborted")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
            caller.expect(#"{"code":"aborted","message":"a fault on purpose"}"#)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call of HTTP 2 is reset without a response`(_ transport: Transport) {
        runProxy(transport, Self.http2("reset: true")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            harness.pass(.milliseconds(20))
            caller.expect("1 RST_STREAM INTERNAL_ERROR")
            harness.upstream().expectNobody()
            #expect(ends(harness) == ["probe finished internal by interceptor(\"f\")"])
        }
    }

    @Test(arguments: Transport.allCases)
    func `a call of HTTP 1 loses its connection without a response`(_ transport: Transport) {
        runProxy(transport, Self.http1("reset: true")) { harness in
            let caller = harness.caller()
            caller.send(say)
            harness.pass(.milliseconds(20))
            caller.expectGone()
            #expect(caller.received == [])
            harness.upstream().expectNobody()
        }
    }

    // MARK: Responses that are cut off

    @Test(arguments: Transport.allCases)
    func `a response is cut off behind so many messages`(_ transport: Transport) {
        runProxy(transport, Self.http2("cut_after: 2")) { harness in
            let (caller, upstream) = begin(harness)
            _ = caller.next()
            upstream.send(.data(1, envelope("one") + envelope("two")))
            caller.expect("1 DATA \(envelope("one"))\(envelope("two"))")
            caller.expectNothing()
            upstream.send(.data(1, envelope("three")))
            caller.expect("1 HEADERS/end grpc-status: 14 | grpc-message: a fault on purpose")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that ends where it would be cut fails there`(_ transport: Transport) {
        runProxy(transport, Self.http2("cut_after: 1, code: data_loss")) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.data(1, envelope("one")), .headers(1, ["grpc-status": "0"], end: true))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("one"))")
            #expect(caller.next().hasPrefix("1 HEADERS/end grpc-status: 15 | grpc-message: a fault on purpose"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `a shorter response is let be`(_ transport: Transport) {
        runProxy(transport, Self.http2("cut_after: 2")) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.data(1, envelope("one")), .headers(1, ["grpc-status": "0"], end: true))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("one"))", "1 HEADERS/end grpc-status: 0")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response is reset behind so many messages`(_ transport: Transport) {
        runProxy(transport, Self.http2("cut_after: 1, reset: true")) { harness in
            let (caller, upstream) = begin(harness)
            _ = caller.next()
            upstream.send(.data(1, envelope("one") + envelope("two")))
            harness.pass(.milliseconds(20))
            caller.expect("1 DATA \(envelope("one"))", "1 RST_STREAM INTERNAL_ERROR")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `the one message of a unary response is cut off whole`(_ transport: Transport) {
        runProxy(transport, Self.http1("cut_after: 1")) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            upstream.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
            caller.expect(#"{"code":"unavailable","message":"a fault on purpose"}"#)
        }
    }

    // MARK: The pace

    @Test(arguments: Transport.allCases)
    func `messages go on at their rate, in order`(_ transport: Transport) {
        runProxy(transport, Self.http2("throttle: 100B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, Self.grpc))
            let (one, two) = (String(repeating: "1", count: 20), String(repeating: "2", count: 10))
            upstream.send(.data(1, envelope(one) + envelope(two)), .headers(1, ["grpc-status": "0"], end: true))
            harness.pass(.milliseconds(60))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200 | "))
            harness.pass(.milliseconds(130))
            caller.expectNothing()
            harness.pass(.milliseconds(20))
            caller.expect("1 DATA \(envelope(one))")
            harness.pass(.milliseconds(80))
            caller.expectNothing()
            harness.pass(.milliseconds(30))
            caller.expect("1 DATA \(envelope(two))", "1 HEADERS/end grpc-status: 0")
        }
    }

    // MARK: Whom it is for

    @Test func `none of a hundred calls is none, and all are all`() {
        for (percentage, status) in [("0", 200), ("100", 409)] {
            runProxy(Self.http1("code: aborted, percentage: \(percentage)")) { harness in
                let caller = harness.caller()
                for _ in 0..<20 {
                    caller.send(get)
                    if status == 200 {
                        let upstream = harness.upstream().accept()
                        _ = upstream.head()
                        upstream.send(http("HTTP/1.1 200 OK", "connection: close", "content-length: 0"))
                    }
                    #expect(caller.head().hasPrefix("HTTP/1.1 \(status) "))
                    _ = caller.receiveAll()
                }
            }
        }
    }

    private func ask(_ field: String) -> String {
        get.replacing("host: app\r\n", with: "host: app\r\nx-martlet-fault: \(field)\r\n")
    }

    @Test(arguments: Transport.allCases)
    func `a caller asks for a fault`(_ transport: Transport) {
        runProxy(transport, Self.http1("from_header: true")) { harness in
            let caller = harness.caller()
            caller.send(ask("delay=100ms; code=not_found; message=nobody"))
            caller.expectNothing()
            harness.pass(.milliseconds(120))
            #expect(caller.head().hasPrefix("HTTP/1.1 404 Not Found\r\n"))
            caller.expect(#"{"code":"not_found","message":"nobody"}"#)
            harness.upstream().expectNobody()
        }
    }

    @Test func `what a caller asks for goes no further, and holds instead of the file`() {
        runProxy(Self.http1("from_header: true, code: aborted")) { harness in
            let caller = harness.caller()
            caller.send(ask("code=internal; percentage=0"))
            let upstream = harness.upstream().accept()
            #expect(!upstream.head().contains("fault"))
            upstream.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            _ = caller.receive(2)
            caller.send(get)
            #expect(caller.head().hasPrefix("HTTP/1.1 409 Conflict\r\n"))
        }
    }

    @Test func `a field that cannot be read is rejected`() {
        runProxy(Self.http1("from_header: true")) { harness in
            let caller = harness.caller()
            caller.send(ask("cod=internal"))
            #expect(caller.head().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            let text = #"x-martlet-fault: unknown key \"cod\"; did you mean \"code\"?"#
            caller.expect(#"{"code":"invalid_argument","message":"\#(text)"}"#)
        }
    }

    @Test func `a caller asks in vain where the file does not let it`() {
        runProxy(Self.http1("delay: 0s, cut_after: 5")) { harness in
            let caller = harness.caller()
            caller.send(ask("code=internal"))
            let upstream = harness.upstream().accept()
            #expect(upstream.head().contains("\r\nx-martlet-fault: code=internal\r\n"))
            upstream.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }
}
