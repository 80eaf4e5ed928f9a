import Bytes
import Compressors
import HTTP2Kit
import RPC
import Testing

/// The compression of responses that are translated: a caller gets one that it lists, or none.
@Suite struct ResponseCodingTests {
    private func configuration(_ speaks: String) -> String {
        """
        listeners: [{address: "127.0.0.1:8080", proxy_status: off}]
        upstreams: {default: {url: "h2c://127.0.0.1:9000", speaks: \(speaks)}}
        interceptors: []
        types: {files: ["\(TestTypes.path)"]}
        """
    }

    private func packed(_ text: String, _ name: String) -> [UInt8] {
        let queue = ByteQueue()
        Compressor().compress(Array(text.utf8).span, as: Compression(name: Array(name.utf8).span), into: queue)
        return queue.readable.array
    }

    private func head(_ fields: [(String, String)]) -> Frame {
        Frame(.headers, flags: Frame.Flag.endHeaders, stream: 1, fields.flatMap { HPACK.literal($0.0, $0.1) })
    }

    /// The lists of a caller, what the upstream uses, and whether the caller gets it so.
    private static let lists: [(accepted: String?, requested: String?, sent: String, passes: Bool)] = [
        (nil, nil, "gzip", false), (nil, "gzip", "gzip", true), (nil, "GZIP", "gzip", true), (nil, "gzip", "br", false),
        ("gzip", nil, "gzip", true), ("GZIP", nil, "gzip", true), ("x-gzip", nil, "gzip", true),
        ("br", nil, "gzip", false),
        ("br, gzip", nil, "br", true), ("identity", nil, "zstd", false), ("", nil, "deflate", false),
        ("gzip;q=0", nil, "gzip", false), ("*", nil, "zstd", true), ("*;q=0", nil, "gzip", false),
        ("identity", "gzip", "gzip", false), ("gzip, zstd;q=0", nil, "zstd", false),
    ]

    @Test(arguments: lists, ["application/json", "application/connect+json", "application/grpc-web+json"])
    func `a response of a gRPC server`(
        _ list: (accepted: String?, requested: String?, sent: String, passes: Bool),
        _ type: String
    ) {
        let (encoding, accept) =
            type == "application/json"
            ? ("content-encoding", "accept-encoding")
            : type.contains("connect")
                ? ("connect-content-encoding", "connect-accept-encoding") : ("grpc-encoding", "grpc-accept-encoding")
        runProxy(configuration("grpc")) { harness in
            let caller = harness.http2Caller()
            var fields = [
                (":method", "POST"), (":scheme", "http"), (":authority", "app"), (":path", "/pkg.Service/Say"),
                ("content-type", type),
            ]
            if let requested = list.requested { fields.append((encoding, requested)) }
            if let accepted = list.accepted { fields.append((accept, accepted)) }
            let message = list.requested == nil ? Array("{}".utf8) : Gzip.compressed(Array("{}".utf8))
            let flags: UInt8 = list.requested == nil ? 0 : 1
            let body = type == "application/json" ? message : Style.grpc.framed(message, flags: flags)
            caller.send(head(fields), .data(1, body, end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let content = packed("[1]", list.sent)
            upstream.send(
                head([(":status", "200"), ("content-type", "application/grpc+json"), ("grpc-encoding", list.sent)]),
                .data(1, Style.grpc.framed(content, flags: 1)),
                .headers(1, ["grpc-status": "0"], end: true)
            )
            harness.settle()
            let lines = caller.rest()
            #expect(lines[0].contains("\(encoding): \(list.sent)") == list.passes, "\(lines)")
            #expect(lines[0].contains("\(encoding): ") == list.passes, "\(lines)")
            let expected = list.passes ? content : Array("[1]".utf8)
            let wire = type == "application/json" ? expected : Style.grpc.framed(expected, flags: list.passes ? 1 : 0)
            #expect(lines[1].contains(wire.latin1), "\(lines)")
        }
    }

    @Test(arguments: [
        ("gzip", nil, "not gzip", "13"), ("foo", nil, "x", "13"), ("snappy", nil, "x", "13"),
        ("zstd", "gzip", "x", "13"),
        ("br", "identity", "\u{1}\u{2}\u{3}", "13"), ("FOO", "bar", "x", "13"),
    ])
    func `a response that Martlet cannot decompress is internal`(
        _ sent: String,
        _ accepted: String?,
        _ content: String,
        _ code: String
    ) {
        runProxy(configuration("connect")) { harness in
            let caller = harness.http2Caller()
            let list = accepted.map { ("grpc-accept-encoding", $0) } ?? ("x-a", "1")
            caller.send(.say(1, "application/grpc+json", list), .data(1, envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            upstream.send(
                head([(":status", "200"), ("content-type", "application/json"), ("content-encoding", sent)]),
                .data(1, content, end: true)
            )
            harness.settle()
            #expect(caller.rest().joined().contains("grpc-status: \(code)"))
        }
    }

    @Test(arguments: [
        (nil, "gzip", false), (nil, "X-Gzip", false), ("gzip", "GZIP", true), ("gzip", "x-gzip", true),
        ("gzip", "gzip", true),
        ("GZIP", "gzip", true), ("br", "gzip", false),
    ])
    func `a response of a Connect server`(_ accepted: String?, _ sent: String, _ passes: Bool) {
        runProxy(configuration("connect")) { harness in
            let caller = harness.http2Caller()
            let list = accepted.map { ("grpc-accept-encoding", $0) } ?? ("x-a", "1")
            caller.send(.say(1, "application/grpc+json", list), .data(1, envelope("{}"), end: true))
            let upstream = harness.upstream().acceptHTTP2(in: harness)
            _ = (upstream.next(), upstream.next())
            let content = Gzip.compressed(Array("[1]".utf8))
            upstream.send(
                head([(":status", "200"), ("content-type", "application/json"), ("content-encoding", sent)]),
                .data(1, content, end: true)
            )
            harness.settle()
            let lines = caller.rest()
            // gRPC compares the name as it stands, so it has small letters.
            #expect(lines[0].contains("grpc-encoding: gzip") == passes, "\(lines)")
            let wire = Style.grpc.framed(passes ? content : Array("[1]".utf8), flags: passes ? 1 : 0)
            #expect(lines[1].contains(wire.latin1), "\(lines)")
        }
    }

    @Test(arguments: [("GZIP", "gzip"), ("x-gzip", "gzip"), ("Br", "br"), ("ZSTD", "zstd"), ("Lzma", "Lzma")])
    func `the name of the request's compression has small letters for gRPC`(_ name: String, _ expected: String) {
        runProxy(configuration("grpc")) { harness in
            let caller = harness.http2Caller()
            caller.send(.say(1, "application/json", ("content-encoding", name), ("accept-encoding", name)))
            caller.send(.data(1, "zip", end: true))
            let head = harness.upstream().acceptHTTP2(in: harness).next()
            #expect(head.contains("grpc-encoding: \(expected)"), "\(head)")
            #expect(head.contains("grpc-accept-encoding: \(expected)"), "\(head)")
        }
    }
}
