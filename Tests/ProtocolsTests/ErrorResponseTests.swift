import Protocols
import RPC
import Testing

private func response(_ rpcProtocol: RPCProtocol, _ error: RPCError, _ contentType: String = "") -> LocalResponse {
    rpcProtocol.response(to: error, requestContentType: contentType.bytes.span)
}

extension LocalResponse {
    var headerLines: [String] { headers.map { "\($0.name.text): \($0.value.text)" } }
}

private var detailed: RPCError {
    var error = Vectors.failure
    error.details = [Vectors.retryInfo]
    return error
}

@Test(arguments: [RPCProtocol.connectUnary, .connectGet, .http])
func `bare protocols are told in JSON with the status of the code`(rpcProtocol: RPCProtocol) {
    let told = response(rpcProtocol, Vectors.failure, "application/proto")
    #expect(told.status == 500)
    #expect(told.headerLines == ["content-type: application/json"])
    #expect(told.body.text == Vectors.failureJSON)
    #expect(
        response(rpcProtocol, detailed).body.text
            == #"{"code":"unknown","message":"auth token fetch failed","#
            + #""details":[{"type":"google.rpc.RetryInfo","value":"CgIIPA"}]}"#
    )
}

@Test func `an error without a message has only its code`() {
    #expect(response(.connectUnary, RPCError(.aborted, "")).body.text == #"{"code":"aborted"}"#)
}

@Test func `the metadata of a unary Connect error are plain headers`() {
    let told = response(.connectUnary, RPCError(.notFound, "no", metadata: [("x-why", "1"), ("x-why", "2")]))
    #expect(told.headerLines == ["content-type: application/json", "x-why: 1", "x-why: 2"])
}

@Test func `the message of an error is escaped`() {
    let told = response(.http, RPCError(.internal, "a \"b\"\n"))
    #expect(told.body.text == #"{"code":"internal","message":"a \"b\"\n"}"#)
}

@Test(arguments: ["application/connect+proto", "application/connect+json"])
func `a Connect stream is told in its end`(contentType: String) {
    let told = response(.connectStream, Vectors.failure, contentType + "; charset=utf-8")
    #expect(told.status == 200)
    #expect(told.headerLines == ["content-type: \(contentType)"])
    #expect(told.body == Vectors.connectEndError.unhexed)
}

@Test func `the metadata of a Connect stream stand together by name`() {
    let error = RPCError(.unknown, "", metadata: [("a", "1"), ("b", "2"), ("a", "3")])
    let told = response(.connectStream, error, "application/connect+json")
    #expect(told.body[5...].text == #"{"error":{"code":"unknown"},"metadata":{"a":["1","3"],"b":["2"]}}"#)
}

@Test func `gRPC is told in the head alone`() {
    let told = response(.grpc, Vectors.failure, "application/grpc+proto")
    #expect(told.status == 200)
    #expect(
        told.headerLines == [
            "content-type: application/grpc+proto", "grpc-status: 2", "grpc-message: auth token fetch failed",
        ]
    )
    #expect(told.body.isEmpty)
    #expect(told.trailers.isEmpty)
}

@Test func `gRPC details and metadata are headers`() {
    var error = detailed
    error.metadata = [("x-why", "1")]
    #expect(
        response(.grpc, error, "application/grpc").headerLines[3...] == [
            "grpc-status-details-bin: CAISF2F1dGggdG9rZW4gZmV0Y2ggZmFpbGVkGjAKKHR5cGUuZ29vZ2xlYXBpcy5jb20v"
                + "Z29vZ2xlLnJwYy5SZXRyeUluZm8SBAoCCDw",
            "x-why: 1",
        ]
    )
}

@Test func `a gRPC message is percent-encoded`() {
    let told = response(.grpc, RPCError(.notFound, "100% ☃"), "application/grpc")
    #expect(told.headerLines.last == "grpc-message: 100%25 %E2%98%83")
}

@Test func `gRPC-Web is told in a trailer frame`() {
    let told = response(.grpcWeb, Vectors.failure, "application/grpc-web+proto")
    #expect(told.status == 200)
    #expect(told.headerLines == ["content-type: application/grpc-web+proto"])
    #expect(told.body == Vectors.webEndError.unhexed)
}

@Test func `the metadata of gRPC-Web are lines of the trailer frame`() {
    let told = response(.grpcWeb, RPCError(.ok, "", metadata: [("x-why", "1")]), "application/grpc-web")
    #expect(told.body[5...].text == "grpc-status: 0\r\nx-why: 1\r\n")
}

@Test func `gRPC-Web text is told in base64`() {
    let told = response(.grpcWebText, Vectors.failure, "application/grpc-web-text")
    #expect(told.headerLines == ["content-type: application/grpc-web-text"])
    #expect(
        told.body.text == "gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"
    )
    #expect(response(.grpcWebText, RPCError(.aborted, "x")).body.count % 4 == 0)
}

@Test(arguments: [
    (RPCProtocol.connectUnary, 502, 502), (.connectGet, 404, 404), (.http, 404, 404), (.connectStream, 404, 404),
    (.connectStream, 405, 405), (.connectStream, 415, 415), (.connectStream, 502, 200), (.grpc, 404, 200),
    (.grpcWeb, 404, 200), (.grpcWebText, 404, 200),
])
func `an error may ask for an HTTP status`(rpcProtocol: RPCProtocol, asked: Int, given: Int) {
    let told = response(
        rpcProtocol,
        RPCError(.unimplemented, "no route", httpStatus: asked),
        "application/connect+proto"
    )
    #expect(told.status == given)
    if given != 200 {
        #expect(told.headerLines == ["content-type: application/json"])
        #expect(told.body.text == #"{"code":"unimplemented","message":"no route"}"#)
    }
}
