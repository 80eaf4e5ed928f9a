import HTTP2Kit
import Testing

/// The messages of calls over HTTP/2: their limits and their numbers.
@Suite struct HTTP2MessageTests {
    private static func limited(_ limits: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off, limits: {\(limits)}}]
        upstream: h2c://127.0.0.1:9000
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    }
    private static let request = "a request message exceeds limits.request_message (10 bytes)"
    private static let response = "a response message exceeds limits.response_message (10 bytes)"
    private static let grpc: Frame.Fields = ["content-type": "application/grpc"]

    @Test(arguments: Transport.allCases)
    func `a message of the request as large as the limit passes`(_ transport: Transport) {
        runProxy(transport, Self.limited("request_message: 10B")) { harness in
            let caller = harness.http2Caller()
            let body = envelope("0123456789") + envelope("abcdefghij")
            caller.send(.say(1, "application/grpc"), .data(1, body, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.expect("1 DATA/end \(body)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a message that is announced too large ends the call before it comes`(_ transport: Transport) {
        runProxy(transport, Self.limited("request_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc"), .data(1, envelope("fine")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.send(.data(1, "\0\0\0\0\u{b}"))
            let status = "grpc-status: 8 | grpc-message: \(Self.request) | x-trace: probe"
            caller.expect("1 HEADERS/end :status: 200 | content-type: application/grpc | \(status)")
            upstream.expect("1 RST_STREAM CANCEL")
            caller.expectRejection(1)
            #expect(
                harness.metrics(#"martlet_limit_hits_total{limit="request_message"}"#).first?.hasSuffix(" 1") == true
            )
        }
    }

    /// Readers that pass over a line break would see the message that we had not measured.
    @Test(arguments: ["\n", "AA\r\n", "AAAA="])
    func `a text body that is not base64 ends the call where messages have a limit`(_ start: String) {
        runProxy(Self.limited("request_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc-web-text"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().hasPrefix("1 HEADERS "))
            caller.send(.data(1, start + String(repeating: "A", count: 40)))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 200 | content-type: application/grpc-web-text"))
            upstream.expect("1 RST_STREAM CANCEL")
            _ = caller.rest()
            #expect(harness.eventLog.drain().last == "probe finished invalid_argument by martlet")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a bare message that is announced too large gets nowhere`(_ transport: Transport) {
        runProxy(transport, Self.limited("request_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("content-length", "11")))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 429 | content-type: application/json | "))
            caller.expect("1 DATA/end {\"code\":\"resource_exhausted\",\"message\":\"\(Self.request)\"}")
            harness.upstream().expectNobody()
            caller.expectRejection(1)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a bare message without a length ends the call when it is too large`(_ transport: Transport) {
        runProxy(transport, Self.limited("request_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json"), .data(1, "0123456789"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            caller.send(.data(1, "!"))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 429 "))
            upstream.expect("1 RST_STREAM CANCEL")
            _ = caller.rest()
        }
    }

    @Test(arguments: Transport.allCases)
    func `the messages before one that is too large arrive, and then the end`(_ transport: Transport) {
        runProxy(transport, Self.limited("response_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, Self.grpc))
            upstream.send(.data(1, envelope("first") + envelope("0123456789") + "\0\0\0\0\u{b}more"))
            _ = caller.next()
            caller.expect(
                "1 DATA \(envelope("first"))\(envelope("0123456789"))",
                "1 HEADERS/end grpc-status: 8 | grpc-message: \(Self.response)"
            )
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(harness.eventLog.drain().last == "probe finished resource_exhausted by martlet")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a message that is too large and has come whole goes nowhere, nor what follows it`(_ transport: Transport) {
        runProxy(transport, Self.limited("response_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, Self.grpc))
            upstream.send(.data(1, envelope("first") + envelope("0123456789+") + envelope("third")))
            _ = caller.next()
            caller.expect(
                "1 DATA \(envelope("first"))",
                "1 HEADERS/end grpc-status: 8 | grpc-message: \(Self.response)"
            )
        }
    }

    @Test(arguments: Transport.allCases)
    func `a response that is announced too large is reported in its stead`(_ transport: Transport) {
        runProxy(transport, Self.limited("response_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, ["content-type": "application/json", "content-length": "11"]))
            #expect(caller.next().hasPrefix("1 HEADERS :status: 429 "))
            caller.expect("1 DATA/end {\"code\":\"resource_exhausted\",\"message\":\"\(Self.response)\"}")
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test(arguments: Transport.allCases)
    func `a Connect stream with a message too large ends in its form`(_ transport: Transport) {
        runProxy(transport, Self.limited("response_message: 10B")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            let type: Frame.Fields = ["content-type": "application/connect+json"]
            upstream.send(.response(1, 200, type), .data(1, envelope("{}") + "\0\0\0\u{1}\0"))
            _ = caller.next()
            let error = #"{"error":{"code":"resource_exhausted","message":"\#(Self.response)"}}"#
            caller.expect("1 DATA/end \(envelope("{}"))\(envelope(error, flags: 2))")
        }
    }

    @Test(arguments: Transport.allCases)
    func `messages are counted both ways`(_ transport: Transport) {
        runProxy(transport, http2Plain) { harness in
            let caller = harness.http2Caller()
            let three = envelope("a") + envelope("") + envelope("c")
            caller.send(.say(1, "application/grpc"), .data(1, String(three.prefix(7))))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            caller.send(.data(1, String(three.dropFirst(7)), end: true))
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("x") + envelope("y")))
            upstream.send(.headers(1, ["grpc-status": "0"], end: true))
            harness.settle()
            let received = harness.metrics("martlet_rpc_msg_received_total")
            let sent = harness.metrics("martlet_rpc_msg_sent_total")
            #expect(received.count == 1 && received[0].hasSuffix(" 3"), "\(received)")
            #expect(sent.count == 1 && sent[0].hasSuffix(" 2"), "\(sent)")
        }
    }
}
