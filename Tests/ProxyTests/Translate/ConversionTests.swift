import HTTP2Kit
import Testing
import Time

/// Calls whose upstream understands another codec, byte by byte.
@Suite struct ConversionTests {
    private static let proto: Frame.Fields = ["content-type": "application/grpc+proto"]
    private static let ok = Frame.headers(1, ["grpc-status": "0"], end: true)
    /// `{name: "a"}`, and `{count: 7}`.
    private static let (named, counted) = ("\n\u{1}a", "\u{10}\u{7}")

    private func configuration(_ more: String = "", limits: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off\(limits)}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: grpc, codecs: [proto]}}
        interceptors: [\(more)]
        types: {files: ["\(TestTypes.path)"]}
        """
    }

    private func unary(_ body: String, _ fields: [String] = []) -> String {
        let head = ["POST /pkg.Service/Say HTTP/1.1", "host: app", "content-type: application/json"] + fields
        return (head + ["content-length: \(body.utf8.count)"]).joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private func begin(_ harness: ProxyHarness, _ request: String) -> (ScriptedPeer, HTTP2Peer) {
        let caller = harness.caller()
        caller.send(request)
        return (caller, harness.upstream().acceptHTTP2(in: harness))
    }

    private func expect(_ caller: ScriptedPeer, _ status: String, _ body: String) {
        let head = caller.head()
        #expect(head.hasPrefix("HTTP/1.1 \(status)"), "\(head)")
        #expect(head.contains("content-type: application/json\r\n"), "\(head)")
        caller.expect(body)
    }

    @Test(arguments: Transport.allCases)
    func `JSON reaches the upstream as Protobuf, and the response is JSON`(_ transport: Transport) {
        let configuration = self.configuration()
        runProxy(transport, configuration) { harness in
            let (caller, upstream) = begin(harness, unary(#"{"name":"a"}"#, ["accept-encoding: gzip"]))
            upstream.expect("1 HEADERS \(control()) | te: trailers | content-type: application/grpc+proto")
            upstream.expect("1 DATA/end \(envelope(Self.named))")
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope(Self.counted)), Self.ok)
            expect(caller, "200 OK", #"{"count":"7"}"#)
        }
    }

    @Test func `a message of a stream is converted when it is whole`() {
        let configuration = self.configuration()
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json"))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains("content-type: application/grpc+proto"))
            let bytes = Array(envelope(#"{"name":"a"}"#).utf8)
            for byte in bytes { caller.send(.data(1, String(decoding: [byte], as: UTF8.self))) }
            upstream.expect("1 DATA \(envelope(Self.named))")
            caller.send(.data(1, envelope(#"{"count":7}"#) + envelope("{}"), end: true))
            upstream.expect("1 DATA/end \(envelope(Self.counted) + envelope(""))")
            upstream.send(.response(1, 200, Self.proto))
            #expect(caller.next().contains("content-type: application/connect+json"))
            let message = envelope(Self.named)
            upstream.send(.data(1, String(message.prefix(4))), .data(1, String(message.dropFirst(4))))
            caller.expect("1 DATA \(envelope(#"{"name":"a"}"#))")
            upstream.send(Self.ok)
            caller.expect("1 DATA/end \(envelope("{}", flags: 2))")
        }
    }

    @Test(arguments: [
        (#"{"nam":1}"#, "400 Bad Request", #"{"code":"invalid_argument","message":"pkg.M: no field \"nam\""}"#),
        ("", "400 Bad Request", #"{"code":"invalid_argument","message":"pkg.M: the JSON ends too early"}"#),
        (
            "{}{", "400 Bad Request",
            #"{"code":"invalid_argument","message":"not valid JSON: unexpected \"{\" at byte 2"}"#
        ),
    ])
    func `a request that is no message is the fault of its caller`(
        _ body: String,
        _ status: String,
        _ json: String
    ) {
        let configuration = self.configuration()
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(harness, unary(body))
            expect(caller, status, json)
            harness.settle()
            #expect(!upstream.frames.contains { $0.kind == .data })
        }
    }

    @Test(arguments: [
        ("\n\u{5}a", "pkg.M: not in the wire format of Protobuf"),
        ("\n\u{1}\u{1}\u{1}", "pkg.M: not in the wire format of Protobuf"),
    ])
    func `a response that is no message is not`(_ message: String, _ problem: String) {
        let configuration = self.configuration()
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope(message)), Self.ok)
            let words = "upstream default: the upstream sent an invalid response: \(problem)"
            expect(caller, "500 Internal Server Error", #"{"code":"internal","message":"\#(words)"}"#)
        }
    }

    @Test func `a compressed message without the name of its compression is an error`() {
        runProxy(configuration()) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc+json"), .data(1, envelope("{}", flags: 1), end: true))
            _ = harness.upstream().acceptHTTP2(in: harness)
            #expect(caller.next().contains("grpc-status: 13"))
        }
    }

    @Test func `a message that is too large in the other codec is rejected`() {
        let configuration = self.configuration(limits: ", limits: {held_message: 40B}")
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            let long = String(repeating: "\n", count: 30)
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope("\n\u{1e}\(long)")), Self.ok)
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 429"), "\(head)")
        }
    }

    @Test func `a method that no file has is unimplemented`() {
        let configuration = self.configuration()
        runProxy(configuration) { harness in
            let caller = harness.caller()
            caller.send(unary("{}").replacing("/Say", with: "/Shout"))
            let words = "it understands proto only, and Martlet does not know the types of /pkg.Service/Shout"
            expect(caller, "501 Not", #"{"code":"unimplemented","message":"upstream default: \#(words)"}"#)
            harness.upstream().expectNobody()
        }
    }

    @Test(arguments: [
        (
            "GET /pkg.Service/Say?connect=v1&encoding=json&message=%7B%7D", "405",
            "may have side effects; send it by POST"
        ),
        ("POST /pkg.Service/Talk", "415", "is a method with streams; send it as application/connect+json"),
    ])
    func `a method is called as its type says`(_ line: String, _ status: String, _ words: String) {
        runProxy(configuration()) { harness in
            let caller = harness.caller()
            let fields = line.hasPrefix("GET") ? "" : "content-type: application/json\r\ncontent-length: 2\r\n"
            caller.send("\(line) HTTP/1.1\r\nhost: app\r\n\(fields)\r\n\(line.hasPrefix("GET") ? "" : "{}")")
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
            #expect(head.contains("allow: POST") == (status == "405"))
            #expect(String(decoding: caller.received, as: UTF8.self).contains(words))
            harness.upstream().expectNobody()
        }
    }

    @Test func `a GET of a method without side effects passes`() {
        runProxy(configuration()) { harness in
            let query = "connect=v1&encoding=json&message=%7B%22count%22:7%7D"
            let (caller, upstream) = begin(harness, "GET /pkg.Service/Read?\(query) HTTP/1.1\r\nhost: app\r\n\r\n")
            _ = upstream.next()
            upstream.expect("1 DATA/end \(envelope(Self.counted))")
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope(Self.counted)), Self.ok)
            expect(caller, "200 OK", #"{"count":"7"}"#)
        }
    }

    @Test func `what has no content type is told so where the method is known`() {
        runProxy(configuration()) { harness in
            let caller = harness.caller()
            caller.send(unary("{}").replacing("application/json", with: "application/x-www-form-urlencoded"))
            #expect(caller.head().hasPrefix("HTTP/1.1 415 "))
            harness.upstream().expectNobody()
        }
    }

    @Test func `what the upstream understands passes as it is, known or not`() {
        let configuration = self.configuration()
        runProxy(configuration) { harness in
            let request = unary("x").replacing("application/json", with: "application/proto").replacing(
                "/Say",
                with: "/Shout"
            )
            let (_, upstream) = begin(harness, request)
            #expect(upstream.next().contains("content-type: application/grpc+proto"))
            upstream.expect("1 DATA/end \(envelope("x"))")
        }
    }

    @Test func `rules on messages see what the caller sees`() {
        let configuration = self.configuration("{message: {on: response, replace: {json: {b: 2}}}}")
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.proto), .data(1, envelope(Self.named)), Self.ok)
            expect(caller, "200 OK", #"{"b":2}"#)
        }
    }

    @Test func `a retry converts the message anew`() {
        let rules = "rules: [{when: {code: unavailable}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        let configuration = self.configuration("{validate: {\(rules)}}")
        runProxy(configuration) { harness in
            let (caller, upstream) = begin(harness, unary(#"{"name":"a"}"#))
            _ = upstream.next()
            upstream.expect("1 DATA/end \(envelope(Self.named))")
            upstream.send(
                .response(1, 200, ["content-type": "application/grpc+proto", "grpc-status": "14"], end: true)
            )
            harness.pass(.seconds(5))
            #expect(upstream.next().hasPrefix("3 HEADERS "))
            upstream.expect("3 DATA/end \(envelope(Self.named))")
            upstream.send(.response(3, 200, Self.proto), .data(3, envelope(Self.counted)))
            upstream.send(.headers(3, ["grpc-status": "0"], end: true))
            expect(caller, "200 OK", #"{"count":"7"}"#)
        }
    }
}
