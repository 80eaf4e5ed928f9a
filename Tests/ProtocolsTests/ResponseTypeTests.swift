import Protocols
import RPC
import Testing

/// The content types of responses, and the codes that calls end with by them.
@Suite struct ResponseTypeTests {
    /// The code of a call whose response has this type, a message and a good end.
    private func code(
        _ rpcProtocol: RPCProtocol,
        _ codec: Codec,
        _ type: String?,
        needsCodec: Bool = false
    ) -> RPCCode {
        var reader = ResponseReader(rpcProtocol: rpcProtocol, codec: codec, needsCodec: needsCodec)
        let contentType = type?.bytes
        reader.head(status: 200, contentType: contentType?.span, compression: .identity)
        let end = rpcProtocol == .grpcWeb ? Vectors.webEnd : rpcProtocol == .connectStream ? Vectors.connectEnd : ""
        reader.body((Vectors.message + end).unhexed.span)
        let status = rpcProtocol == .grpc ? "0".bytes : nil
        return reader.end(trailerGRPCStatus: status?.span, hasTrailers: status != nil).code(fromName: nil)
    }

    @Test(arguments: [
        "application/grpc", "application/grpc+proto", "application/grpc+json", "application/grpc+thrift",
        "Application/GRPC", "APPLICATION/GRPC+PROTO", "application/grpc; charset=utf-8", "application/grpc;v=1",
        "application/grpc+json ; charset=utf-8", " application/grpc ", "application/grpc+",
    ])
    func `a type that begins as gRPC's is gRPC, whatever codec it names`(_ type: String) {
        for codec in [Codec.proto, .json, .other] { #expect(code(.grpc, codec, type) == .ok, "\(codec)") }
    }

    @Test(arguments: [
        "application/grpc-web", "application/grpc-web+proto", "application/grpc-web+json",
        "application/GRPC-Web+thrift",
        "application/grpc-web;charset=utf-8", "application/grpc-web+json; charset=utf-8",
    ])
    func `the same holds for gRPC-Web`(_ type: String) {
        for codec in [Codec.proto, .json, .other] { #expect(code(.grpcWeb, codec, type) == .ok, "\(codec)") }
    }

    @Test(
        arguments: [
            (RPCProtocol.grpc, "application/grpc-web"), (.grpc, "application/grpcx"), (.grpc, "application/json"),
            (.grpc, "text/plain"), (.grpc, nil), (.grpc, "application/connect+proto"), (.grpc, "xapplication/grpc"),
            (.grpcWeb, "application/grpc"), (.grpcWeb, "application/grpc-web-text"),
            (.grpcWeb, "application/grpc-webx"),
            (.connectStream, "application/grpc"), (.connectStream, "application/connect"),
        ] as [(RPCProtocol, String?)]
    )
    func `another protocol is unknown`(_ rpcProtocol: RPCProtocol, _ type: String?) {
        #expect(code(rpcProtocol, .proto, type) == .unknown)
    }

    @Test(arguments: [
        (Codec.json, "application/grpc", RPCCode.ok), (.proto, "application/grpc", .ok),
        (.other, "application/grpc", .ok),
        (.json, "application/grpc+json", .ok), (.json, "application/GRPC+JSON;a=b", .ok),
        (.json, "application/grpc+", .ok),
        (.json, "application/grpc+proto", .internal), (.proto, "application/grpc+json", .internal),
        (.proto, "application/grpc+thrift", .internal), (.json, "application/grpc+thrift", .internal),
        (.proto, "application/grpc+PROTO", .ok),
    ])
    func `a reader of messages needs the codec if the type names one`(_ codec: Codec, _ type: String, _ code: RPCCode) {
        #expect(self.code(.grpc, codec, type, needsCodec: true) == code)
    }

    @Test(arguments: [
        (RPCProtocol.connectStream, Codec.proto, "application/connect+proto", RPCCode.ok),
        (.connectStream, .json, "Application/Connect+JSON; charset=utf-8", .ok),
        (.connectStream, .json, "application/connect+proto", .internal),
        (.connectUnary, .json, "application/json; charset=UTF-8", .ok), (.connectUnary, .json, "APPLICATION/JSON", .ok),
        (.connectUnary, .proto, "Application/Proto", .ok), (.connectUnary, .proto, "application/json", .internal),
        (.connectUnary, .json, "application/proto;a=b", .internal), (.connectGet, .json, "application/json;a=b", .ok),
        (.connectGet, .proto, "application/json", .internal),
    ])
    func `Connect needs the codec of the request`(
        _ rpcProtocol: RPCProtocol,
        _ codec: Codec,
        _ type: String,
        _ code: RPCCode
    ) {
        #expect(self.code(rpcProtocol, codec, type) == code)
    }

    @Test(arguments: [
        ("application/grpc", true), ("application/grpc-web-text+proto", true), ("application/json", true),
        ("text/html, application/proto", true), ("application/connect+json", true), ("application/grpc;q=0.5", true),
        ("*/*", false), ("text/html", false), ("application/xml", false), ("", false), ("application/*", false),
        ("application/vnd.x+json", false),
    ])
    func `an accept field may list types of RPC`(_ field: String, _ listsRPC: Bool) {
        #expect(field.bytes.span.listsRPCType == listsRPC)
    }

    @Test(arguments: [
        ("abc", "abc"), ("99", "99"), ("17", "17"), ("", ""), ("-1", "-1"), ("05", "05"), ("00", "00"), ("000", "000"),
        ("1 2", "1 2"), ("+0", "+0"), ("0x0", "0x0"), ("256", "256"), ("1.0", "1.0"), ("OK", "OK"), ("\u{e9}", "??"),
        ("99999999999999999999", "99999999999999999999"),
    ])
    func `a status that is not a code is unknown, with words`(_ status: String, _ shown: String) {
        let words = "the upstream sent an invalid response: grpc-status \"\(shown)\" is not a number from 0 to 16"
        let head = Response(rpcProtocol: .grpc, contentType: "application/grpc", headerStatus: status)
        #expect(head.conclusion == .code(.unknown, message: words.bytes))
        let trailers = Response(
            rpcProtocol: .grpc,
            contentType: "application/grpc",
            trailerStatus: status,
            message: "a%20b"
        )
        #expect(trailers.conclusion == .code(.unknown, message: "\(words): a b".bytes))
        let frame = Conclusion(endFrame: "grpc-status: \(status)\r\n".bytes, of: .grpcWeb)
        #expect(frame == .code(.unknown, message: words.bytes))
    }

    @Test(arguments: 0...16)
    func `a status that is a code is that code`(_ number: Int) {
        #expect(RPCCode(validGRPCStatus: "\(number)".bytes.span)?.rawValue == UInt8(number))
        #expect(
            Conclusion(endFrame: "grpc-status:\(number)".bytes, of: .grpcWeb).code(fromName: nil).rawValue
                == UInt8(number)
        )
    }
}
