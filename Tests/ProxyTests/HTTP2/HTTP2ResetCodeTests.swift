import HTTP2Kit
import Testing

/// What a caller is told when an HTTP/2 upstream resets its call.
@Suite struct HTTP2ResetCodeTests {
    /// A code of HTTP/2, and the number and the name of the code that the caller gets.
    private static let codes: [(code: Code, number: Int, name: String)] = [
        (.noError, 13, "internal"), (.protocolError, 13, "internal"), (.internalError, 13, "internal"),
        (.flowControl, 13, "internal"), (.settingsTimeout, 13, "internal"),
        (.frameSize, 13, "internal"), (.compression, 13, "internal"), (.connect, 13, "internal"),
        (.cancel, 1, "canceled"), (.calm, 8, "resource_exhausted"),
        (.security, 7, "permission_denied"),
    ]

    /// A call that the upstream has got.
    private func begin(_ harness: ProxyHarness, _ type: String) -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, type), .data(1, "{}", end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    @Test func `gRPC callers get the code that goes with the reset`() {
        for (code, number, name) in Self.codes {
            runProxy(http2Plain) { harness in
                let (caller, upstream) = begin(harness, "application/grpc")
                upstream.send(.reset(1, code))
                let text = "upstream default: the stream was reset: \(code.name)"
                caller.expect(
                    "1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: \(number)"
                        + " | grpc-message: \(text) | x-trace: probe"
                )
                upstream.expectNothing()
                #expect(harness.eventLog.drain().last == "probe finished \(name) by martlet")
            }
        }
    }

    @Test func `Connect callers get it as JSON`() {
        for (code, _, name) in Self.codes {
            runProxy(http2Plain) { harness in
                let (caller, upstream) = begin(harness, "application/json")
                upstream.send(.reset(1, code))
                #expect(caller.next().contains(" | content-type: application/json | "))
                let text = "upstream default: the stream was reset: \(code.name)"
                caller.expect("1 DATA/end {\"code\":\"\(name)\",\"message\":\"\(text)\"}")
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `a reset between two messages ends a gRPC response in its form`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/grpc")
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, envelope("hi")))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("hi"))")
            upstream.send(.reset(1, .calm))
            let text = "upstream default: the stream was reset: ENHANCE_YOUR_CALM"
            caller.expect("1 HEADERS/end grpc-status: 8 | grpc-message: \(text)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a reset between two messages ends a Connect stream in its form`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/connect+json")
            let type: Frame.Fields = ["content-type": "application/connect+json"]
            upstream.send(.response(1, 200, type), .data(1, envelope("{}")))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("{}"))")
            upstream.send(.reset(1, .internalError))
            let text = "upstream default: the stream was reset: INTERNAL_ERROR"
            let error = #"{"error":{"code":"internal","message":"\#(text)"}}"#
            caller.expect("1 DATA/end \(envelope(error, flags: 2))")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a reset within a message breaks the response off`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/grpc")
            let half = String(envelope("hello").dropLast(2))
            upstream.send(.response(1, 200, ["content-type": "application/grpc"]), .data(1, half))
            _ = caller.next()
            caller.expect("1 DATA \(half)")
            upstream.send(.reset(1, .calm))
            caller.expect("1 RST_STREAM INTERNAL_ERROR")
            #expect(harness.eventLog.drain().last == "probe finished resource_exhausted by martlet")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a plain response that is broken off is broken off for an HTTP 1 caller`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.caller()
            caller.send(get)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1), .data(1, "half"))
            _ = caller.head()
            caller.expect("4\r\nhalf\r\n")
            upstream.send(.reset(1, .internalError))
            caller.expectGone()
            #expect(caller.received.isEmpty)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a whole response followed by NO_ERROR is a response`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("hi")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let fields: Frame.Fields = ["content-type": "application/grpc", "grpc-status": "7"]
            upstream.send(.response(1, 200, fields, end: true), .reset(1, .noError))
            let head = ":status: 200 | content-type: application/grpc | grpc-status: 7 | x-trace: probe"
            caller.expect("1 HEADERS/end \(head)")
            #expect(harness.eventLog.drain().last == "probe finished permission_denied by upstream")
            caller.expectRejection(1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a malformed response is reported as one`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let (caller, upstream) = begin(harness, "application/json")
            upstream.send(.response(1, 200, ["X-Upper": "a"], end: true))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 5"))
            upstream.expect("1 RST_STREAM PROTOCOL_ERROR")
        }
    }
}
