import Protocols
import RPC
import Testing

/// A response of an upstream, and what a reader makes of it.
struct Response: Sendable {
    var rpcProtocol: RPCProtocol
    var codec = Codec.proto
    var status = 200
    var contentType: String?
    var encoding: String?
    var headerStatus: String?
    var body: [UInt8] = []
    var trailerStatus: String?
    var message: String?
    var hasTrailers = false

    /// What is concluded if the body comes in two pieces.
    func read(cutAt cut: Int = 0) -> (conclusion: Conclusion, messages: Int) {
        let (type, header, trailer, text) = (
            contentType?.bytes, headerStatus?.bytes, trailerStatus?.bytes, message?.bytes
        )
        var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: codec)
        reader.head(
            status: status,
            contentType: type?.span,
            compression: encoding.map { Compression(name: $0.bytes.span) } ?? .identity,
            grpcStatus: header?.span,
            grpcMessage: text?.span
        )
        reader.body(body.span.extracting(..<cut))
        reader.body(body.span.extracting(cut...))
        let conclusion = reader.end(
            trailerGRPCStatus: trailer?.span,
            trailerGRPCMessage: text?.span,
            hasTrailers: hasTrailers || trailer != nil
        )
        return (conclusion, reader.messages)
    }

    /// What is concluded, wherever the body is cut.
    var conclusion: Conclusion {
        let whole = read().conclusion
        for cut in 0...body.count { #expect(read(cutAt: cut).conclusion == whole) }
        return whole
    }
}

private func stream(_ hex: String) -> Response {
    Response(rpcProtocol: .connectStream, contentType: "application/connect+proto", body: hex.unhexed)
}

private func grpc(_ hex: String = "", header: String? = nil, trailer: String? = nil) -> Response {
    Response(
        rpcProtocol: .grpc,
        contentType: "application/grpc",
        headerStatus: header,
        body: hex.unhexed,
        trailerStatus: trailer
    )
}

private func web(_ hex: String, header: String? = nil) -> Response {
    Response(rpcProtocol: .grpcWeb, contentType: "application/grpc-web", headerStatus: header, body: hex.unhexed)
}

@Suite struct `The reader of plain HTTP` {
    @Test(arguments: [
        (200, RPCCode.ok), (304, .ok), (399, .ok), (400, .internal), (404, .unimplemented), (500, .unknown),
        (503, .unavailable),
    ])
    func `goes by the status`(status: Int, code: RPCCode) {
        let response = Response(rpcProtocol: .http, status: status, contentType: "application/json", body: "{}".bytes)
        #expect(response.conclusion == .code(code))
        #expect(response.read().messages == 0)
    }
}

@Suite struct `The reader of unary Connect` {
    private func response(_ status: Int, _ type: String?, encoding: String? = nil, _ body: String = "") -> Response {
        Response(
            rpcProtocol: .connectUnary,
            codec: .proto,
            status: status,
            contentType: type,
            encoding: encoding,
            body: body.bytes
        )
    }

    @Test func `takes a 200 for success without a check at the body`() {
        let success = response(200, "application/proto", "\u{1}")
        #expect(success.conclusion == .code(.ok))
        #expect(success.read().messages == 1)
    }

    @Test(
        arguments: [
            ("text/html", RPCCode.unknown), (nil, .unknown), ("application/json", .internal),
            ("application/grpc+proto", .internal),
        ] as [(String?, RPCCode)]
    )
    func `doubts a 200 of another type`(type: String?, code: RPCCode) {
        #expect(response(200, type).conclusion == .code(code))
    }

    @Test func `hands the JSON of an error out`() {
        let error = response(503, "application/json; charset=utf-8", Vectors.errorJSON)
        let conclusion = error.conclusion
        #expect(conclusion == .json(Vectors.errorJSON.bytes, fallback: .unavailable, isEndStream: false))
        #expect(conclusion.code(fromName: "unknown".bytes.span) == .unknown)
        #expect(conclusion.code(fromName: "ok".bytes.span) == .unavailable)
        #expect(conclusion.code(fromName: "nonsense".bytes.span) == .unavailable)
        #expect(conclusion.code(fromName: nil) == .unavailable)
    }

    @Test func `infers from the status what it cannot read`() {
        #expect(response(404, "application/json", encoding: "gzip", "xx").conclusion == .code(.unimplemented))
        #expect(response(502, "text/html", "<html>").conclusion == .code(.unavailable))
        #expect(response(401, nil).conclusion == .code(.unauthenticated))
    }

    @Test func `keeps no more than 64 KiB of an error`() {
        let long = response(429, "application/json", String(repeating: " ", count: 65537))
        #expect(long.read().conclusion == .code(.unavailable))
    }
}

@Suite struct `The reader of a Connect stream` {
    @Test func `finds success in the end`() {
        let response = stream(Vectors.responseMessage + Vectors.connectEnd)
        #expect(response.conclusion == .code(.ok))
        #expect(response.read().messages == 1)
    }

    @Test(arguments: [Vectors.connectEndError, Vectors.connectEndMetadata])
    func `hands the JSON of the end out`(end: String) {
        let json = Array(end.unhexed[5...])
        let conclusion = stream(Vectors.message + end).conclusion
        #expect(conclusion == .json(json, fallback: .unknown, isEndStream: true))
        #expect(conclusion.code(fromName: "not_found".bytes.span) == .notFound)
        #expect(conclusion.code(fromName: nil) == .unknown)
    }

    @Test(arguments: [
        "", Vectors.message, "02000000037b7d", Vectors.connectEnd + Vectors.message, Vectors.compressedMessage,
    ])
    func `calls a stream without a proper end internal`(body: String) {
        #expect(stream(body).conclusion == .code(.internal))
    }

    @Test func `allows compressed messages if the head announces them`() {
        var response = stream(Vectors.compressedMessage + Vectors.connectEnd)
        #expect(response.conclusion == .code(.internal))
        response.encoding = "gzip"
        #expect(response.conclusion == .code(.ok))
    }

    @Test(arguments: [
        ("1f8b0800000000000203abae050043bfa6a302000000", RPCCode.ok),
        ("1f8b0800000000000203abae050043bfa6a303000000", .unknown),
    ])
    func `knows the gzip of an end that reports nothing`(gzip: String, code: RPCCode) {
        var response = stream(Vectors.message + "0300000016" + gzip)
        response.encoding = "gzip"
        #expect(response.conclusion == .code(code))
    }

    @Test func `goes by status and type where there is no stream`() {
        var response = stream(Vectors.connectEnd)
        response.contentType = "application/connect+json"
        #expect(response.conclusion == .code(.internal))
        response.contentType = "application/json"
        #expect(response.conclusion == .code(.unknown))
        response.status = 404
        #expect(response.conclusion == .code(.unimplemented))
    }

    @Test func `does not hand out an end of more than 64 KiB`() {
        var response = stream("0200010001")
        response.body += [UInt8](repeating: 0x20, count: 65537)
        #expect(response.read(cutAt: 100).conclusion == .code(.unknown))
    }
}

@Suite struct `The reader of gRPC` {
    @Test func `goes by the trailers`() {
        #expect(grpc(Vectors.message + Vectors.message, trailer: "0").conclusion == .code(.ok))
        #expect(grpc(Vectors.message + Vectors.message, trailer: "0").read().messages == 2)
        #expect(grpc(Vectors.message, trailer: "5").conclusion == .code(.notFound))
    }

    @Test func `decodes the message`() {
        var response = grpc(trailer: "5")
        response.message = "%E2%98%83 gone"
        #expect(response.conclusion == .code(.notFound, message: "☃ gone".bytes))
    }

    @Test func `takes the status in the head if nothing else follows`() {
        #expect(grpc(header: "7").conclusion == .code(.permissionDenied))
        #expect(grpc(header: "0").conclusion == .code(.ok))
        #expect(grpc(header: "7", trailer: "5").conclusion == .code(.notFound))
        #expect(grpc(Vectors.message, header: "0").conclusion == .code(.unknown))
        var trailed = grpc(header: "7")
        trailed.hasTrailers = true
        #expect(trailed.conclusion == .code(.unknown))
    }

    @Test func `misses the status`() {
        #expect(grpc(Vectors.message).conclusion == .code(.unknown))
    }

    @Test(arguments: ["00000000", "00000000080a0668656c6c", "0200000000", Vectors.compressedMessage])
    func `does not believe in the success of a broken body`(body: String) {
        #expect(grpc(body, trailer: "0").conclusion == .code(.internal))
        #expect(grpc(body, trailer: "3").conclusion == .code(.invalidArgument))
    }

    @Test func `goes by the HTTP status unless a code was sent`() {
        var response = grpc("00")
        response.status = 503
        response.contentType = "text/html"
        #expect(response.conclusion == .code(.unavailable))
        response.trailerStatus = "8"
        #expect(response.conclusion == .code(.resourceExhausted))
        response.trailerStatus = "0"
        #expect(response.conclusion == .code(.unavailable))
    }

    @Test(
        arguments: [
            ("text/html", RPCCode.unknown), ("application/grpc+json", .ok), ("application/grpc-web", .unknown),
            (nil, .unknown), ("application/grpc+proto", .ok),
        ] as [(String?, RPCCode)]
    )
    func `doubts the success of another type`(type: String?, code: RPCCode) {
        var response = grpc(Vectors.message, trailer: "0")
        response.contentType = type
        #expect(response.conclusion == .code(code))
    }
}

@Suite struct `The reader of gRPC-Web` {
    @Test func `goes by the trailer frame`() {
        #expect(web(Vectors.responseMessage + Vectors.webEnd).conclusion == .code(.ok))
        #expect(web(Vectors.responseMessage + Vectors.webEnd).read().messages == 1)
        #expect(web(Vectors.webEndError).conclusion == .code(.unknown, message: "auth token fetch failed".bytes))
    }

    @Test func `reads base64`() {
        var response = Response(rpcProtocol: .grpcWebText, contentType: "application/grpc-web-text+proto")
        response.body = (Vectors.responseMessage.unhexed.base64 + Vectors.webEndError.unhexed.base64).bytes
        #expect(response.conclusion == .code(.unknown, message: "auth token fetch failed".bytes))
        #expect(response.read().messages == 1)
    }

    @Test func `reads binary though text was asked for`() {
        var response = web(Vectors.responseMessage + Vectors.webEnd)
        response.rpcProtocol = .grpcWebText
        #expect(response.conclusion == .code(.ok))
    }

    @Test(arguments: [
        ("Grpc-Status:5\r\n", RPCCode.notFound), ("x: 1\r\nGRPC-STATUS: 5", .notFound), ("grpc-status: 5\n", .notFound),
        ("x\r\n\r\n", .unknown), ("", .unknown),
    ])
    func `tolerates names in any case and odd lines`(lines: String, code: RPCCode) {
        var response = web("80000000")
        response.body += [UInt8(lines.utf8.count)] + lines.bytes
        #expect(response.conclusion == .code(code))
    }

    @Test func `takes the status in the head if there is no body`() {
        var error = web("", header: "2")
        error.message = "auth token fetch failed"
        #expect(error.conclusion == .code(.unknown, message: "auth token fetch failed".bytes))
        #expect(web("", header: "7").conclusion == .code(.permissionDenied))
        #expect(web(Vectors.message, header: "0").conclusion == .code(.unknown))
        #expect(web(Vectors.webEnd, header: "7").conclusion == .code(.ok))
    }

    @Test func `calls a broken body internal`() {
        #expect(web("00000000").conclusion == .code(.internal))
        #expect(web("0200000000").conclusion == .code(.internal))
    }

    @Test func `knows the gzip of a frame that reports of success`() {
        let gzip = "1f8b08000000000000ff4b2f2a48d62d2e492c292db65230e0e50200fd6c24ab10000000".unhexed
        var response = web("81000000")
        response.body += [UInt8(gzip.count)] + gzip
        #expect(response.conclusion == .code(.internal))
        response.encoding = "gzip"
        #expect(response.conclusion == .code(.ok))
    }
}

private let names: [(name: String, isKnown: Bool)] = [
    ("", true), ("identity", true), ("gzip", true), ("br", true), ("zstd", true), ("deflate", true), ("snappy", true),
    ("GZip", true), ("x-custom", false), ("gzip, br", false), ("gz", false), ("lz4", false), ("identitz", false),
    ("snappz", false), ("deflat_", false),
]

@Test(arguments: names)
func `success in a compression that nobody knows is internal`(name: String, isKnown: Bool) {
    let responses = [
        Response(rpcProtocol: .connectUnary, contentType: "application/proto", encoding: name),
        Response(rpcProtocol: .connectGet, contentType: "application/proto", encoding: name),
        Response(
            rpcProtocol: .connectStream,
            contentType: "application/connect+proto",
            encoding: name,
            body: Vectors.connectEnd.unhexed
        ),
        Response(rpcProtocol: .grpc, contentType: "application/grpc", encoding: name, trailerStatus: "0"),
        Response(
            rpcProtocol: .grpcWeb,
            contentType: "application/grpc-web",
            encoding: name,
            body: Vectors.webEnd.unhexed
        ),
    ]
    for response in responses {
        #expect(response.conclusion == .code(isKnown ? .ok : .internal), "\(response.rpcProtocol)")
    }
}

@Test func `an error in a compression that nobody knows is internal unless gRPC named its code`() {
    var response = Response(rpcProtocol: .connectUnary, status: 404, contentType: "application/json", encoding: "x")
    #expect(response.conclusion == .code(.internal))
    response.contentType = "text/html"
    #expect(response.conclusion == .code(.unimplemented))
    response = stream(Vectors.connectEndError)
    response.encoding = "x"
    #expect(response.conclusion == .code(.internal))
    response = grpc(trailer: "5")
    response.encoding = "x"
    #expect(response.conclusion == .code(.notFound))
    response.trailerStatus = nil
    #expect(response.conclusion == .code(.internal))
}

@Test(
    arguments: [
        (RPCProtocol.connectUnary, "application/proto", RPCCode.ok), (.connectUnary, "application/json", .internal),
        (.connectUnary, "application/connect+proto", .internal), (.connectUnary, "text/plain", .unknown),
        (.connectGet, "application/json", .internal), (.connectGet, "image/jpeg", .unknown),
        (.connectStream, "application/connect+json", .internal), (.connectStream, "application/proto", .unknown),
        (.connectStream, "application/grpc", .unknown), (.grpc, "application/grpc+proto", .ok),
        (.grpc, "application/grpc+json", .ok), (.grpc, "application/grpc-web", .unknown),
        (.grpc, "application/proto", .unknown), (.grpcWeb, "application/grpc", .unknown),
        (.grpcWeb, "application/grpc-web-text", .unknown), (.grpcWebText, "application/grpc", .unknown),
    ] as [(RPCProtocol, String, RPCCode)]
)
func `another protocol is unknown and another codec of Connect internal`(
    rpcProtocol: RPCProtocol,
    type: String,
    code: RPCCode
) {
    var response = Response(rpcProtocol: rpcProtocol, contentType: type)
    if rpcProtocol == .grpc { response.trailerStatus = "0" }
    #expect(response.conclusion == .code(code))
}

@Test(arguments: RPCProtocol.allCases)
func `random bytes lead to a conclusion wherever they are cut`(rpcProtocol: RPCProtocol) {
    var generator = SeededGenerator(seed: UInt64(rpcProtocol.rawValue))
    let types = [
        "application/proto", "application/json", "application/proto", "application/connect+proto", "application/grpc",
        "application/grpc-web", "application/grpc-web-text",
    ]
    for round in 0..<300 {
        var response = Response(
            rpcProtocol: rpcProtocol,
            contentType: types[round % types.count],
            encoding: [nil, "gzip", "x"][round % 3]
        )
        response.status = round % 5 == 0 ? 500 : 200
        response.body = generator.bytes(upTo: 40)
        if round % 3 == 0 { response.body = Vectors.message.unhexed + response.body }
        if round % 4 == 0 { response.body = response.body.base64.bytes }
        _ = response.conclusion
    }
}
