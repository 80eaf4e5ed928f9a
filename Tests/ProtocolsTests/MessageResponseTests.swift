import Protocols
import RPC
import Testing

private let json = #"{"sentence":"hi"}"#

private func response(_ rpcProtocol: RPCProtocol, _ codec: Codec, _ contentType: String) throws -> LocalResponse {
    try rpcProtocol.callerSide.response(message: json.bytes, codec: codec, requestContentType: contentType.bytes.span)
}

@Test(arguments: [(RPCProtocol.connectUnary, Codec.json), (.connectGet, .json), (.http, .other)])
func `a message for a bare protocol is bare JSON`(rpcProtocol: RPCProtocol, codec: Codec) throws {
    let reported = try response(rpcProtocol, codec, "application/json; charset=utf-8")
    #expect(reported.status == 200)
    #expect(reported.headerLines == ["content-type: application/json"])
    #expect(reported.body.text == json)
}

@Test func `a message for a Connect stream is followed by its end`() throws {
    let reported = try response(.connectStream, .json, "application/connect+json")
    #expect(reported.headerLines == ["content-type: application/connect+json"])
    #expect(reported.body == "0000000011".unhexed + json.bytes + Vectors.connectEnd.unhexed)
}

@Test func `a message for gRPC-Web is followed by a trailer frame`() throws {
    let body = "0000000011".unhexed + json.bytes + Vectors.webEnd.unhexed
    #expect(try response(.grpcWeb, .json, "application/grpc-web+json").body == body)
    #expect(try response(.grpcWebText, .json, "application/grpc-web-text+json").body.text == body.base64)
}

@Test func `a message for gRPC has its status in the trailers`() throws {
    let reported = try response(.grpc, .json, "application/grpc+json")
    #expect(reported.body == "0000000011".unhexed + json.bytes)
    #expect(reported.trailers.map { "\($0.name.text): \($0.value.text)" } == ["grpc-status: 0"])
}

@Test(arguments: RPCProtocol.allCases.filter { $0 != .http })
func `a caller that does not speak JSON is reported so`(rpcProtocol: RPCProtocol) throws {
    let error = #expect(throws: RPCError.self) { try response(rpcProtocol, .proto, "application/x") }
    #expect(error?.code == .unimplemented)
    #expect(error?.message == "the configured response is JSON, but the caller uses proto")
    #expect(throws: RPCError.self) { try response(rpcProtocol, .other, "application/x") }
}
