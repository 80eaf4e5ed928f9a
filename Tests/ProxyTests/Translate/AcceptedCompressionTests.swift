import HTTP2Kit
import Testing
import Time

@testable import Proxy

/// Upstreams that do not understand every compression.
@Suite struct AcceptedCompressionTests {
    private static let acceptFields: [Style: String] = [
        .connectUnary: "accept-encoding", .connectStream: "connect-accept-encoding", .grpc: "grpc-accept-encoding",
        .grpcWeb: "grpc-accept-encoding", .grpcWebText: "grpc-accept-encoding",
    ]

    // MARK: Messages

    @Test(arguments: ["[]", "[identity]", "identity", "[br, zstd]"])
    func `messages that the upstream does not understand are decompressed`(_ compressions: String) {
        runCall("", upstream: "compressions: \(compressions)", gzip: true) { call in
            call.begin(("content-length", "\(call.written("hello").count)"))
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            let head = call.upstreamFrames.head
            #expect(head[call.style.encodingField] == nil, "\(call.style)")
            #expect(head["content-length"] == (call.style == .connectUnary ? "5" : nil), "\(call.style)")
            call.respond()
            call.reply("hi")
            call.conclude()
            call.callerReceives("head", "message* hi", "end ok")
            call.expectSilence()
        }
    }

    @Test(arguments: ["[gzip]", "gzip", "[br, gzip]"])
    func `messages that the upstream understands pass byte for byte`(_ compressions: String) {
        runCall("", upstream: "compressions: \(compressions)", gzip: true) { call in
            let body = call.written("hello")
            call.begin(("content-length", "\(body.count)"))
            for byte in body { call.caller.send(.data(1, [byte])) }
            call.hangUp()
            call.accept()
            call.upstreamReceives("head", "message* hello", "end")
            #expect(call.upstreamFrames.body == body)
            #expect(call.upstreamFrames.head[call.style.encodingField] == "gzip")
            #expect(call.upstreamFrames.head["content-length"] == "\(body.count)")
        }
    }

    @Test func `each message of a stream is decompressed when it is whole, however it is cut`() {
        runCall("", in: Style.streams, upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.accept()
            call.upstreamReceives("head")
            for byte in call.written("one") { call.caller.send(.data(1, [byte])) }
            call.upstreamReceives("message one")
            call.caller.send(.data(1, call.style.framed("plain".latin1)))
            call.upstreamReceives("message plain")
            let both = call.written("two") + call.written("")
            call.caller.send(.data(1, Array(both.dropLast(3))))
            call.upstreamReceives("message two")
            call.caller.send(.data(1, Array(both.suffix(3)), end: true))
            call.upstreamReceives("message ", "end")
        }
    }

    @Test func `messages that become more than the memory of all calls end their call`() {
        runCall("", in: Style.streams, upstream: "compressions: []", gzip: true) { call in
            call.harness.worker.context.memory.limit = 2 << 20
            call.begin()
            call.accept()
            call.upstreamReceives("head")
            let large = call.written(String(repeating: "a", count: 2 << 20))
            call.caller.send(.data(1, (0..<4).flatMap { _ in large }))
            let words = "Martlet has reached its memory limit (limits.memory)"
            call.callerReceives("head", "end resource_exhausted \(words)")
            #expect(!call.harness.metrics("martlet_limit_hits_total{limit=\"memory\"} 1").isEmpty)
        }
    }

    @Test func `a request without messages stays one`() {
        runCall("", in: Style.streams, upstream: "compressions: []", gzip: true) { call in
            call.begin(end: true)
            call.accept()
            call.upstreamReceives("head", "end")
            #expect(call.upstreamFrames.body == [])
        }
    }

    @Test func `a message without bytes is not compressed, whatever its head says`() {
        runCall("", in: [.connectUnary], upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.hangUp()
            call.accept()
            call.upstreamReceives("head", "message ", "end")
            #expect(call.upstreamFrames.head["content-encoding"] == nil)
        }
    }

    @Test func `a message that has been changed is not compressed either`() {
        let upper = "{name: a, gate: {upper: true, sees: [request message]}}"
        runCall(upper, upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message HELLO", "end")
        }
    }

    // MARK: What cannot be decompressed

    @Test func `a compression that nobody knows is unimplemented`() {
        for (name, words) in [("snappy", "the compression snappy"), ("lzma", "the compression of the message")] {
            runCall("", upstream: "compressions: [gzip]") { call in
                call.begin((call.style.encodingField, name))
                call.caller.send(.data(1, call.style.framed([1, 2, 3], flags: 1), end: true))
                call.accept()
                let error = "the upstream does not understand \(words), and Martlet cannot decompress it"
                let end = "end unimplemented \(error); use gzip, br, zstd or deflate"
                call.callerReceives("head", end)
            }
        }
    }

    @Test func `a broken message is its sender's fault`() {
        runCall("", upstream: "compressions: []") { call in
            call.begin((call.style.encodingField, "gzip"))
            call.caller.send(.data(1, call.style.framed([1, 2, 3], flags: 1), end: true))
            call.accept()
            call.callerReceives("head", "end invalid_argument a request message cannot be decompressed")
        }
    }

    @Test func `a request that breaks off is its sender's fault`() {
        runCall("", in: [.connectStream, .grpc, .grpcWeb], upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.caller.send(.data(1, Array(call.written("hello").dropLast()), end: true))
            call.accept()
            call.callerReceives("head", "end invalid_argument the request ends in the middle of a message")
        }
    }

    @Test func `what is held is bounded`() {
        let listener = "limits: {held_message: 64B}"
        runCall("", listener: listener, upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.say(String(repeating: "x", count: 65), end: true)
            call.accept()
            let words = "a request message exceeds limits.held_message (64 bytes) when decompressed"
            call.callerReceives("head", "end resource_exhausted \(words)")
            let counted = call.harness.metrics("martlet_limit_hits_total{limit=\"held_message\"}")
            #expect(counted.first?.hasSuffix(" 1") == true)
        }
        runCall("", in: [.connectUnary], listener: listener, upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.caller.send(.data(1, [UInt8](repeating: 0x78, count: 65)))
            call.accept()
            let words = "a request message exceeds limits.held_message (64 bytes)"
            call.callerReceives("head", "end resource_exhausted \(words)")
        }
    }

    // MARK: What responses may be compressed with

    @Test(arguments: [
        ("gzip", "[gzip]", "gzip"), ("gzip, br", "[gzip]", "gzip"),
        ("br,gzip;q=0.5,zstd", "[gzip, zstd]", "gzip;q=0.5, zstd"),
        ("GZIP", "[gzip]", "GZIP"), ("br", "[gzip]", "identity"), ("gzip", "[]", "identity"),
        ("identity, gzip", "[identity]", "identity"), ("br;q=1, *;q=0.1", "[gzip]", "identity;q=0.1, gzip;q=0.1"),
        ("lzma", "[]", "identity"), ("identity", "[]", "identity"),
    ])
    func `a request accepts what both sides understand`(_ sent: String, _ compressions: String, _ expected: String) {
        runCall("", on: [.memory], upstream: "compressions: \(compressions)") { call in
            let field = Self.acceptFields[call.style]!
            call.begin((field, sent))
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            #expect(call.upstreamFrames.head[field] == expected, "\(call.style)")
        }
    }

    @Test func `a request that accepts nothing by name still does not`() {
        runCall("", on: [.memory], upstream: "compressions: []", gzip: true) { call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            #expect(call.upstreamFrames.head[Self.acceptFields[call.style]!] == nil, "\(call.style)")
        }
    }

    @Test func `plain HTTP has no messages`() {
        let yaml = "listen: 127.0.0.1:8080\nupstreams: {default: {url: \"http://127.0.0.1:9000\", compressions: []}}"
        runProxy(yaml) { harness in
            let caller = harness.caller()
            let fields = [
                "content-type: text/plain", "content-encoding: gzip", "accept-encoding: br", "content-length: 2",
            ]
            caller.send((["PUT /a HTTP/1.1", "host: app"] + fields).joined(separator: "\r\n") + "\r\n\r\nhi")
            let head = harness.upstream().accept().head()
            for field in fields { #expect(head.contains("\(field)\r\n"), "\(head)") }
        }
    }

    // MARK: HTTP/1.1

    private static let http1 = "upstreams: {default: {url: \"http://127.0.0.1:9000\", compressions: []}}"

    @Test(arguments: Transport.allCases)
    func `a unary request over HTTP 1 is decompressed`(_ transport: Transport) {
        runProxy(transport, "listen: 127.0.0.1:8080\n\(Self.http1)") { harness in
            let caller = harness.caller()
            let message = Gzip.compressed("hello".latin1)
            let fields = ["content-type: application/json", "content-encoding: gzip", "accept-encoding: gzip, br"]
            let lines = ["POST /pkg.Service/Say HTTP/1.1", "host: app"] + fields + ["content-length: \(message.count)"]
            var upstream: ScriptedPeer?
            for _ in 0..<2 {
                caller.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + message)
                let peer = upstream ?? harness.upstream().accept()
                upstream = peer
                peer.expect(
                    http(
                        "POST /pkg.Service/Say HTTP/1.1",
                        "host: 127.0.0.1:9000",
                        "content-type: application/json",
                        "accept-encoding: identity",
                        "content-length: 5",
                        body: "hello"
                    )
                )
                peer.send(fine)
                #expect(caller.head().hasPrefix("HTTP/1.1 200 OK"))
                caller.expect("{}")
            }
        }
    }

    @Test func `the message of a GET is decompressed in its query`() {
        runProxy("listen: 127.0.0.1:8080\n\(Self.http1)") { harness in
            let caller = harness.caller()
            let message = Style.text(Gzip.compressed("hello".latin1)).latin1
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            let query = "connect=v1&base64=1&compression=gzip&encoding=json&x=1&message=\(message)"
            caller.send(http("GET /pkg.Service/Say?\(query) HTTP/1.1", "host: app"))
            let peer = harness.upstream().accept()
            let target = "/pkg.Service/Say?connect=v1&base64=1&encoding=json&message=aGVsbG8&x=1"
            peer.expect(http("GET \(target) HTTP/1.1", "host: 127.0.0.1:9000"))
            peer.send(fine)
            #expect(caller.head().hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    // MARK: Translated calls

    @Test(arguments: [Style.connectUnary, .connectStream, .grpcWeb, .grpcWebText])
    func `a call in another protocol is decompressed as well`(_ style: Style) {
        runProxy(translating("grpc")) { harness in
            let call = CallScript(harness, style, gzip: true)
            call.begin((Self.acceptFields[style]!, "gzip, br"))
            call.say("hello", end: true)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = upstream.next()
            #expect(head.contains("content-type: application/grpc+json"), "\(head)")
            #expect(head.contains(" | grpc-accept-encoding: br"), "\(head)")
            #expect(!head.contains("grpc-encoding"), "\(head)")
            upstream.expect("1 DATA/end \(envelope("hello"))")
        }
    }

    @Test func `a call to Connect is decompressed as well`() {
        runProxy(translating("connect")) { harness in
            let call = CallScript(harness, .grpc, gzip: true)
            call.begin()
            call.say("{}", end: true)
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            let head = upstream.next()
            #expect(head.contains(" | content-length: 2"), "\(head)")
            #expect(!head.contains("content-encoding"), "\(head)")
            upstream.expect("1 DATA/end {}")
        }
    }

    private func translating(_ speaks: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: \(speaks), compressions: [br]}}
        types: {files: ["\(TestTypes.path)"]}
        """
    }

    @Test func `a retry decompresses the message again`() {
        let rules = "rules: [{when: {code: unavailable}, retry: {allow_non_idempotent: true}}], max_retries: 1"
        runCall("{validate: {\(rules)}}", in: [.grpc], on: [.memory], upstream: "compressions: []", gzip: true) {
            call in
            call.begin()
            call.say("hello", end: true)
            call.accept()
            call.upstreamReceives("head", "message hello", "end")
            call.fail("unavailable", "no", 14)
            call.harness.pass(.seconds(5))
            call.accept(on: call.upstream, stream: 3)
            call.upstreamReceives("head", "message hello", "end")
        }
    }
}
