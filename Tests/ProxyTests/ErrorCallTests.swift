import HTTP2Kit
import Testing

/// Errors that are changed on their way to the caller.
@Suite struct ErrorCallTests {
    private static let later =
        "{from: unavailable, code: resource_exhausted, message: 'later: {message}', metadata: {x-why: busy}}"

    private static func http1(_ options: String = later) -> String {
        plain + "\ninterceptors: [{metrics: {}}, {probe: {}}, {error: \(options)}]\n"
    }

    private static func http2(_ options: String = later) -> String {
        http1(options).replacing("http://", with: "h2c://")
    }

    private static let grpc: Frame.Fields = ["content-type": "application/grpc"]

    private func begin(_ harness: ProxyHarness, type: String = "application/grpc") -> (HTTP2Peer, HTTP2Peer) {
        let caller = harness.http2Caller()
        caller.send(.say(1, type), .data(1, envelope("hello"), end: true))
        let upstream = harness.upstream().acceptHTTP2(in: harness)
        _ = (upstream.next(), upstream.next())
        return (caller, upstream)
    }

    @Test(arguments: Transport.allCases)
    func `an error of gRPC behind messages becomes another, and the trailers stay`(_ transport: Transport) {
        runProxy(transport, Self.http2()) { harness in
            let (caller, upstream) = begin(harness)
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("one")))
            _ = caller.next()
            caller.expect("1 DATA \(envelope("one"))")
            upstream.send(.headers(1, ["grpc-status": "14", "grpc-message": "down", "x-t": "u"], end: true))
            let trailers = caller.next()
            #expect(trailers.hasPrefix("1 HEADERS/end "))
            for field in ["grpc-status: 8", "grpc-message: later: down", "x-t: u", "x-why: busy"] {
                #expect(trailers.contains(field), "\(trailers)")
            }
            #expect(harness.eventLog.drain().last == #"probe finished resource_exhausted by interceptor("error")"#)
        }
    }

    @Test(arguments: Transport.allCases)
    func `an error of gRPC that is nothing but a head becomes another`(_ transport: Transport) {
        runProxy(transport, Self.http2()) { harness in
            let (caller, upstream) = begin(harness)
            let fields: Frame.Fields = [
                "content-type": "application/grpc", "grpc-status": "14", "grpc-message": "down",
            ]
            upstream.send(.response(1, 200, fields, end: true))
            let reported = (caller.next() + caller.rest().joined())
            for field in ["grpc-status: 8", "grpc-message: later: down", "x-why: busy"] {
                #expect(reported.contains(field), "\(reported)")
            }
            #expect(!reported.contains("grpc-status: 14"))
        }
    }

    @Test(arguments: Transport.allCases)
    func `what is no error, or another, is let be`(_ transport: Transport) {
        for status in ["0", "5"] {
            runProxy(transport, Self.http2()) { harness in
                let (caller, upstream) = begin(harness)
                upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("one")))
                _ = (caller.next(), caller.next())
                upstream.send(.headers(1, ["grpc-status": status, "grpc-message": "m"], end: true))
                caller.expect("1 HEADERS/end grpc-status: \(status) | grpc-message: m")
            }
        }
    }

    @Test(arguments: Transport.allCases)
    func `an error of unary Connect becomes another, with its status and its details`(_ transport: Transport) {
        runProxy(transport, Self.http1()) { harness in
            let caller = harness.caller()
            caller.send(say)
            let upstream = harness.upstream().accept()
            _ = upstream.head()
            let error = #"{"code":"unavailable","message":"down","details":[{"type":"pkg.Why","value":"AQ"}]}"#
            upstream.send(
                http(
                    "HTTP/1.1 503 Service Unavailable",
                    "content-type: application/json",
                    "content-length: \(error.utf8.count)",
                    "trailer-x-t: u",
                    body: error
                )
            )
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
            #expect(head.contains("trailer-x-t: u\r\n") && head.contains("trailer-x-why: busy\r\n"), "\(head)")
            caller.expect(
                #"{"code":"resource_exhausted","message":"later: down","details":[{"type":"pkg.Why","value":"AQ"}]}"#
            )
            #expect(harness.eventLog.drain().last == #"probe finished resource_exhausted by interceptor("error")"#)
        }
    }

    @Test(arguments: Transport.allCases)
    func `a error behind the chain becomes another error`(_ transport: Transport) {
        runProxy(transport, Self.http1()) { harness in
            harness.upstream().behaviour = .rejects
            let caller = harness.caller()
            caller.send(say)
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 429 Too Many Requests\r\n"))
            #expect(head.contains("trailer-x-why: busy\r\n"), "\(head)")
            let body = String(decoding: caller.receiveAll(), as: UTF8.self)
            #expect(body.hasPrefix(#"{"code":"resource_exhausted","message":"later: upstream default: "#), "\(body)")
        }
    }

    @Test(arguments: Transport.allCases)
    func `an error of a Connect stream becomes another`(_ transport: Transport) {
        runProxy(transport, Self.http2("{map: [{from: aborted, code: internal}, {code: data_loss}]}")) { harness in
            let (caller, upstream) = begin(harness, type: "application/connect+json")
            upstream.send(.response(1, 200, ["content-type": "application/connect+json"]))
            let end = envelope(#"{"error":{"code":"not_found","message":"m"}}"#, flags: 2)
            upstream.send(.data(1, envelope("{}") + end, end: true))
            _ = caller.next()
            let rest = caller.rest().joined()
            #expect(rest.contains(#"{"error":{"code":"data_loss","message":"m"}}"#), "\(rest)")
        }
    }
}
