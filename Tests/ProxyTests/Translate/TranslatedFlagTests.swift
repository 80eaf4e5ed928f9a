import HTTP2Kit
import Testing

/// Flags of envelopes that a translation cannot pass on, byte by byte.
@Suite struct TranslatedFlagTests {
    private func configuration(_ speaks: String, _ more: String = "") -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: \(speaks)\(more)}}
        interceptors: []
        types: {files: ["\(TestTypes.path)"]}
        """
    }

    private func text(_ bytes: String) -> [UInt8] { Style.text(Array(bytes.unicodeScalars).map { UInt8($0.value) }) }

    /// The head and the first message of a call in a style, and whether the caller gets `internal`.
    private func ends(_ lines: [String], with code: (name: String, number: Int)) -> Bool {
        lines.joined().contains("grpc-status: \(code.number)") || lines.joined().contains("\"code\":\"\(code.name)\"")
    }

    private static let requests: [(Style, String)] = [
        (.grpc, "connect"), (.grpcWeb, "connect"), (.grpcWebText, "connect"), (.grpc, "grpc_web"), (.grpcWeb, "grpc"),
        (.grpcWebText, "grpc"), (.grpcWebText, "grpc_web"), (.connectStream, "grpc"), (.connectStream, "grpc_web"),
    ]

    @Test(arguments: requests, [(1, false), (1, true), (2, false), (3, false), (0x80, false), (0x81, true), (4, true)])
    func `a request with such a flag is internal, and no message goes upstream`(
        _ way: (style: Style, speaks: String),
        _ flag: (bits: UInt8, saysIdentity: Bool)
    ) {
        runProxy(configuration(way.speaks)) { harness in
            let caller = harness.http2Caller()
            let field = (way.style.encodingField, "identity")
            let head: Frame =
                flag.saysIdentity ? .say(1, way.style.contentType, field) : .say(1, way.style.contentType)
            caller.send(head, .data(1, way.style.framed(Array("{}".utf8), flags: flag.bits), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            harness.settle()
            #expect(upstream.bodyBytes(1) == 0, "\(upstream.rest())")
            let lines = caller.rest()
            let words = "internal"
            let coded = lines.joined()
            let isText = way.style == .grpcWebText
            let expected = isText ? text("grpc-status: 13\r\n").latin1.prefix(8) : ""
            #expect(
                ends(lines, with: (words, 13)) || isText && !expected.isEmpty && !coded.contains("RST"),
                "\(lines)"
            )
        }
    }

    @Test(arguments: ["grpc", "connect"], [1, 2, 0x80] as [UInt8])
    func `a request to this process is internal too`(_ style: String, _ flags: UInt8) {
        let yaml = """
            listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
            mocks: {m: {methods: {pkg.Service/Say: [{respond: {json: {}}}]}}}
            types: {files: ["\(TestTypes.path)"]}
            routes: [{chain: [{mock: m}]}]
            """
        runProxy(yaml) { harness in
            let caller = harness.http2Caller()
            let type = style == "grpc" ? "application/grpc+json" : "application/connect+json"
            caller.send(.say(1, type), .data(1, envelope("{}", flags: flags), end: true))
            harness.settle()
            #expect(ends(caller.rest(), with: ("internal", 13)))
        }
    }

    @Test(
        arguments: [
            ("grpc", "application/grpc-web+json", "application/grpc+json"),
            ("grpc", "application/connect+json", "application/grpc+json"),
            ("grpc", "application/json", "application/grpc+json"),
            ("grpc_web", "application/grpc+json", "application/grpc-web+json"),
            ("grpc_web", "application/connect+json", "application/grpc-web+json"),
            ("grpc_web", "application/json", "application/grpc-web+json"),
        ],
        [(1, nil), (1, "identity"), (2, "gzip"), (4, nil), (0x40, "gzip")] as [(UInt8, String?)]
    )
    func `a response with such a flag is internal for its caller`(
        _ way: (speaks: String, caller: String, upstream: String),
        _ flag: (bits: UInt8, encoding: String?)
    ) {
        runProxy(configuration(way.speaks)) { harness in
            let caller = harness.http2Caller()
            let isUnary = way.caller == "application/json"
            caller.send(.say(1, way.caller, ("accept-encoding", "gzip"), ("grpc-accept-encoding", "gzip")))
            caller.send(.data(1, isUnary ? "{}" : envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let encoding = flag.encoding.map { [("grpc-encoding", $0)] } ?? []
            let fields = [(":status", "200"), ("content-type", way.upstream)] + encoding
            upstream.send(
                Frame(.headers, flags: Frame.Flag.endHeaders, stream: 1, fields.flatMap { HPACK.literal($0.0, $0.1) }),
                .data(1, envelope("secret", flags: flag.bits))
            )
            harness.settle()
            let lines = caller.rest()
            #expect(ends(lines, with: ("internal", 13)), "\(lines)")
            #expect(!lines.joined().contains("secret"), "\(lines)")
        }
    }

    @Test(arguments: [(1, nil), (1, "identity"), (3, nil), (4, nil), (0x80, nil)] as [(UInt8, String?)])
    func `a stream of a Connect server with such a flag is internal`(_ flag: (bits: UInt8, encoding: String?)) {
        runProxy(configuration("connect")) { harness in
            let caller = harness.http2Caller()
            caller.send(
                .headers(
                    1,
                    [
                        ":method": "POST", ":scheme": "http", ":authority": "app", ":path": "/pkg.Service/Talk",
                        "content-type": "application/grpc+json", "te": "trailers",
                    ]
                ),
                .data(1, envelope("{}"), end: true)
            )
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let encoding = flag.encoding.map { [("connect-content-encoding", $0)] } ?? []
            let fields = [(":status", "200"), ("content-type", "application/connect+json")] + encoding
            upstream.send(
                Frame(.headers, flags: Frame.Flag.endHeaders, stream: 1, fields.flatMap { HPACK.literal($0.0, $0.1) }),
                .data(1, envelope("{}", flags: flag.bits), end: true)
            )
            harness.settle()
            #expect(ends(caller.rest(), with: ("internal", 13)))
        }
    }
}
