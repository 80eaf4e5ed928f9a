import Testing

/// What Martlet itself sends as a response, byte for byte, in each protocol.
@Suite struct OwnResponseTests {
    private static let failing = "code: unknown, message: auth token fetch failed"
    private static let detail = "details: [{type: google.rpc.RetryInfo, value: CgIIPA==}]"

    private func reject(_ options: String) -> String {
        "listen: 127.0.0.1:8080\ninterceptors: [{reject: {\(options)}}]\n"
    }

    /// What a call with this content type is answered by a chain that responds.
    private func expect(_ type: String?, _ yaml: String, request: String = "", head: String, body: String) {
        runProxy(yaml) { harness in
            let caller = harness.caller()
            let content = type.map { ["content-type: \($0)"] } ?? []
            let length = "content-length: \(request.utf8.count)"
            let lines = ["POST /pkg.Service/Say HTTP/1.1", "host: a"] + content + [length]
            caller.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + request)
            caller.expect(head)
            caller.expect(bytes(body))
            caller.expectNothing()
        }
    }

    private func hexadecimal(_ text: String) -> String {
        let digits = Array("0123456789abcdef")
        return String(text.utf8.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    @Test func `a Connect unary call gets the error as JSON`() {
        let body = #"{"code":"unknown","message":"auth token fetch failed"}"#
        let head = http("HTTP/1.1 500 Internal Server Error", "content-type: application/json", "content-length: 54")
        expect("application/json", reject(Self.failing), head: head, body: hexadecimal(body))
        expect("application/proto", reject(Self.failing), head: head, body: hexadecimal(body))
    }

    @Test func `a Connect unary call gets details and metadata`() {
        let details = #"[{"type":"google.rpc.RetryInfo","value":"CgIIPA"}]"#
        let body = #"{"code":"unknown","message":"auth token fetch failed","details":\#(details)}"#
        let head = http(
            "HTTP/1.1 500 Internal Server Error",
            "content-type: application/json",
            "x-a: 1",
            "content-length: \(body.utf8.count)"
        )
        let options = "\(Self.failing), \(Self.detail), metadata: {x-a: 1}"
        expect("application/json", reject(options), head: head, body: hexadecimal(body))
    }

    @Test func `a Connect stream gets the error in its last envelope`() {
        let body =
            "02000000407b226572726f72223a7b22636f6465223a22756e6b6e6f776e222c226d657373616765223a"
            + "226175746820746f6b656e206665746368206661696c6564227d7d"
        let head = http("HTTP/1.1 200 OK", "content-type: application/connect+json", "content-length: 69")
        expect("application/connect+json", reject(Self.failing), head: head, body: body)
    }

    @Test(arguments: ["application/grpc+proto", "application/grpc-web+proto", "application/connect+json"])
    func `a call is answered in its own content type, whatever goes upstream`(_ type: String) {
        let chain = "[{probe: {type: text/plain}}, {reject: {\(Self.failing)}}]"
        runProxy("listen: 127.0.0.1:8080\ninterceptors: \(chain)\n") { harness in
            let caller = harness.caller()
            caller.send(
                "POST /pkg.Service/Say HTTP/1.1\r\nhost: a\r\ncontent-type: \(type)\r\ncontent-length: 0\r\n\r\n"
            )
            #expect(caller.head().contains("\r\ncontent-type: \(type)\r\n"))
        }
    }

    @Test func `a gRPC call gets the error in its head`() {
        let head = http(
            "HTTP/1.1 200 OK",
            "content-type: application/grpc+proto",
            "grpc-status: 2",
            "grpc-message: auth token fetch failed",
            "content-length: 0"
        )
        expect("application/grpc+proto", reject(Self.failing), head: head, body: "")
    }

    @Test func `a gRPC-Web call gets the error in the frame of its trailers`() {
        let body =
            "8000000037677270632d7374617475733a20320d0a677270632d6d6573736167653a206175746820746f6b656e2066"
            + "65746368206661696c65640d0a"
        let head = http("HTTP/1.1 200 OK", "content-type: application/grpc-web+proto", "content-length: 60")
        expect("application/grpc-web+proto", reject(Self.failing), head: head, body: body)
    }

    @Test func `a gRPC-Web call in text gets the same in base64`() {
        let body = "gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"
        let head = http("HTTP/1.1 200 OK", "content-type: application/grpc-web-text", "content-length: 80")
        expect("application/grpc-web-text", reject(Self.failing), head: head, body: hexadecimal(body))
    }

    @Test func `a plain call gets the mapped status and the same JSON`() {
        let body = #"{"code":"permission_denied","message":"not from here"}"#
        let head = http("HTTP/1.1 403 Forbidden", "content-type: application/json", "content-length: 54")
        let yaml = reject("code: permission_denied, message: not from here")
        expect("text/plain", yaml, head: head, body: hexadecimal(body))
        expect(nil, yaml, head: head, body: hexadecimal(body))
    }

    @Test func `a canned message is in the protocol of the caller`() {
        let yaml = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {json: {a: 1}}}]\n"
        let json = hexadecimal(#"{"a":1}"#)
        let plainHead = http("HTTP/1.1 200 OK", "content-type: application/json", "content-length: 7")
        expect("application/json", yaml, head: plainHead, body: json)
        expect(nil, yaml, head: plainHead, body: json)
        let streamHead = http("HTTP/1.1 200 OK", "content-type: application/connect+json", "content-length: 19")
        let message = "\0\0\0\0\u{2}{}"
        expect(
            "application/connect+json",
            yaml,
            request: message,
            head: streamHead,
            body: "0000000007" + json + "02000000027b7d"
        )
        expect(
            "application/grpc-web+json",
            yaml,
            request: message,
            head: http("HTTP/1.1 200 OK", "content-type: application/grpc-web+json", "content-length: 33"),
            body: "0000000007" + json + "8000000010677270632d7374617475733a20300d0a"
        )
    }

    @Test func `a canned message responds to one message, neither none nor two`() {
        let yaml = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {json: {a: 1}}}]\n"
        for (count, request) in [(0, ""), (2, "\0\0\0\0\0\0\0\0\0\0")] {
            let end =
                #"{"error":{"code":"unimplemented","message":"the request has \#(count) messages, but the method takes one"}}"#
            let length = String(end.utf8.count, radix: 16)
            let head = http(
                "HTTP/1.1 200 OK",
                "content-type: application/connect+json",
                "content-length: \(end.utf8.count + 5)"
            )
            let body = "02000000" + (length.count < 2 ? "0" : "") + length + hexadecimal(end)
            expect("application/connect+json", yaml, request: request, head: head, body: body)
        }
    }

    @Test func `a request that is no call is rejected by a canned message`() {
        let yaml = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {json: {a: 1}}}]\n"
        let body =
            #"{"code":"unknown","message":"the content type is not an RPC content type; use for example application/json"}"#
        let head = http(
            "HTTP/1.1 415 Unsupported Media Type",
            "content-type: application/json",
            "content-length: \(body.utf8.count)"
        )
        expect("image/jpeg", yaml, head: head, body: hexadecimal(body))
    }

    @Test func `a canned message is rejected to a caller who does not speak JSON`() {
        let yaml = "listen: 127.0.0.1:8080\ninterceptors: [{respond: {json: {a: 1}}}]\n"
        let body = #"{"code":"unimplemented","message":"the configured response is JSON, but the caller uses proto"}"#
        let head = http(
            "HTTP/1.1 501 Not Implemented",
            "content-type: application/json",
            "content-length: \(body.utf8.count)"
        )
        expect("application/proto", yaml, head: head, body: hexadecimal(body))
    }

    @Test func `a plain canned response is as it was written`() {
        let yaml =
            "listen: 127.0.0.1:8080\ninterceptors: [{respond: {status: 404, headers: {x-a: b}, body: nothing here}}]\n"
        let head = http("HTTP/1.1 404 Not Found", "x-a: b", "content-length: 12")
        expect(nil, yaml, head: head, body: hexadecimal("nothing here"))
    }

    @Test func `a call that no route takes is reported so`() {
        let yaml = plain + "\nroutes: [{match: {path: /only}}]\n"
        let body = #"{"code":"unimplemented","message":"no route for /pkg.Service/Say"}"#
        let length = "content-length: \(body.utf8.count)"
        let head = http("HTTP/1.1 404 Not Found", "content-type: application/json", length)
        expect("application/json", yaml, head: head, body: hexadecimal(body))
        expect("application/connect+json", yaml, head: head, body: hexadecimal(body))
        let status = http(
            "HTTP/1.1 200 OK",
            "content-type: application/grpc",
            "grpc-status: 12",
            "grpc-message: no route for /pkg.Service/Say",
            "content-length: 0"
        )
        expect("application/grpc", yaml, head: status, body: "")
    }

    @Test func `the response to HEAD has no body`() {
        runProxy(reject("code: not_found, message: no")) { harness in
            let caller = harness.caller()
            caller.send(http("HEAD /p HTTP/1.1", "host: a"))
            caller.expect(http("HTTP/1.1 404 Not Found", "content-type: application/json", "content-length: 35"))
            caller.expectNothing()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a request that is no request is rejected as plain HTTP`(_ transport: Transport) {
        runProxy(transport, plain) { harness in
            let caller = harness.caller()
            caller.send(http("GET /p HTTP/1.1"))
            let body = #"{"code":"invalid_argument","message":"the Host header is missing"}"#
            let lines = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
            caller.expect(lines + "content-length: \(body.utf8.count)\r\n\r\n" + body)
            caller.expectEnd()
            harness.upstream().expectNobody()
        }
    }
}
