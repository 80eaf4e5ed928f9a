import Protocols
import Testing

struct Request: CustomTestStringConvertible, Sendable {
    var method = "POST"
    var contentType: String?
    var contentTypeCount: Int?
    var isConnectVersion1 = false
    var path = "/connectrpc.eliza.v1.ElizaService/Say"
    var query = ""

    var testDescription: String { "\(method) \(contentType ?? "-") \(path)?\(query)" }

    var classification: Classification {
        let type = contentType.map(\.bytes)
        return Classification(
            method: method.bytes.span,
            contentType: type?.span,
            contentTypeCount: contentTypeCount ?? (contentType == nil ? 0 : 1),
            isConnectVersion1: isConnectVersion1,
            path: path.bytes.span,
            query: query.bytes.span
        )
    }
}

private let plainPath = "/api/users"

@Test(arguments: [
    (Request(contentType: "application/connect+proto"), RPCProtocol.connectStream, Codec.proto),
    (Request(contentType: "application/connect+json"), .connectStream, .json),
    (Request(contentType: "application/connect+foo"), .connectStream, .other),
    (Request(contentType: "application/connect+"), .connectStream, .other),
    (Request(contentType: "application/connect+; charset=utf-8"), .connectStream, .other),
    (Request(contentType: "application/connect+json2"), .connectStream, .other),
    (Request(contentType: "application/grpc+"), .grpc, .proto),
    (Request(contentType: "application/grpc-web+"), .grpcWeb, .proto),
    (Request(contentType: "application/grpc-web-text+"), .grpcWebText, .proto),
    (Request(method: "GET", contentType: "application/connect+json"), .http, .other),
    (Request(contentType: "application/connect", isConnectVersion1: true), .connectUnary, .other),
    (Request(contentType: "application/grpc"), .grpc, .proto),
    (Request(contentType: "application/grpc+proto"), .grpc, .proto),
    (Request(contentType: "application/grpc+json"), .grpc, .json),
    (Request(contentType: "application/grpc+x"), .grpc, .other),
    (Request(method: "DELETE", contentType: "application/grpc"), .grpc, .proto),
    (Request(contentType: "application/grpc", path: plainPath), .grpc, .proto),
    (Request(contentType: "application/grpc-web"), .grpcWeb, .proto),
    (Request(contentType: "application/grpc-web+json"), .grpcWeb, .json),
    (Request(contentType: "application/grpc-web-text"), .grpcWebText, .proto),
    (Request(contentType: "application/grpc-web-text+proto"), .grpcWebText, .proto),
    (Request(contentType: "Application/GRPC-Web+Proto; charset=utf-8"), .grpcWeb, .proto),
    (Request(contentType: "application/grpcx"), .http, .other),
    (Request(contentType: "application/json", isConnectVersion1: true, path: plainPath), .connectUnary, .json),
    (Request(contentType: "application/proto", isConnectVersion1: true), .connectUnary, .proto),
    (Request(contentType: "application/foo", isConnectVersion1: true), .connectUnary, .other),
    (Request(contentType: "application/json"), .connectUnary, .json),
    (Request(contentType: " APPLICATION/JSON ;charset=utf-8"), .connectUnary, .json),
    (Request(contentType: "application/proto", path: "/prefix/more/pkg.Service/Method"), .connectUnary, .proto),
    (Request(contentType: "application/json", path: plainPath), .http, .other),
    (Request(contentType: "application/foo"), .http, .other),
    (Request(contentType: "image/jpeg", isConnectVersion1: true), .http, .other),
    (Request(contentType: "application/", isConnectVersion1: true), .http, .other),
    (Request(contentType: ""), .http, .other),
    (Request(contentType: nil, isConnectVersion1: true), .http, .other),
    (Request(method: "PUT", contentType: "application/json", isConnectVersion1: true), .http, .other),
    (Request(contentType: "application/grpc", contentTypeCount: 2), .http, .other),
    (Request(method: "GET", contentTypeCount: 2, query: "connect=v1&encoding=json"), .http, .other),
    (
        Request(method: "GET", query: "connect=v1&encoding=json&message=%7B%22sentence%22%3A%22hello%21%22%7D"),
        .connectGet, .json
    ),
    (Request(method: "GET", query: "connect=v1&base64=1&encoding=proto&message=CgZoZWxsbyE"), .connectGet, .proto),
    (Request(method: "GET", query: "message=x&encoding=json&&a&connect=v1"), .connectGet, .json),
    (Request(method: "GET", query: "connect=v1"), .connectGet, .other),
    (Request(method: "GET", query: "connect=v2&encoding=json"), .http, .other),
    (Request(method: "GET", query: "xconnect=v1"), .http, .other), (Request(method: "GET"), .http, .other),
    (Request(query: "connect=v1&encoding=json"), .http, .other),
])
func `a request is classified`(request: Request, rpcProtocol: RPCProtocol, codec: Codec) {
    #expect(request.classification.rpcProtocol == rpcProtocol)
    #expect(request.classification.codec == codec)
}

@Test(arguments: [
    ("/connectrpc.eliza.v1.ElizaService/Say", "connectrpc.eliza.v1.ElizaService", "Say"),
    ("/pkg.S/M", "pkg.S", "M"), ("/Echo/Say", "Echo", "Say"), ("/a/b/pkg_1.Service2/Do_It", "pkg_1.Service2", "Do_It"),
    ("/v1.0/pkg.S/M", "pkg.S", "M"),
])
func `the service and the method are found in the path`(path: String, service: String, method: String) throws {
    let procedure = try #require(Request(contentType: "application/grpc", path: path).classification.procedure)
    #expect(path.bytes[procedure.service].text == service)
    #expect(path.bytes[procedure.method].text == method)
}

@Test(arguments: [
    "", "/", "//", "/Say", "Say", "pkg.S/M", "/pkg.S/", "/pkg.S/M/", "//M", "/.S/M", "/pkg./M", "/pkg..S/M",
    "/pkg.S/M.x",
    "/pkg.1S/M", "/pkg.S/1M", "/pkg.S/M-1", "/p%2e.S/M", "/pkg.S//M", "x/pkg .S/M",
])
func `a path that names no procedure has none`(path: String) {
    #expect(Request(contentType: "application/grpc", path: path).classification.procedure == nil)
}

@Test func `plain HTTP has a procedure only if the service has a package`() {
    #expect(Request(method: "GET", path: "/api/users").classification.procedure == nil)
    #expect(Request(method: "GET").classification.procedure != nil)
}

@Test func `protocols have names for logs`() {
    #expect(
        RPCProtocol.allCases.map { "\($0.name)" } == [
            "connect_unary", "connect_get", "connect_stream", "grpc", "grpc_web", "grpc_web_text", "http",
        ]
    )
}

@Test func `random bytes are classified as something`() {
    var generator = SeededGenerator(seed: 3)
    for round in 0..<2000 {
        let prefix = round % 3 == 0 ? "application/" : ""
        let contentType = prefix.bytes + generator.bytes(upTo: 20)
        let path = [UInt8(ascii: "/")] + generator.bytes(upTo: 20)
        let query = generator.bytes(upTo: 20)
        let classification = Classification(
            method: "POST".bytes.span,
            contentType: contentType.span,
            contentTypeCount: 1,
            isConnectVersion1: round % 2 == 0,
            path: path.span,
            query: query.span
        )
        if let procedure = classification.procedure {
            #expect(procedure.service.upperBound + 1 == procedure.method.lowerBound)
            #expect(procedure.method.upperBound == path.count)
        }
    }
}
