import HTTP2Kit
import Testing
import Time

/// What Martlet itself sends as a response over HTTP/2, byte for byte, in each protocol.
@Suite struct HTTP2OwnResponseTests {
    private static let json = #"{"code":"unknown","message":"auth token fetch failed"}"#

    private func reject(_ options: String) -> String {
        "listen: 127.0.0.1:8080\ninterceptors: [{reject: {\(options)}}]\n"
    }

    /// What a call with this content type is answered by a chain that responds.
    private func expect(_ frames: Frame..., by yaml: String, _ lines: [String]) {
        for transport in Transport.allCases {
            runProxy(transport, yaml) { harness in
                let caller = harness.http2Caller()
                caller.peer.send(frames.flatMap(\.bytes))
                #expect(caller.rest() == lines)
                caller.expectNothing()
            }
        }
    }

    private func expectError(_ type: String, _ lines: String...) {
        expect(.say(1, type, end: true), by: reject("code: unknown, message: auth token fetch failed"), lines)
    }

    @Test func `a Connect unary call gets the error as JSON`() {
        for type in ["application/json", "application/proto"] {
            let head = "1 HEADERS :status: 500 | content-type: application/json | content-length: 54"
            expectError(type, head, "1 DATA/end \(Self.json)")
        }
    }

    @Test func `a Connect stream gets the error in its last envelope`() {
        let head = "1 HEADERS :status: 200 | content-type: application/connect+json | content-length: 69"
        expectError(
            "application/connect+json",
            head,
            "1 DATA/end \(envelope("{\"error\":\(Self.json)}", flags: 2))"
        )
    }

    @Test func `a gRPC call gets the error in a single head without a length`() {
        let status = "grpc-status: 2 | grpc-message: auth token fetch failed"
        for type in ["application/grpc", "application/grpc+proto"] {
            expectError(type, "1 HEADERS/end :status: 200 | content-type: \(type) | \(status)")
        }
    }

    @Test func `a gRPC-Web call gets the error in the frame of its trailers`() {
        let trailers = "grpc-status: 2\r\ngrpc-message: auth token fetch failed\r\n"
        let head = "1 HEADERS :status: 200 | content-type: application/grpc-web+proto | content-length: 60"
        expectError("application/grpc-web+proto", head, "1 DATA/end \(envelope(trailers, flags: 0x80))")
    }

    @Test func `a gRPC-Web call in text gets the same in base64`() {
        let body = "gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"
        let head = "1 HEADERS :status: 200 | content-type: application/grpc-web-text | content-length: 80"
        expectError("application/grpc-web-text", head, "1 DATA/end \(body)")
    }

    @Test func `a plain call gets the mapped status and the same JSON`() {
        let lines = [
            "1 HEADERS :status: 403 | content-type: application/json | content-length: 54",
            #"1 DATA/end {"code":"permission_denied","message":"not from here"}"#,
        ]
        let yaml = reject("code: permission_denied, message: not from here")
        expect(.say(1, "text/plain", end: true), by: yaml, lines)
        expect(.request(1, "GET", "/p", end: true), by: yaml, lines)
    }

    @Test func `a canned message is in the protocol of the caller`() {
        let yaml = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {json: {a: 1}}}]\n"
        let message = envelope(#"{"a":1}"#)
        let asked = Frame.data(1, envelope("{}"), end: true)
        expect(
            .say(1, "application/grpc+json"),
            asked,
            by: yaml,
            [
                "1 HEADERS :status: 200 | content-type: application/grpc+json", "1 DATA \(message)",
                "1 HEADERS/end grpc-status: 0",
            ]
        )
        let end = envelope("grpc-status: 0\r\n", flags: 0x80)
        expect(
            .say(1, "application/grpc-web+json"),
            asked,
            by: yaml,
            [
                "1 HEADERS :status: 200 | content-type: application/grpc-web+json | content-length: 33",
                "1 DATA/end \(message)\(end)",
            ]
        )
        expect(
            .say(1, "application/connect+json"),
            asked,
            by: yaml,
            [
                "1 HEADERS :status: 200 | content-type: application/connect+json | content-length: 19",
                "1 DATA/end \(message)\(envelope("{}", flags: 2))",
            ]
        )
    }

    @Test func `the response to HEAD has no body`() {
        expect(
            .request(1, "HEAD", "/p", end: true),
            by: reject("code: not_found, message: no"),
            ["1 HEADERS/end :status: 404 | content-type: application/json | content-length: 35"]
        )
    }

    @Test func `what is left of a request that was answered is not expected`() {
        for transport in Transport.allCases {
            runProxy(transport, reject("code: not_found, message: no")) { harness in
                let caller = harness.http2Caller()
                caller.send(.say(1, "application/grpc"))
                caller.expect(
                    "1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 5 | grpc-message: no"
                )
                caller.expectRejection(1)
            }
        }
    }

    @Test func `what is left of a request that ends in time is taken`() {
        for transport in Transport.allCases {
            runProxy(transport, reject("code: not_found, message: no")) { harness in
                let caller = harness.http2Caller()
                caller.send(.say(1, "application/grpc"))
                _ = caller.next()
                caller.send(.data(1, "rest"))
                harness.pass(.milliseconds(500))
                caller.send(.data(1, "rest", end: true))
                harness.pass(.seconds(5))
                caller.expectNothing()
            }
        }
    }

    @Test func `a head that is too large is rejected in the protocol of the call`() {
        runProxy("listeners: [{address: \"127.0.0.1:8080\", limits: {head: 1KiB}}]\nupstream: h2c://127.0.0.1:9000") {
            harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", ("x", String(repeating: "y", count: 2000)), end: true))
            let head = "1 HEADERS/end :status: 200 | content-type: application/grpc | grpc-status: 8 | "
            #expect(caller.next().hasPrefix(head))
            caller.send(.request(3, "GET", "/", ["expect": "the worst"], end: true))
            #expect(caller.next().hasPrefix("3 HEADERS :status: 417 | content-type: application/json | "))
            harness.upstream().expectNobody()
        }
    }
}
