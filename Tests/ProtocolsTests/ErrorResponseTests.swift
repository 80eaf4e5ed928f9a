import Protocols
import RPC
import Testing

private func response(_ rpcProtocol: RPCProtocol, _ error: RPCError, _ contentType: String = "") -> LocalResponse {
    rpcProtocol.callerSide.response(to: error, requestContentType: contentType.bytes.span)
}

extension LocalResponse {
    var headerLines: [String] { headers.map { "\($0.name.text): \($0.value.text)" } }
}

private var detailed: RPCError {
    var error = Vectors.error
    error.details = [Vectors.retryInfo]
    return error
}

@Test(arguments: [RPCProtocol.connectUnary, .connectGet, .http])
func `bare protocols are reported in JSON with the status of the code`(rpcProtocol: RPCProtocol) {
    let reported = response(rpcProtocol, Vectors.error, "application/proto")
    #expect(reported.status == 500)
    #expect(reported.headerLines == ["content-type: application/json"])
    #expect(reported.body.text == Vectors.errorJSON)
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
    let reported = response(.connectUnary, RPCError(.notFound, "no", metadata: [("x-why", "1"), ("x-why", "2")]))
    #expect(reported.headerLines == ["content-type: application/json", "x-why: 1", "x-why: 2"])
}

@Test func `the message of an error is escaped`() {
    let reported = response(.http, RPCError(.internal, "a \"b\"\n"))
    #expect(reported.body.text == #"{"code":"internal","message":"a \"b\"\n"}"#)
}

@Test(arguments: ["application/connect+proto", "application/connect+json"])
func `a Connect stream is reported in its end`(contentType: String) {
    let reported = response(.connectStream, Vectors.error, contentType + "; charset=utf-8")
    #expect(reported.status == 200)
    #expect(reported.headerLines == ["content-type: \(contentType)"])
    #expect(reported.body == Vectors.connectEndError.unhexed)
}

@Test func `the metadata of a Connect stream stand together by name`() {
    let error = RPCError(.unknown, "", metadata: [("a", "1"), ("b", "2"), ("a", "3")])
    let reported = response(.connectStream, error, "application/connect+json")
    #expect(reported.body[5...].text == #"{"error":{"code":"unknown"},"metadata":{"a":["1","3"],"b":["2"]}}"#)
}

@Test func `gRPC is reported in the head alone`() {
    let reported = response(.grpc, Vectors.error, "application/grpc+proto")
    #expect(reported.status == 200)
    #expect(
        reported.headerLines == [
            "content-type: application/grpc+proto", "grpc-status: 2", "grpc-message: auth token fetch failed",
        ]
    )
    #expect(reported.body.isEmpty)
    #expect(reported.trailers.isEmpty)
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
    let reported = response(.grpc, RPCError(.notFound, "100% ☃"), "application/grpc")
    #expect(reported.headerLines.last == "grpc-message: 100%25 %E2%98%83")
}

@Test func `gRPC-Web is reported in a trailer frame`() {
    let reported = response(.grpcWeb, Vectors.error, "application/grpc-web+proto")
    #expect(reported.status == 200)
    #expect(reported.headerLines == ["content-type: application/grpc-web+proto"])
    #expect(reported.body == Vectors.webEndError.unhexed)
}

@Test func `the metadata of gRPC-Web are lines of the trailer frame`() {
    let reported = response(.grpcWeb, RPCError(.ok, "", metadata: [("x-why", "1")]), "application/grpc-web")
    #expect(reported.body[5...].text == "grpc-status: 0\r\nx-why: 1\r\n")
}

@Test func `gRPC-Web text is reported in base64`() {
    let reported = response(.grpcWebText, Vectors.error, "application/grpc-web-text")
    #expect(reported.headerLines == ["content-type: application/grpc-web-text"])
    #expect(
        reported.body.text == "gAAAADdncnBjLXN0YXR1czogMg0KZ3JwYy1tZXNzYWdlOiBhdXRoIHRva2VuIGZldGNoIGZhaWxlZA0K"
    )
    #expect(response(.grpcWebText, RPCError(.aborted, "x")).body.count % 4 == 0)
}

@Test(arguments: [
    (RPCProtocol.connectUnary, 502, 502), (.connectGet, 404, 404), (.http, 404, 404), (.connectStream, 404, 404),
    (.connectStream, 405, 405), (.connectStream, 415, 415), (.connectStream, 502, 200), (.grpc, 404, 200),
    (.grpcWeb, 404, 200), (.grpcWebText, 404, 200),
])
func `an error may ask for an HTTP status`(rpcProtocol: RPCProtocol, asked: Int, given: Int) {
    let reported = response(
        rpcProtocol,
        RPCError(.unimplemented, "no route", httpStatus: asked),
        "application/connect+proto"
    )
    #expect(reported.status == given)
    if given != 200 {
        #expect(reported.headerLines == ["content-type: application/json"])
        #expect(reported.body.text == #"{"code":"unimplemented","message":"no route"}"#)
    }
}
