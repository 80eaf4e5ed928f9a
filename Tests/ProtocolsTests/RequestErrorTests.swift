import Bytes
import Protocols
import RPC
import Testing

extension Request {
    /// What is wrong with the head.
    fileprivate func error(encoding: String? = nil) -> RPCError? {
        classification.error(
            compression: encoding.map { Compression(name: $0.bytes.span) } ?? .identity,
            query: query.bytes.span
        )
    }

    /// The response that tells the caller what is wrong: status, headers, and the body where it is text.
    fileprivate func reported(encoding: String? = nil) throws -> [String] {
        let error = try #require(self.error(encoding: encoding))
        let response = classification.rpcProtocol.callerSide.response(
            to: error,
            requestContentType: (contentType ?? "").bytes.span
        )
        let body =
            response.body.first.map { $0 < 0x20 || $0 > 0x7e } == true ? response.body[5...].text : response.body.text
        return ["\(response.status)"] + response.headerLines + (body.isEmpty ? [] : [body])
    }
}

private let getQuery = "connect=v1&encoding=json&message=%7B%7D"
private let calls = [
    Request(contentType: "application/json"), Request(method: "GET", query: getQuery),
    Request(contentType: "application/connect+json"), Request(contentType: "application/grpc+json"),
    Request(contentType: "application/grpc-web+json"), Request(contentType: "application/grpc-web-text+json"),
]

@Test(arguments: calls)
func `a good head has no fault`(call: Request) {
    #expect(call.classification.malformedRPC == nil)
    #expect(call.error() == nil)
    #expect(call.error(encoding: "identity") == nil)
}

@Test(arguments: [
    Request(method: "GET"), Request(method: "DELETE", path: "/api/users"), Request(method: "OPTIONS"),
    Request(contentType: "text/plain", path: "/api/users"), Request(method: "HEAD", contentType: "image/jpeg"),
    Request(method: "PUT", contentType: "application/json"),
])
func `plain HTTP that is not meant as RPC has no fault`(request: Request) {
    #expect(request.classification.rpcProtocol == .http)
    #expect(request.error(encoding: "gzip") == nil)
}

private let wrongVerb = #"{"code":"unknown","message":"the method is not allowed; use "#

@Test(arguments: ["DELETE", "PUT", "PATCH", "HEAD"])
func `a wrong verb is reported in the form of the protocol`(verb: String) throws {
    let unary = Request(method: verb, contentType: "application/json", isConnectVersion1: true)
    #expect(
        try unary.reported() == [
            "405", "content-type: application/json", "allow: GET, POST", wrongVerb + #"GET, POST"}"#,
        ]
    )
    for method in [verb, "GET"] {
        let stream = Request(method: method, contentType: "application/connect+json")
        #expect(
            try stream.reported() == ["405", "content-type: application/json", "allow: POST", wrongVerb + #"POST"}"#]
        )
    }
    let grpc = Request(method: verb, contentType: "application/grpc")
    #expect(
        try grpc.reported() == [
            "200", "content-type: application/grpc", "grpc-status: 2",
            "grpc-message: the method is not allowed; use POST",
        ]
    )
    let web = Request(method: verb, contentType: "application/grpc-web")
    #expect(
        try web.reported() == [
            "200", "content-type: application/grpc-web",
            "grpc-status: 2\r\ngrpc-message: the method is not allowed; use POST\r\n",
        ]
    )
    #expect(Request(method: verb, contentType: "application/grpc-web-text").error()?.httpStatus == 405)
}

@Test(arguments: [
    Request(contentType: "image/jpeg", isConnectVersion1: true, path: "/api/users"), Request(contentType: "image/jpeg"),
    Request(contentType: nil), Request(contentType: "application/json", contentTypeCount: 2),
    Request(contentType: "application/x-www-form-urlencoded"), Request(method: "GET", isConnectVersion1: true),
    Request(contentType: "application/foo"), Request(contentType: "application/grpc", contentTypeCount: 2),
])
func `a content type that no protocol has is reported with 415`(request: Request) throws {
    #expect(request.classification.rpcProtocol == .http)
    #expect(
        try request.reported() == [
            "415", "content-type: application/json",
            #"{"code":"unknown","message":"the content type is not an RPC content type; use for example application/json"}"#,
        ]
    )
}

private let wrongCodec = "the codec is not supported here; use json"
private let wrongCodecJSON = #"{"code":"unknown","message":"the codec is not supported here; use json"}"#

@Test func `an unknown codec is reported in the form of the protocol`() throws {
    for request in [
        Request(contentType: "application/foo", isConnectVersion1: true),
        Request(method: "GET", query: "connect=v1&encoding=foo&message=x"),
        Request(contentType: "application/connect+foo"),
    ] { #expect(try request.reported() == ["415", "content-type: application/json", wrongCodecJSON]) }
    #expect(
        try Request(contentType: "application/grpc+foo").reported() == [
            "200", "content-type: application/grpc+foo", "grpc-status: 2", "grpc-message: \(wrongCodec)",
        ]
    )
    #expect(
        try Request(contentType: "application/grpc-web+foo").reported() == [
            "200", "content-type: application/grpc-web+foo",
            "grpc-status: 2\r\ngrpc-message: \(wrongCodec)\r\n",
        ]
    )
    let text = try Request(contentType: "application/grpc-web-text+foo").reported()
    let frame = Base64.decode(text[2].bytes.span)
    #expect(frame?[5...].text == "grpc-status: 2\r\ngrpc-message: \(wrongCodec)\r\n")
}

private let compressed = "the compression is not supported; use identity, gzip, br, zstd, deflate or snappy"

@Test(arguments: ["lz4", "x-custom"])
func `a request that is compressed in an unknown way is reported what is supported`(encoding: String) throws {
    let json = #"{"code":"unimplemented","message":"\#(compressed)"}"#
    let known = "identity,gzip,br,zstd,deflate,snappy"
    for request in calls where request.method == "POST" {
        let error = request.error(encoding: encoding)
        #expect(error?.code == .unimplemented && error?.message == compressed)
        #expect(error?.compressions == [.identity, .gzip, .br, .zstd, .deflate, .snappy])
    }
    let get = Request(method: "GET", query: getQuery + "&base64=1&compression=" + encoding)
    for request in [get, Request(contentType: "application/json")] {
        #expect(
            try request.reported(encoding: encoding) == [
                "501", "content-type: application/json", "accept-encoding: \(known)", json,
            ]
        )
    }
    #expect(
        try Request(contentType: "application/connect+json").reported(encoding: encoding) == [
            "200", "content-type: application/connect+json", "connect-accept-encoding: \(known)",
            #"{"error":\#(json)}"#,
        ]
    )
    #expect(
        try Request(contentType: "application/grpc").reported(encoding: encoding) == [
            "200", "content-type: application/grpc", "grpc-status: 12", "grpc-message: \(compressed)",
            "grpc-accept-encoding: \(known)",
        ]
    )
}

@Test func `a time-out that cannot be read is an invalid argument`() {
    #expect(
        TimeoutField.connect.malformedError
            == RPCError(.invalidArgument, "connect-timeout-ms must be 1 to 10 digits")
    )
    #expect(
        TimeoutField.grpc.malformedError
            == RPCError(.invalidArgument, "grpc-timeout must be 1 to 8 digits and one of H, M, S, m, u, n")
    )
}

@Test func `of several faults the most basic one is reported`() {
    let request = Request(method: "PUT", contentType: "application/grpc+foo")
    #expect(request.error(encoding: "gzip")?.httpStatus == 405)
    let codec = Request(contentType: "application/grpc+foo")
    #expect(codec.error(encoding: "gzip")?.httpStatus == 415)
    #expect(calls[0].error(encoding: "lz4")?.code == .unimplemented)
}

private func errorOfBody(_ rpcProtocol: RPCProtocol, _ hex: String, encoding: Compression = .identity) -> RPCError? {
    var meter = MessageMeter(rpcProtocol, .request, limit: 100)
    let bytes = hex.unhexed
    meter.add((rpcProtocol == .grpcWebText ? bytes.base64.bytes : bytes).span)
    meter.end()
    return meter.errorOfOneMessage(compression: encoding)
}

@Test(arguments: [RPCProtocol.connectStream, .grpc, .grpcWeb, .grpcWebText])
func `a body of enveloped messages has to be one whole message`(rpcProtocol: RPCProtocol) {
    #expect(errorOfBody(rpcProtocol, Vectors.message) == nil)
    #expect(errorOfBody(rpcProtocol, Vectors.emptyMessage) == nil)
    #expect(errorOfBody(rpcProtocol, Vectors.compressedMessage, encoding: .gzip) == nil)
    #expect(
        errorOfBody(rpcProtocol, "") == RPCError(.unimplemented, "the request has 0 messages, but the method takes one")
    )
    #expect(
        errorOfBody(rpcProtocol, Vectors.message + Vectors.emptyMessage)
            == RPCError(.unimplemented, "the request has 2 messages, but the method takes one")
    )
    #expect(
        errorOfBody(rpcProtocol, Vectors.compressedMessage)
            == RPCError(.internal, "a request message is compressed, but no header names the compression")
    )
    #expect(
        errorOfBody(rpcProtocol, "0400000000")
            == RPCError(.internal, "a request message has flags that are unknown in its protocol")
    )
    for broken in ["00000000", "00000000080a0668656c6c", Vectors.message + "00"] {
        #expect(
            errorOfBody(rpcProtocol, broken)
                == RPCError(.invalidArgument, "the body of the request does not consist of whole messages")
        )
    }
    #expect(errorOfBody(rpcProtocol, "0000000065")?.code == .resourceExhausted)
}

@Test(arguments: [RPCProtocol.connectUnary, .connectGet, .http])
func `a bare body is one message`(rpcProtocol: RPCProtocol) {
    #expect(errorOfBody(rpcProtocol, "") == nil)
    #expect(errorOfBody(rpcProtocol, "7b7d") == nil)
}

@Test(arguments: [
    ("connect=v1&encoding=json&message=%7B%22sentence%22%3A%22hello%21%22%7D", Codec.json, Compression.identity, 21),
    ("connect=v1&base64=1&encoding=proto&message=CgZoZWxsbyE", .proto, .identity, 8),
    ("message=CgZoZWxsbyE%3D&base64=1&compression=gzip&encoding=proto&connect=v1", .proto, .gzip, 8),
    ("message=CgZoZWxsbyE=&base64=1&compression=zstd&connect=v1&x=y&&z", .other, .zstd, 8),
    ("connect=v1&base64=2&message=abc%2", .other, .identity, 5), ("connect=v1", .other, .identity, 0),
    ("connect=v1&compression=lz4&message=", .other, .unknown, 0),
    ("connect=v1&base64=1&message=%3d%3D", .other, .identity, 0),
])
func `the query of a Connect GET reports codec, compression and size`(
    text: String,
    codec: Codec,
    compression: Compression,
    size: Int
) throws {
    let read = ConnectQuery(text.bytes.span)
    let query = try #require(read)
    #expect(query.codec == codec)
    #expect(query.compression == compression)
    #expect(query.messageSize == size)
}

@Test(arguments: ["", "connect=v2", "xconnect=v1", "connect=v1x", "a&b=c"])
func `a query that does not say so is not that of a Connect GET`(text: String) {
    let query = ConnectQuery(text.bytes.span)
    #expect(query == nil)
}
