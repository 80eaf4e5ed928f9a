import HTTP2Kit
import Testing
import Time

/// Calls whose upstream speaks gRPC, byte by byte.
@Suite struct TranslationTests {
    private static let configuration = """
        listen: 127.0.0.1:8080
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: grpc}}
        interceptors: [{metrics: {}}, {probe: {}}]
        """
    private static let limited = configuration.replacing(
        "listen: 127.0.0.1:8080",
        with: "listeners: [{address: \"127.0.0.1:8080\", proxy_status: off, limits: {held_message: 10B}}]"
    )
    private static let head = "\(control()) | te: trailers | "
    private static let grpc: Frame.Fields = ["content-type": "application/grpc+json"]
    private static let ok = Frame.headers(1, ["grpc-status": "0"], end: true)

    /// A caller over HTTP/1.1 that has sent a request, and the upstream that has accepted a connection.
    private func begin(_ harness: ProxyHarness, _ request: String) -> (ScriptedPeer, HTTP2Peer) {
        let caller = harness.caller()
        caller.send(request)
        return (caller, harness.upstream().acceptHTTP2(in: harness))
    }

    private func unary(_ body: String, _ fields: [String] = [], length: Bool = true) -> String {
        let framing = length ? "content-length: \(body.utf8.count)" : "transfer-encoding: chunked"
        let head = ["POST /pkg.Service/Say HTTP/1.1", "host: app", "content-type: application/json", framing] + fields
        let chunk = "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
        return head.joined(separator: "\r\n") + "\r\n\r\n" + (length ? body : chunk)
    }

    /// The response over HTTP/1.1, with these fields and that of the probe.
    private func expect(_ caller: ScriptedPeer, _ status: String, _ fields: [String], _ body: String) {
        let lines = caller.head().split(separator: "\r\n").map(String.init)
        #expect(lines.first == "HTTP/1.1 \(status)")
        let all = fields + ["content-length: \(body.utf8.count)", "x-trace: probe"]
        #expect(lines.dropFirst().sorted() == all.sorted())
        caller.expect(body)
    }

    // MARK: Connect, one message each way

    @Test(arguments: Transport.allCases, [true, false])
    func `a unary call of Connect`(_ transport: Transport, _ saysLength: Bool) {
        runProxy(transport, Self.configuration) { harness in
            let accepted = "accept-encoding: gzip;q=0.5, br;q=0, *"
            let more = ["connect-protocol-version: 1", "connect-timeout-ms: 1000", accepted, "accept-encoding: zstd"]
            let request = unary("{}", more, length: saysLength)
            let (caller, upstream) = begin(harness, request)
            let fields = "content-type: application/grpc+json | x-trace: probe | grpc-timeout: 1000m"
            upstream.expect("1 HEADERS \(Self.head)\(fields) | grpc-accept-encoding: gzip,zstd")
            upstream.expect("1 DATA/end \(envelope("{}"))")
            upstream.send(.response(1, 200, ["content-type": "application/grpc+json", "x-a": "1"]))
            upstream.send(
                .data(1, envelope("[]")),
                .headers(1, ["grpc-status": "0", "x-cost": "3", "x-cost": "4"], end: true)
            )
            let trailers = ["trailer-x-cost: 3", "trailer-x-cost: 4"]
            expect(caller, "200 OK", ["content-type: application/json", "x-a: 1"] + trailers, "[]")
            #expect(
                harness.metrics(#"martlet_translated_total{from="connect",to="grpc"}"#).first?.hasSuffix(" 1") == true
            )
        }
    }

    @Test func `the message of a GET goes in an envelope`() {
        runProxy(Self.configuration) { harness in
            let query = "connect=v1&encoding=json&base64=1&message=e30"
            let (caller, upstream) = begin(harness, "GET /pkg.Service/Say?\(query) HTTP/1.1\r\nhost: app\r\n\r\n")
            upstream.expect("1 HEADERS \(Self.head)x-trace: probe | content-type: application/grpc+json")
            upstream.expect("1 DATA/end \(envelope("{}"))")
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("[]")), Self.ok)
            expect(caller, "200 OK", ["content-type: application/json"], "[]")
        }
    }

    @Test func `compressed messages are marked as such on both sides`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, unary("zip", ["content-encoding: gzip"]))
            #expect(upstream.next().contains(" | grpc-encoding: gzip"))
            upstream.expect("1 DATA/end \(envelope("zip", flags: 1))")
            upstream.send(.response(1, 200, ["content-type": "application/grpc+json", "grpc-encoding": "gzip"]))
            upstream.send(.data(1, envelope("zap", flags: 1)), Self.ok)
            expect(caller, "200 OK", ["content-type: application/json", "content-encoding: gzip"], "zap")
        }
    }

    /// What an upstream sends, and the status and the JSON that the caller gets.
    static let faults: [([Frame], String, String)] = [
        // The outcome is in the head, and an empty body follows.
        (
            [
                .response(1, 200, ["content-type": "application/grpc+json", "grpc-status": "5", "x-a": "1"]),
                .data(1, "", end: true),
            ],
            "404", #"{"code":"not_found"}"#
        ),
        (
            [.response(1, 200, grpc, end: true)], "500",
            #"{"code":"unknown","message":"the upstream did not say how the call ended"}"#
        ),
        (
            [.response(1, 502, ["content-type": "text/html"]), .data(1, "<html>", end: true)], "503",
            #"{"code":"unavailable","message":"the upstream responded with HTTP status 502"}"#
        ),
        (
            [.response(1, 200, grpc), ok], "501",
            #"{"code":"unimplemented","message":"the response has 0 messages, but the call is unary"}"#
        ),
        (
            [.response(1, 200, grpc), .data(1, envelope("{}") + envelope("{}")), ok], "501",
            #"{"code":"unimplemented","message":"the response has 2 messages, but the call is unary"}"#
        ),
        (
            [
                .response(
                    1,
                    200,
                    ["content-type": "application/grpc+json", "grpc-status": "5", "grpc-message": "no%20way"],
                    end: true
                )
            ],
            "404", #"{"code":"not_found","message":"no way"}"#
        ),
        // google.rpc.Status of the same code with one detail, and of another code.
        (
            [
                .response(1, 200, grpc),
                .headers(1, ["grpc-status": "5", "grpc-status-details-bin": "CAUaCAoDYS9iEgFj"], end: true),
            ],
            "404", #"{"code":"not_found","details":[{"type":"b","value":"Yw"}]}"#
        ),
        (
            [
                .response(1, 200, grpc),
                .headers(1, ["grpc-status": "5", "grpc-status-details-bin": "CAYaCAoDYS9iEgFj"], end: true),
            ],
            "404", #"{"code":"not_found"}"#
        ),
    ]

    @Test(arguments: faults.indices)
    func `an error of the upstream is one of Connect`(_ index: Int) {
        let (frames, status, json) = Self.faults[index]
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            for frame in frames { upstream.send(frame) }
            let head = caller.head()
            #expect(head.hasPrefix("HTTP/1.1 \(status) "), "\(head)")
            #expect(head.contains("\r\ncontent-type: application/json\r\n"), "\(head)")
            caller.expect(json)
            caller.expectNothing()
        }
    }

    // MARK: Limits and what is wrong with a request

    @Test func `a length that no message can have is not believed`() {
        runProxy(
            Self.configuration.replacing("h2c:", with: "http:").replacing("speaks: grpc", with: "speaks: grpc_web")
        ) {
            let caller = $0.caller()
            let head = ["POST /pkg.Service/Say HTTP/1.1", "host: app", "content-type: application/json"]
            caller.send((head + ["content-length: \(Int.max)"]).joined(separator: "\r\n") + "\r\n\r\n{}")
            let sent = $0.upstream().accept().head()
            #expect(sent.contains("content-type: application/grpc-web+json"), "\(sent)")
            #expect(!sent.contains("content-length"), "\(sent)")
        }
    }

    @Test func `the body of a GET is not another message`() {
        runProxy(Self.configuration) { harness in
            let target = "/pkg.Service/Say?connect=v1&encoding=json&message=%7B%7D"
            let body = envelope("[]")
            let head = [
                "GET \(target) HTTP/1.1", "host: app", "content-encoding: gzip", "grpc-encoding: gzip",
                "content-length: \(body.utf8.count)",
            ]
            let (_, upstream) = begin(harness, head.joined(separator: "\r\n") + "\r\n\r\n" + body)
            let sent = upstream.next()
            #expect(sent.hasPrefix("1 HEADERS ") && !sent.contains("encoding"), "\(sent)")
            harness.settle()
            #expect(upstream.bodyBytes(1) == 7)
            #expect(upstream.frames.first { $0.kind == .data }?.payload.first == 0)
        }
    }

    @Test(arguments: [
        ("encoding=json&message=%zz", "400"), ("encoding=json&message=%7B%7D&compression=lz4", "501"),
        ("encoding=json%0d%0ax:%20y&message=%7B%7D", "400"), ("message=%7B%7D", "400"),
    ])
    func `a bad query is rejected before a connection is made`(_ query: String, _ status: String) {
        runProxy(Self.configuration) { harness in
            let caller = harness.caller()
            caller.send("GET /pkg.Service/Say?connect=v1&\(query) HTTP/1.1\r\nhost: app\r\n\r\n")
            #expect(caller.head().hasPrefix("HTTP/1.1 \(status) "))
            harness.upstream().expectNobody()
        }
    }

    @Test func `a message without a length is held up to the limit`() {
        runProxy(Self.limited) { harness in
            let (caller, upstream) = begin(harness, unary("01234567890", length: false))
            _ = upstream.next()
            upstream.expect("1 RST_STREAM CANCEL")
            let message = "a request message exceeds limits.held_message (10 bytes)"
            #expect(caller.head().hasPrefix("HTTP/1.1 429 "))
            caller.expect("{\"code\":\"resource_exhausted\",\"message\":\"\(message)\"}")
            #expect(harness.metrics(#"martlet_limit_hits_total{limit="held_message"}"#).first?.hasSuffix(" 1") == true)
        }
    }

    @Test func `a response that has to be held is held up to the limit`() {
        runProxy(Self.limited) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("01234567890")))
            #expect(caller.head().hasPrefix("HTTP/1.1 429 "))
            upstream.expect("1 RST_STREAM CANCEL")
        }
    }

    @Test func `text that is not base64 is rejected`() {
        runProxy(Self.configuration) { harness in
            let head = "POST /pkg.Service/Say HTTP/1.1\r\nhost: app\r\ncontent-type: application/grpc-web-text+json"
            let (caller, upstream) = begin(harness, head + "\r\ncontent-length: 5\r\n\r\nAAAA!")
            _ = upstream.next()
            upstream.expect("1 RST_STREAM CANCEL")
            #expect(caller.head().contains("content-type: application/grpc-web-text+json"))
        }
    }

    // MARK: Streams

    @Test(arguments: Transport.allCases)
    func `a stream of Connect passes message by message`(_ transport: Transport) {
        runProxy(transport, Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json", ("connect-accept-encoding", "gzip")))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            #expect(upstream.next().contains(" | grpc-accept-encoding: gzip"))
            caller.send(.data(1, envelope("one")))
            upstream.expect("1 DATA \(envelope("one"))")
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("two")))
            caller.expect("1 HEADERS :status: 200 | content-type: application/connect+json | x-trace: probe")
            caller.expect("1 DATA \(envelope("two"))")
            caller.send(.data(1, "", end: true))
            upstream.expect("1 DATA/end ")
            upstream.send(.headers(1, ["grpc-status": "9", "grpc-message": "no", "x-a": "1"], end: true))
            let json = #"{"error":{"code":"failed_precondition","message":"no"},"metadata":{"x-a":["1"]}}"#
            caller.expect("1 DATA/end \(envelope(json, flags: 2))")
        }
    }

    @Test func `a stream that ends within a message is broken off`() {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(.response(1, 200, Self.grpc), .data(1, String(envelope("two").dropLast())), Self.ok)
            caller.expect("1 HEADERS :status: 200 | content-type: application/connect+json | x-trace: probe")
            caller.expect("1 DATA \(String(envelope("two").dropLast()))")
            caller.expect("1 RST_STREAM INTERNAL_ERROR")
            #expect(harness.eventLog.drain().last == "probe finished internal by martlet")
        }
    }

    @Test func `a page in place of a stream is an error, and its fields stay`() {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            upstream.send(
                .response(1, 503, ["content-type": "text/html", "retry-after": "1"]),
                .data(1, "<p>", end: true)
            )
            let head = caller.next()
            #expect(head.hasPrefix("1 HEADERS :status: 200 | content-type: application/connect+json"), "\(head)")
            #expect(head.contains("retry-after: 1"), "\(head)")
            let json = #"{"error":{"code":"unavailable","message":"the upstream responded with HTTP status 503"}}"#
            caller.expect("1 DATA/end \(envelope(json, flags: 2))")
        }
    }

    @Test(arguments: ["grpc-status: 0", "grpc-status: 7"])
    func `trailers in the head are trailers of the caller`(_ status: String) {
        runProxy(Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/connect+json", end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = upstream.next()
            let code = String(status.last!)
            let fields: Frame.Fields = ["content-type": "application/grpc+json", "grpc-status": code, "x-a": "1"]
            upstream.send(.response(1, 200, fields, end: true))
            caller.expect("1 HEADERS :status: 200 | content-type: application/connect+json | x-trace: probe")
            let error = code == "0" ? "" : #""error":{"code":"permission_denied"},"#
            caller.expect("1 DATA/end \(envelope("{\(error)\"metadata\":{\"x-a\":[\"1\"]}}", flags: 2))")
        }
    }

    // MARK: Beside other features

    @Test(arguments: Transport.allCases)
    func `a retry begins the translation anew`(_ transport: Transport) {
        let rules = "rules: [{when: {code: unavailable}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        let configuration = validating(rules, upstream: "h2c://127.0.0.1:9000", more: "speaks: grpc")
        runProxy(transport, configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}", length: false))
            _ = upstream.next()
            upstream.expect("1 DATA/end \(envelope("{}"))")
            upstream.send(.response(1, 200, ["content-type": "application/grpc+json", "grpc-status": "14"], end: true))
            harness.pass(.seconds(5))
            #expect(upstream.next().hasPrefix("3 HEADERS "))
            upstream.expect("3 DATA/end \(envelope("{}"))")
            upstream.send(.response(3, 200, Self.grpc), .data(3, envelope("[]")))
            upstream.send(.headers(3, ["grpc-status": "0"], end: true))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\n"))
            caller.expect("[]")
            #expect(harness.ruleRetries == "1")
        }
    }

    @Test(arguments: Transport.allCases)
    func `an upstream that takes nothing holds the caller of a stream back`(_ transport: Transport) {
        runProxy(transport, Self.configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.window(0, 1 << 30), .say(1, "application/connect+json"))
            let upstream = harness.upstream().acceptHTTP2(in: harness, [.window: 0])
            _ = upstream.next()
            let sent = caller.send(body: 16 << 20, on: 1)
            #expect(sent <= 400 * 1024 && sent >= 128 * 1024, "\(sent)")
            upstream.send(.window(0, 1 << 30), .window(1, 16 << 20))
            harness.until { upstream.bodyBytes(1) == sent }
            #expect(upstream.bodyBytes(1) == sent)
        }
    }

    @Test func `rules on messages see what the caller sees`() {
        let rule = "interceptors: [{message: {on: response, replace: {json: {b: 2}}}}, "
        runProxy(Self.configuration.replacing("interceptors: [", with: rule)) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("{}")), Self.ok)
            expect(caller, "200 OK", ["content-type: application/json"], #"{"b":2}"#)
        }
    }

    @Test func `a reload leaves calls the translation they began with`() {
        runProxy(Self.configuration) { harness in
            let (caller, upstream) = begin(harness, unary("{}"))
            _ = (upstream.next(), upstream.next())
            harness.use(Self.configuration.replacing(", speaks: grpc", with: ""))
            upstream.send(.response(1, 200, Self.grpc), .data(1, envelope("[]")), Self.ok)
            expect(caller, "200 OK", ["content-type: application/json"], "[]")
            caller.send(unary("{}"))
            let next = harness.upstream().acceptHTTP2(in: harness)
            #expect(next.next().contains("content-type: application/json"))
        }
    }

    // MARK: What cannot be

    @Test func `what has to be told apart for Connect is unimplemented`() {
        let configuration = Self.configuration.replacing("speaks: grpc", with: "speaks: connect")
        runProxy(configuration) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/grpc", end: true))
            #expect(caller.next().contains("grpc-status: 12 | grpc-message: upstream default: it speaks Connect"))
            harness.upstream().expectNobody()
        }
    }

    @Test func `plain HTTP and what the upstream speaks pass as they are`() {
        runProxy(Self.configuration.replacing("speaks: grpc", with: "speaks: [grpc, connect]")) { harness in
            let (caller, upstream) = begin(harness, unary("{}", ["connect-protocol-version: 1"]))
            #expect(upstream.next().contains("content-type: application/json"))
            upstream.expect("1 DATA/end {}")
            upstream.send(.response(1, 200, ["content-type": "application/json"]), .data(1, "[]", end: true))
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"))
            caller.expect("2\r\n[]\r\n0\r\n\r\n")
        }
    }
}
